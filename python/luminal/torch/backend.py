"""The backend of torch.compile: AOTAutograd's graphs, compiled whole."""
import contextlib
import re
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch.utils._python_dispatch import _disable_current_modes

import luminal
from luminal import _core
from luminal.torch import calls, guards, origins, plain_graphs, records, whole_ops
from luminal.torch.report import GraphReport, add as add_report

_FALLBACKS = ("error", "eager")


class _Fallback(Exception):
    """Why a graph can't be compiled, a line each."""


def _check_options(options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The policy of fallbacks, and the options of luminal.compile()."""
    compile_options = dict(options)
    fallback = compile_options.pop("fallback", "error")
    if fallback not in _FALLBACKS:
        raise luminal.UserError(f"option fallback={fallback!r}: it takes {' or '.join(map(repr, _FALLBACKS))}")
    return fallback, compile_options


def _shape_environment(inputs: Sequence[Any]) -> Any:
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.fake_mode is not None:
        return context.fake_mode.shape_env
    return next((each.node.shape_env for each in inputs if isinstance(each, torch.SymInt)), None)


def _is_saved() -> bool:
    """Whether torch._dynamo.aot_compile asks: it saves what is compiled."""
    config = torch._functorch.config
    return bool(config.force_autograd_cache or config.bundled_autograd_cache)


def _missing(recording: records.Recording) -> list[str]:
    """The operators that aren't known, with how many calls there are and where the first is."""
    missing: dict[str, str] = {}
    count: Counter[str] = Counter()
    for target, _, _, line, module in recording.records["calls"]:
        if _core._knows_operator(target):
            continue
        count[target] += 1
        missing.setdefault(target, f"{target}{' in ' + module if module else ''}{f' ({line})' if line else ''}")
    return [place + (f", {count[target]} calls" if count[target] > 1 else "") for target, place in missing.items()]


class _Graphs:
    """The graphs that come of one of Dynamo's: one for inference, or forward and backward."""

    def __init__(self, gm: torch.fx.GraphModule, options: Mapping[str, Any]) -> None:
        self.fallback, self.options = _check_options(options)
        placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
        self.names = [origins.name_of_input(node) for node in placeholders]
        number = torch._guards.CompileContext.current_compile_id()
        self.name = f"graph {number}" if number is not None else "a graph"
        self.call: Any = None  # what Dynamo may call without AOTAutograd's wrappers

    def compiler(self, kind: str) -> Callable[[torch.fx.GraphModule, Sequence[Any]], Any]:
        def compile_graph(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
            report = GraphReport(self.name, kind)
            with _disable_current_modes():
                try:
                    call = self.compiled(gm, kind, report)
                except _Fallback as reasons:
                    call = self.run_eagerly(gm, report, list(reasons.args))
            environment = _shape_environment(inputs)
            report.guards, report.fixed = guards.guards_of(environment), guards.fixed_sizes(environment)
            add_report(report)
            return call

        return compile_graph

    def run_eagerly(self, gm: torch.fx.GraphModule, report: GraphReport, reasons: list[str]) -> Any:
        if self.fallback == "error":
            raise luminal.UserError(
                f"{self.name} ({report.kind}) can't be compiled:\n" + "".join(f"  {each}\n" for each in reasons)
                + "torch.compile(..., options={\"fallback\": \"eager\"}) runs such graphs as PyTorch does")
        if _is_saved():
            raise luminal.UserError(f"{self.name} ({report.kind}) runs eagerly, which can't be saved: {'; '.join(reasons)}")
        report.fallbacks = reasons
        warnings.warn(f"luminal: {self.name} ({report.kind}) runs eagerly: {'; '.join(reasons)}", stacklevel=2)
        return calls.eager(gm)

    def compiled(self, gm: torch.fx.GraphModule, kind: str, report: GraphReport) -> Any:
        begin = time.perf_counter()
        if kind == "inference":
            guards.assume_sizes_of_attention(gm)
        try:
            recording = records.record(gm, f"{self.name} ({kind})", *self.describe_inputs(gm, kind))
        except luminal.UserError as error:
            raise _Fallback(str(error)) from error
        describe(recording, report)
        report.seconds["records"] = time.perf_counter() - begin
        if missing := _missing(recording):
            raise _Fallback(*(f"{each}: this operator isn't supported yet" for each in missing))
        call = build(recording, self.options, report)
        if not _is_saved():
            if kind == "inference" and plain_graphs.is_plain(gm, len(self.names)):
                self.call = call.unboxed
            return call
        from luminal.torch.saved import SavedGraph  # imports Inductor

        return SavedGraph(recording, self.options, self.name, kind, call)

    def describe_inputs(self, gm: torch.fx.GraphModule, kind: str) -> tuple[list[str], set[int]]:
        """The names of a graph's inputs, and which of them are weights: what a training step changes isn't."""
        context = torch._guards.TracingContext.try_get()
        metadata = context.fw_metadata if context is not None else None
        fixed = set(metadata.static_input_indices) if metadata is not None and kind == "inference" else set()
        names, weights = [], set()
        for number, node in enumerate(node for node in gm.graph.nodes if node.op == "placeholder"):
            source = getattr(node.meta.get("desc"), "idx", None)
            if source is None or type(node.meta["desc"]).__name__ != "PlainAOTInput" or source >= len(self.names):
                names.append(node.name)
            else:
                names.append(self.names[source])
            if number in fixed:
                weights.add(number)
        return names, weights


def describe(recording: records.Recording, report: GraphReport) -> None:
    """What the report says of a graph before it is compiled."""
    report.operators, report.results = len(recording.records["calls"]), len(recording.results)
    for leaf in recording.leaves:
        if leaf.role == "input":
            report.inputs.append(f"{leaf.name} {leaf.dtype}[{', '.join(map(readable, leaf.dims))}]")
        report.weights += leaf.role == "weight"
        if leaf.role == "state":
            report.states.append(leaf.name)
    report.sizes = recording.records["ranges"]


def readable(size: Any) -> str:
    """The text of a size, for people."""
    text = re.sub(r"Symbol\('(\w+)'[^)]*\)", r"\1", str(size))
    return re.sub(r"Integer\((-?\d+)\)", r"\1", text)


def build(recording: records.Recording, options: Mapping[str, Any], report: GraphReport) -> Any:
    """From records to what AOTAutograd calls."""
    if not recording.records["outputs"]:
        return calls.caller(None, [], {}, recording)
    begin = time.perf_counter()
    try:
        imported, sizes = _core._import_records(recording.records)
    except luminal.UserError as error:
        raise _Fallback(str(error)) from error
    report.seconds["import"], begin = time.perf_counter() - begin, time.perf_counter()
    variables = set(_core._variables(imported.graph))
    sizes = {symbol: size for symbol, size in sizes.items() if size[0] in variables}
    typical = {}
    for symbol, (variable, scale, offset) in sizes.items():
        if symbol in recording.typical_sizes:
            typical[variable] = (recording.typical_sizes[symbol] - offset) // scale
    executable = luminal.compile(imported.graph, **{"typical_sizes": typical, **options})
    report.seconds["compile"] = time.perf_counter() - begin
    report.compiled = executable.report
    call = calls.caller(executable, imported.outputs, sizes, recording)
    alive = weakref.ref(call.torch_call)  # a report keeps no compiled graph
    report.copies = lambda: found.copied if (found := alive()) is not None else []
    return call


def _needs_gradients(inputs: Sequence[Any]) -> bool:
    return torch.is_grad_enabled() and any(isinstance(each, torch.Tensor) and each.requires_grad for each in inputs)


def backend(gm: torch.fx.GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None,
            mode: str | None = None) -> Any:
    """torch.compile(model, backend="luminal", options={"fallback": "eager", "threads": 2}).

    `fallback` says what happens to a graph with an operator that isn't known: "error" (the default), or "eager". The other
    options are those of luminal.compile()."""
    if mode not in (None, "default"):
        raise luminal.UserError(f"mode={mode!r} isn't known; options={{...}} takes those of luminal.compile()")
    graphs = _Graphs(gm, options or {})
    with contextlib.ExitStack() as traced:
        traced.enter_context(whole_ops.in_training() if _needs_gradients(example_inputs) else whole_ops.kept())
        made = aot_autograd(fw_compiler=graphs.compiler("forward"), bw_compiler=graphs.compiler("backward"),
                            inference_compiler=graphs.compiler("inference"), keep_inference_input_mutations=True,
                            decompositions=whole_ops.decompositions())(gm, example_inputs)
    is_flat = not any(isinstance(each, (list, tuple, dict)) for each in example_inputs)
    return graphs.call if graphs.call is not None and is_flat else made


def register() -> None:
    """Makes the name known where the package isn't installed, but on the path: an installed one has an entry point."""
    if not entry_points(group="torch_dynamo_backends", name="luminal"):
        torch._dynamo.register_backend(backend, name="luminal")
