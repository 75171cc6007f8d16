#!/usr/bin/env python3
"""Writes the seed corpus of fuzz_pt2: archives, programs of many operators, and sizes, good and bad."""
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).parents[1]
FOLDER = TESTS / "fuzz" / "corpus" / "pt2"
sys.path.insert(0, str(TESTS / "hostile" / "pt2"))
from small_pt2 import F32, I64, LENGTH, Archive, meta, node, tensor  # noqa: E402

X, IDS = tensor("x"), tensor("ids")


def ints(*values):
    return {"as_ints": list(values)}


def number(value):
    return {"as_float": value} if isinstance(value, float) else {"as_int": value}


# Operator, arguments; each a program of its own, of x f32[s, 4] and ids i64[3].
CALLS = {
    "pointwise": [("aten.gelu.default", [("self", X), ("approximate", {"as_string": "tanh"})]),
                  ("aten.add.Tensor", [("self", X), ("other", X), ("alpha", number(2))]),
                  ("aten.clamp.default", [("self", X), ("min", number(-1.0)), ("max", {"as_none": True})]),
                  ("aten.where.ScalarOther", [("condition", X), ("self", X), ("other", number(0))])],
    "reductions": [("aten.mean.dim", [("self", X), ("dim", ints(-1)), ("keepdim", {"as_bool": True})]),
                   ("aten.max.dim", [("self", X), ("dim", number(1))]), ("aten.cumsum.default", [("self", X), ("dim", number(0))]),
                   ("aten._softmax.default", [("self", X), ("dim", number(-1)), ("half_to_float", {"as_bool": False})])],
    "views": [("aten.view.default", [("self", X), ("size", ints(-1, 2, 2))]), ("aten.permute.default", [("self", X), ("dims", ints(1, 0))]),
              ("aten.slice.Tensor", [("self", X), ("dim", number(0)), ("start", number(1)), ("end", number(2**63 - 1))]),
              ("aten.select.int", [("self", X), ("dim", number(1)), ("index", number(-1))]),
              ("aten.expand.default", [("self", X), ("size", ints(2, -1, 4))]),
              ("aten.cat.default", [("tensors", {"as_tensors": [{"name": "x"}, {"name": "x"}]}), ("dim", number(1))]),
              ("aten.split.Tensor", [("self", X), ("split_size", number(2)), ("dim", number(1))]),
              ("aten.constant_pad_nd.default", [("self", X), ("pad", ints(1, 2)), ("value", number(0.5))])],
    "in_place": [("aten.clone.default", [("self", X)]), ("aten.select.int", [("self", tensor("r0")), ("dim", number(1)), ("index", number(0))]),
                 ("aten.add_.Tensor", [("self", tensor("r1")), ("other", number(1))]), ("aten.t.default", [("self", tensor("r0"))]),
                 ("aten.fill_.Scalar", [("self", tensor("r3")), ("value", number(3))])],
    "indexing": [("aten.embedding.default", [("weight", tensor("p_weight")), ("indices", IDS)]),
                 ("aten.index.Tensor", [("self", X), ("indices", {"as_optional_tensors": [{"as_none": True}, IDS]})]),
                 ("aten.index_put.default", [("self", X), ("indices", {"as_optional_tensors": [{"as_none": True}, IDS]}),
                                             ("values", tensor("b_scale")), ("accumulate", {"as_bool": True})]),
                 ("aten.gather.default", [("self", X), ("dim", number(0)), ("index", IDS)])],
    "products": [("aten.mm.default", [("self", X), ("mat2", X)]), ("aten.t.default", [("self", X)]),
                 ("aten.matmul.default", [("self", X), ("other", tensor("r1"))]),
                 ("aten.scaled_dot_product_attention.default", [("query", X), ("key", X), ("value", X), ("is_causal", {"as_bool": True})])],
    "norms": [("aten.layer_norm.default", [("input", X), ("normalized_shape", ints(4)), ("eps", number(1e-5))])],
    "creation": [("aten.arange.start_step", [("start", number(0)), ("end", number(9)), ("step", number(2)), ("dtype", {"as_scalar_type": 7})]),
                 ("aten.full.default", [("size", ints(2, 3)), ("fill_value", {"as_float": "Infinity"})]),
                 ("aten.zeros_like.default", [("self", X), ("device", {"as_device": {"type": "cpu", "index": None}})])],
    "convolutions": [("aten.view.default", [("self", X), ("size", ints(-1, 1, 2, 2))]),
                     ("aten.convolution.default", [("input", tensor("r0")), ("weight", tensor("r0")), ("bias", {"as_none": True}),
                                                   ("stride", ints(1, 1)), ("padding", ints(1, 1)), ("dilation", ints(1, 1)),
                                                   ("transposed", {"as_bool": False}), ("output_padding", ints(0, 0)), ("groups", number(1))])],
}
SIZES = ["Integer(-3)", "Add(Symbol('s0', positive=True, integer=True), Integer(-1))",
         "Mod(FloorDiv(Symbol('s0'), Integer(2)), Integer(4))", "Max(Integer(5), Min(Symbol('s0'), Pow(Symbol('s1'), Integer(2))))"]


def small():
    """The parts of a good archive, with a second input and without hints and traces that only take bytes."""
    archive = Archive()
    archive.graph()["tensor_values"]["ids"] = meta(I64, [3])
    archive.signature()["input_specs"].append({"user_input": {"arg": IDS}})
    return archive


def text(archive):
    return json.dumps(archive.program, separators=(",", ":")).encode()


def number_program():
    """Of sizes that are computed, and a graph within a call."""
    archive = small()
    archive.nodes()[:] = [
        {**node("aten.sym_size.int", [("self", X), ("dim", number(0))]), "outputs": [{"as_sym_int": {"as_name": "n"}}]},
        {**node("_operator.mul", [("", {"as_sym_int": {"as_name": "n"}}), ("", number(2))]), "outputs": [{"as_sym_int": {"as_name": "m"}}]},
        node("aten.full.default", [("size", {"as_sym_ints": [{"as_name": "m"}, {"as_int": 2}]}), ("fill_value", number(1.0))], "grid"),
        node("torch.ops.higher_order.wrap_with_set_grad_enabled", [
            ("", {"as_bool": False}), ("", {"as_graph": {"name": "inner", "graph": {
                "inputs": [tensor("a")], "outputs": [tensor("b"), tensor("a")],
                "nodes": [node("aten.neg.default", [("self", tensor("a"))], "b")], "tensor_values": {"a": meta(F32, [LENGTH, 4])}}}}),
            ("", X)], "negated", "same")]
    archive.graph()["sym_int_values"] = {"n": {"as_expr": {"expr_str": LENGTH, "hint": {"as_int": 5}}}}
    archive.give("negated")
    return archive


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for each in FOLDER.iterdir():
        each.unlink()
    (FOLDER / "file").write_bytes(Archive().bytes())
    (FOLDER / "program").write_bytes(text(small()))
    (FOLDER / "program_numbers").write_bytes(text(number_program()))
    for name, calls in CALLS.items():
        archive = small()
        archive.nodes().clear()
        for at, (target, inputs) in enumerate(calls):
            archive.call(target, inputs, f"r{at}")
        (FOLDER / f"program_{name}").write_bytes(text(archive))
    for at, size in enumerate(SIZES):
        (FOLDER / f"size_{at}").write_text(size)


main()
