"""Compiled graphs as AOTAutograd calls them, with one list of arguments, or as Dynamo does; both give back a list of results."""
from collections.abc import Callable
from typing import Any

import torch

import luminal
from luminal import _core
from luminal.torch.records import Recording
from luminal.torch.results import Result


def _make(result: Result) -> Callable[[list[Any], list[Any]], Any]:
    """How a result follows from the arguments and the outputs."""
    whole = _make_whole(result)
    if not result.view:
        return whole
    layout = eval(result.view)  # Python that views.view_text wrote, or a saved graph of torch.compile, which is a pickle anyway

    def make(arguments: list[Any], outputs: list[Any]) -> Any:
        base = whole(arguments, outputs)
        sizes, strides, offset = layout(arguments)
        return base.as_strided(sizes, strides, base.storage_offset() + offset)

    return make


def _make_whole(result: Result) -> Callable[[list[Any], list[Any]], Any]:
    value, order = result.value, result.order
    if result.kind == "none":
        return lambda arguments, outputs: None
    if result.kind == "value":
        return lambda arguments, outputs: value
    if result.kind == "argument":
        return lambda arguments, outputs: arguments[value]
    if result.kind == "size":
        return lambda arguments, outputs: int(outputs[value])
    if order is not None:
        return lambda arguments, outputs: outputs[value].permute(order)
    return lambda arguments, outputs: outputs[value]


def _are_the_outputs(results: list[Result]) -> bool:
    return all(each.kind == "tensor" and each.order is None and not each.view and each.value == at
               for at, each in enumerate(results))


def boxed(call: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Says that `call` takes one list, and empties it: tensors end where nothing reads them."""
    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def caller(executable: luminal.Executable | None, outputs: list[str], sizes: dict[str, tuple[str, int, int]],
           recording: Recording) -> Any:
    """Runs `executable` on PyTorch's tensors; without one, the graph computes nothing. `sizes` has for symbols the variable, the
    scale and the offset that make them. Its attribute `unboxed` is what Dynamo calls where AOTAutograd has nothing to do."""
    leaves, results = recording.leaves, recording.results
    makers = [_make(each) for each in results]
    if executable is None:
        def pass_on(arguments: list[Any]) -> list[Any]:
            made = [make(arguments, []) for make in makers]
            arguments.clear()
            return made

        pass_on.unboxed = lambda *arguments: pass_on(list(arguments))  # type: ignore[attr-defined]
        return boxed(pass_on)
    texts = {symbol: f"{scale} * {variable} + {offset}" for symbol, (variable, scale, offset) in sizes.items()}
    names = [texts.get(leaf.name, "") if leaf.role == "size" else leaf.name for leaf in leaves]
    orders = {leaf.name: leaf.order for leaf in leaves if leaf.order is not None}
    torch_call = _core.TorchCall(executable, names, outputs, orders)
    run = torch_call.call
    if _are_the_outputs(results):
        def call(arguments: list[Any]) -> list[Any]:
            made: list[Any] = run(arguments)
            arguments.clear()
            return made

        call.unboxed = lambda *arguments: run(arguments)  # type: ignore[attr-defined]
    else:
        def call(arguments: list[Any]) -> list[Any]:
            found = run(arguments)
            made = [make(arguments, found) for make in makers]
            arguments.clear()
            return made

        call.unboxed = lambda *arguments: call(list(arguments))  # type: ignore[attr-defined]
    call.torch_call = torch_call  # type: ignore[attr-defined]
    return boxed(call)


def eager(gm: torch.fx.GraphModule) -> Any:
    """The graph as PyTorch runs it."""
    def call(arguments: list[Any]) -> Any:
        given = tuple(arguments)
        arguments.clear()
        return gm(*given)

    return boxed(call)
