"""Graphs around which AOTAutograd's wrappers have nothing to do: Dynamo calls what was compiled of them without these."""
from typing import Any

import torch
from torch._functorch._aot_autograd import descriptors


def _descriptions(gm: torch.fx.GraphModule) -> tuple[list[Any], list[Any]]:
    """What AOTAutograd says of the graph's inputs and results."""
    placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
    output = next(node for node in gm.graph.nodes if node.op == "output")
    return [node.meta.get("desc") for node in placeholders], list(output.meta.get("desc") or [])


def is_plain(gm: torch.fx.GraphModule, n_arguments: int) -> bool:
    """Whether the graph takes Dynamo's arguments and gives its results as they are, in their order: no input is left out,
    joined with another or changed outside of the graph, no result is an alias that has to be made, and no mode changes."""
    context = torch._guards.TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if context is None or metadata is None or context.fakify_first_call:
        return False
    inputs, outputs = _descriptions(gm)
    return (inputs == [descriptors.PlainAOTInput(number) for number in range(n_arguments)]
            and outputs == [descriptors.PlainAOTOutput(number) for number in range(metadata.num_outputs)]
            and not metadata.num_outputs_aliased and not metadata.num_intermediate_bases and not metadata.dynamic_outputs
            and not metadata.num_mutated_inp_runtime_indices and metadata.grad_enabled_mutation is None
            and not metadata.tokens and not metadata.is_rng_op_functionalized and not metadata.num_graphsafe_rng_states)
