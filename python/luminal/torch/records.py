"""FX graphs as records, which the importer in C++ reads: inputs, calls and results by name.

All of it is plain data. An argument is None, a number, a string, a list, the name of a value `("name",)` or a dtype
`("dtype", "f32")`; a size is an int or sympy's srepr."""
import dataclasses
import operator
from typing import Any

import sympy
import torch

import luminal
from luminal.torch import guards, layouts, origins
from luminal.torch.results import Result, Results

DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "bool",
          torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64"}


@dataclasses.dataclass
class Leaf:
    """What an argument of the graph is."""

    role: str  # "input", "weight", "state", "size" or "unused"
    name: str
    dtype: str = ""
    dims: list[Any] = dataclasses.field(default_factory=list)  # as text or ints
    order: list[int] | None = None  # the axes of the tensor in the leaf's order, if it isn't the same


@dataclasses.dataclass
class Recording:
    """A graph as records, with what its caller has to know."""

    records: dict[str, Any]
    leaves: list[Leaf]  # by argument
    results: list[Result]
    typical_sizes: dict[str, int]  # of variables, when it was traced


def target_of(target: Any) -> str:
    """ "aten.add.Tensor", "_operator.mul", "torch.sym_max" """
    if isinstance(target, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
        return str(target)
    if isinstance(target, str):
        return target
    return f"{target.__module__}.{target.__name__}"


def _unique(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found


def _dtype(dtype: torch.dtype, of: str) -> str:
    if dtype in DTYPES:
        return DTYPES[dtype]
    raise luminal.UserError(f"{of} is {dtype}, which the library lacks; convert it to one of {', '.join(DTYPES.values())}")


def _names(argument: Any) -> set[str]:
    if isinstance(argument, list):
        return set().union(*map(_names, argument))
    return {argument[0]} if isinstance(argument, tuple) and len(argument) == 1 else set()


def _needed(calls: list[Any], outputs: list[Any]) -> list[Any]:
    """The calls that something reads: those of results that are views of arguments aren't."""
    names: set[str] = set().union(*(_names(value) for value, _ in outputs))
    found = []
    for call in reversed(calls):
        if names.isdisjoint(call[2]):
            continue
        found.append(call)
        for _, argument in call[1]:
            names |= _names(argument)
    return found[::-1]


class _Recorder:
    def __init__(self, gm: torch.fx.GraphModule, source: str, names: list[str], weights: set[int]) -> None:
        self.gm, self.names, self.weights = gm, names, weights
        self.values: dict[torch.fx.Node, Any] = {}  # the argument that stands for a node
        self.taken: set[str] = set()
        self.leaves: list[Leaf] = []
        self.states: dict[torch.fx.Node, str] = {}  # by placeholder
        self.inputs: list[Any] = []
        self.calls: list[Any] = []
        self.outputs: list[Any] = []
        self.constants: dict[str, torch.Tensor] = {}
        self.symbols: dict[Any, torch.SymInt] = {}
        self.source = source
        self.texts: dict[Any, str] = {}

    def all(self) -> Recording:
        nodes = list(self.gm.graph.nodes)
        placeholders = [node for node in nodes if node.op == "placeholder"]
        mutated = {node.args[0] for node in nodes if self.is_write_back(node)}
        for number, node in enumerate(placeholders):
            self.add_placeholder(node, number, node in mutated)
        self.add_nodes(self.gm, [node for node in nodes if node.op != "placeholder" and not self.is_write_back(node)])
        results = self.add_results(nodes[-1], placeholders)
        for node in nodes:
            if self.is_write_back(node):
                self.write_back(node)
        ranges, sizes = self.describe_symbols()
        records = {"source": self.source, "ranges": ranges, "guards": self.describe_guards(), "inputs": self.inputs,
                   "outputs": self.outputs, "calls": _needed(self.calls, self.outputs), "constants": self.constants}
        return Recording(records, self.leaves, results, sizes)

    @staticmethod
    def is_write_back(node: torch.fx.Node) -> bool:
        """What AOTAutograd writes at the end of a graph to an input that the program changes."""
        first = node.args[0] if node.args else None
        return (node.op == "call_function" and node.target is torch.ops.aten.copy_.default
                and isinstance(first, torch.fx.Node) and first.op == "placeholder")

    def size(self, size: Any) -> Any:
        """An int, or the text of an expression, whose symbols become variables."""
        found = layouts.expression(size)
        if isinstance(found, int):
            return found
        if found not in self.texts:
            for symbol in found.free_symbols:
                self.symbols[symbol] = size
            self.texts[found] = sympy.srepr(found)
        return self.texts[found]

    def add_placeholder(self, node: torch.fx.Node, number: int, is_written: bool) -> None:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            return self.add_tensor(node, value, number, is_written)
        if isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool):
            found = layouts.expression(value)
            if isinstance(found, int):
                self.values[node] = found
                self.leaves.append(Leaf("unused", ""))
                return
            self.add_size(node.name, node, value)
            # Others that give the same variable add nothing: Dynamo's guards say that they agree.
            is_new = isinstance(found, sympy.Symbol) and all(leaf.name != str(found) for leaf in self.leaves)
            self.leaves.append(Leaf("size", str(found)) if is_new else Leaf("unused", ""))
            return
        if value is None or isinstance(value, (bool, float, str)):
            self.values[node] = value
        elif node.users:
            raise luminal.UserError(f"{self.source}: its input {self.names[number]} is a {type(value).__name__}; "
                                    "tensors and integers can be given")
        self.leaves.append(Leaf("unused", ""))

    def add_tensor(self, node: torch.fx.Node, value: torch.Tensor, number: int, is_written: bool) -> None:
        name = _unique(self.names[number], self.taken)
        if value.device.type != "cpu":
            raise luminal.UserError(f"{self.source}: its input {name} is on the device {value.device}; move the model and its "
                                    "inputs to the CPU")
        if value.layout is not torch.strided:
            raise luminal.UserError(f"{self.source}: its input {name} has the layout {value.layout}; call to_dense()")
        role = "state" if is_written else "weight" if number in self.weights else "input"
        order = layouts.order_of(value)
        axes = range(value.dim()) if order is None else order
        leaf = Leaf(role, name, _dtype(value.dtype, name), [self.size(value.shape[axis]) for axis in axes], order)
        self.leaves.append(leaf)
        self.inputs.append((role, name, name, leaf.dtype, leaf.dims))
        self.values[node] = (name,) if order is None else self.permuted(name, layouts.inverse(order))
        if is_written:
            self.states[node] = name

    def permuted(self, name: str, order: list[int]) -> tuple[str]:
        result = _unique(name + ":permuted", self.taken)
        self.calls.append(("aten.permute.default", [("", (name,)), ("", list(order))], [result], "", ""))
        return (result,)

    def add_size(self, name: str, node: torch.fx.Node, value: Any) -> None:
        name = _unique(name, self.taken)
        self.inputs.append(("size", name, "", "i64", [self.size(value)]))
        self.values[node] = (name,)

    def add_nodes(self, gm: torch.fx.GraphModule, nodes: list[torch.fx.Node]) -> None:
        for node in nodes:
            if node.op == "get_attr":
                self.add_attribute(gm, node)
            elif node.op == "call_function":
                self.add_call(gm, node)
            elif node.op != "output":
                raise luminal.UserError(f"{self.source}: {node.op} {node.target} in a graph isn't supported")

    def add_attribute(self, gm: torch.fx.GraphModule, node: torch.fx.Node) -> None:
        value: Any = gm
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor):
            self.values[node] = value  # the body of a nested region
            return
        name = _unique(str(node.target), self.taken)
        self.constants[name] = value.detach()
        self.inputs.append(("constant", name, name, _dtype(value.dtype, name), list(value.shape)))
        self.values[node] = (name,)

    def add_call(self, gm: torch.fx.GraphModule, node: torch.fx.Node) -> None:
        target, value = node.target, node.meta.get("val")
        if target is torch.ops.higher_order.invoke_subgraph:
            return self.add_nested(node)
        if isinstance(value, torch.SymInt):
            found = layouts.expression(value)
            if isinstance(found, int):
                self.values[node] = found
                return
            return self.add_size(node.name, node, value)
        name = target_of(target)
        first = self.argument(node.args[0]) if node.args else None
        if name == "_operator.getitem" and isinstance(first, list):
            self.values[node] = first[node.args[1]]  # type: ignore[index]
            return
        if name == "aten.lift_fresh_copy.default":
            self.values[node] = first
            return
        parts = [user.args[1] for user in node.users if user.target is operator.getitem]
        many = isinstance(value, (tuple, list)) or (value is None and len(parts) > 0)
        count = len(value) if isinstance(value, (tuple, list)) else max(parts, default=0) + 1  # type: ignore[type-var,operator]
        results = [_unique(f"{node.name}:{at}" if many else node.name, self.taken) for at in range(count)]
        arguments = [("", self.argument(each)) for each in node.args]
        arguments += [(key, self.argument(each)) for key, each in node.kwargs.items()]
        if target is torch.ops.aten.as_strided.default:
            arguments += self.memory_order(node)
        self.calls.append((name, arguments, results, origins.line_of(node), origins.module_of(node)))
        self.values[node] = [(each,) for each in results] if many else (results[0],)

    @staticmethod
    def memory_order(node: torch.fx.Node) -> list[Any]:
        """For a call that gives a tensor other strides: the order of axes in which its elements lie in memory."""
        source: Any = node.args[0]
        tensor = source.meta["val"]
        is_row_major = layouts.is_row_major([*map(layouts.expression, tensor.shape)], [*map(layouts.expression, tensor.stride())])
        order = list(range(tensor.dim())) if is_row_major else layouts.order_of(tensor)
        # An offset counts from the beginning of the memory.
        has_offset = len(node.args) > 3 or "storage_offset" in node.kwargs
        if order is None or (has_offset and layouts.expression(tensor.storage_offset()) != 0):
            return []
        return [("memory_order", order)]

    def add_nested(self, node: torch.fx.Node) -> None:
        """A nested region: its body takes the place of the call. The compiler finds equal layers itself."""
        body = self.values[node.args[0]]  # type: ignore[index]
        given = [self.argument(each) for each in node.args[2:]]
        nodes = list(body.graph.nodes)
        placeholders = [each for each in nodes if each.op == "placeholder"]
        for each in nodes:
            self.values.pop(each, None)
        self.values.update(zip(placeholders, given, strict=True))
        self.add_nodes(body, nodes[len(placeholders):])
        self.values[node] = [self.argument(each) for each in nodes[-1].args[0]]

    def argument(self, value: Any) -> Any:
        if isinstance(value, torch.fx.Node):
            return self.values[value]
        if isinstance(value, (list, tuple)):
            return [self.argument(each) for each in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, torch.dtype):
            return ("dtype", _dtype(value, "an argument"))
        if isinstance(value, torch.device):
            return value.type
        if isinstance(value, torch.SymInt) and isinstance(found := layouts.expression(value), int):
            return found
        if isinstance(value, torch.layout):
            return "layout"
        if isinstance(value, torch.memory_format):
            return "memory_format"
        raise luminal.UserError(f"{self.source}: an argument is a {type(value).__name__}, which isn't supported: {value}")

    def add_results(self, output: torch.fx.Node, placeholders: list[torch.fx.Node]) -> list[Result]:
        results = Results(self, placeholders)
        nodes: Any = output.args[0]
        results.find_shared([each for each in nodes if isinstance(each, torch.fx.Node)])
        return [results.of(each) for each in nodes]

    def write_back(self, node: torch.fx.Node) -> None:
        placeholder: Any = node.args[0]
        value, name = self.argument(node.args[1]), self.states[placeholder]
        order = next(leaf.order for leaf in self.leaves if leaf.name == name)
        self.outputs.append((value if order is None else self.permuted(value[0], order), name))

    def describe_symbols(self) -> tuple[dict[str, Any], dict[str, int]]:
        ranges: dict[str, Any] = {}
        sizes: dict[str, int] = {}
        for symbol, size in self.symbols.items():
            environment = size.node.shape_env
            known = environment.var_to_range.get(symbol)
            lower = int(known.lower) if known is not None and known.lower.is_Integer else 0
            upper = int(known.upper) if known is not None and known.upper.is_Integer else None
            ranges[str(symbol)] = (max(lower, 0), upper)
            value = environment.backed_var_to_val.get(symbol)
            if value is not None:
                sizes[str(symbol)] = int(value)
        return ranges, sizes


    def describe_guards(self) -> list[str]:
        """What PyTorch assumes of the sizes, as Python: "(s77 % 4) == 0"."""
        size = next(iter(self.symbols.values()), None)
        return guards.of_sizes(size.node.shape_env, set(self.symbols)) if size is not None else []


def record(gm: torch.fx.GraphModule, source: str, names: list[str], weights: set[int]) -> Recording:
    """The records of a graph of AOTAutograd. `names` of its placeholders; the tensors of those in `weights` stay the same from
    call to call. UserError for what can't be recorded."""
    return _Recorder(gm, source, names, weights).all()
