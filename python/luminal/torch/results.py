"""The results of a graph: of arguments, of outputs, or as views of one."""
import dataclasses
from typing import Any

import torch

import luminal
from luminal.torch import layouts, origins, views


@dataclasses.dataclass
class Result:
    """How a result of the graph is made."""

    kind: str  # "none", "value", "argument", "tensor" or "size"
    value: Any = None  # of a value: it; of an argument: its number; else the number of the output
    order: list[int] | None = None  # the axes of the output in the result's order, if it isn't the same
    view: str = ""  # of a view of that: views.view_text


class Results:
    """How each result is made: of arguments, of outputs, or as a view of one."""

    def __init__(self, recorder: Any, placeholders: list[torch.fx.Node]) -> None:
        self.recorder, self.placeholders = recorder, placeholders
        self.numbers: dict[Any, int] = {}  # of the outputs
        self.ordered: dict[Any, tuple[str]] = {}
        self.shared: set[torch.fx.Node] = set()  # what several results are views of
        # What is written to a placeholder in the end, and text that gives a symbol's value in a call.
        self.written = {node.args[1]: node.args[0] for node in recorder.gm.graph.nodes if recorder.is_write_back(node)}
        self.where: dict[Any, str] = {}
        for number, node in enumerate(placeholders):
            value = node.meta.get("val")
            if isinstance(value, torch.SymInt):
                self.where.setdefault(layouts.expression(value), f"a[{number}]")
        for number, node in enumerate(placeholders):
            value = node.meta.get("val")
            for axis, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
                self.where.setdefault(layouts.expression(size), f"a[{number}].shape[{axis}]")

    def find_shared(self, nodes: list[torch.fx.Node]) -> None:
        count: dict[torch.fx.Node, int] = {}
        for node in dict.fromkeys(nodes):
            root = views.root_of(node)
            count[root] = count.get(root, 0) + 1
        self.shared = {root for root, many in count.items() if many > 1}

    def number_of(self, value: Any) -> int:
        if value not in self.numbers:
            self.numbers[value] = len(self.numbers)
            self.recorder.outputs.append((value, ""))
        return self.numbers[value]

    def of(self, node: Any) -> Result:
        if node is None:
            return Result("none")
        if not isinstance(node, torch.fx.Node):
            return Result("value", node)
        if self.recorder.is_write_back(node):
            node = node.args[0]
        if node.op == "placeholder":
            return Result("argument", self.placeholders.index(node))
        found, value = self.recorder.values[node], node.meta.get("val")
        if not isinstance(found, tuple):
            return Result("value", found)
        if isinstance(value, torch.SymInt):
            return Result("size", self.number_of(found))
        if not isinstance(value, torch.Tensor):
            raise luminal.UserError(f"{self.recorder.source}: a result is a {type(value).__name__}; tensors and integers can be "
                                    f"given back ({origins.line_of(node)})")
        return self.view_of(node, value) or self.tensor_of(found, value)

    def view_of(self, node: torch.fx.Node, value: torch.Tensor) -> Result | None:
        """A view of an argument, or of what other results are views of too: what is written to one is seen in all."""
        root = views.root_of(node)
        base = root.meta.get("val")
        if not isinstance(base, torch.Tensor):
            return None
        argument: Any = root if root.op == "placeholder" else self.written.get(root)
        if argument is not None and views.same_layout(base, argument.meta["val"]):
            source = Result("argument", self.placeholders.index(argument))
        elif root in self.shared and root is not node and isinstance(self.recorder.values[root], tuple):
            source = self.tensor_of(self.recorder.values[root], base)
        else:
            return None
        text = views.view_text(value, base, self.where)
        return None if text is None else dataclasses.replace(source, view=text)

    def tensor_of(self, found: tuple[str], value: torch.Tensor) -> Result:
        order = layouts.order_of(value)
        if order is None:
            return Result("tensor", self.number_of(found))
        key = (found, tuple(order))
        if key not in self.ordered:
            self.ordered[key] = self.recorder.permuted(found[0], order)
        return Result("tensor", self.number_of(self.ordered[key]), layouts.inverse(order))
