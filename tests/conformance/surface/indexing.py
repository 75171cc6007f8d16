"""Indexing and tensors made from positions: exact in every dtype."""

import torch
import torch.nn.functional as F

from model import DYNAMIC_SIZES, SHAPES, In, Op, Variant, without
from values import DTYPES, TORCH

I64, I32 = "i64", "i32"


def op(name, reference, variants, dtypes=DTYPES, tolerance="exact"):
    return Op(name, "indexing", reference, dtypes, tolerance, variants, True)


def embedding_variants(dtype):
    for tag, rows, width, index, layout, index_layout in (
        ("r0", 5, 3, (), "contiguous", "contiguous"), ("r1", 5, 3, (17,), "contiguous", "sliced"),
        ("r2", 17, 5, (3, 5), "permuted", "permuted"), ("sliced", 5, 16, (3,), "sliced", "expanded"),
        ("zero", 5, 3, (0,), "contiguous", "contiguous"),
    ):  # fmt: skip
        for kind in (I64, I32):
            yield Variant(f"{tag}.{kind}", (In((rows, width), layout),
                                            In(index, index_layout, ("index", rows), kind)))  # fmt: skip
    yield Variant("dynamic", (In((5, 3)), In(("s", 2), "permuted", ("index", 5), I64)), {}, DYNAMIC_SIZES)


# (tag, data dims, layout, index dims, index layout, axis)
ALONG = (
    ("r1", (17,), "contiguous", (5,), "sliced", 0),
    ("r2.first", (5, 3), "permuted", (3, 3), "contiguous", 0),
    ("r2.last", (3, 5), "sliced", (3, 16), "permuted", 1),
    ("r3", (3, 5, 3), "permuted", (3, 2, 3), "expanded", 1),
    ("smaller", (5, 5), "flipped", (2, 3), "contiguous", 0),
    ("zero", (5, 3), "contiguous", (0, 3), "contiguous", 0),
)


def gather_variants(dtype):
    for tag, dims, layout, index, index_layout, axis in ALONG:
        yield Variant(tag, (In(dims, layout), In(index, index_layout, ("index", dims[axis]), I64)),
                      {"axis": axis})  # fmt: skip


def scatter_variants(dtype):
    # Distinct positions along the axis: which of equal ones wins is not specified by PyTorch.
    for tag, dims, layout, index, axis in (
        ("r1", (17,), "sliced", (5,), 0), ("r2.first", (5, 3), "permuted", (3, 1), 0),
        ("r2.last", (1, 5), "contiguous", (1, 4), 1), ("r2.smaller", (5, 5), "flipped", (4, 1), 0),
        ("zero", (5, 3), "contiguous", (0, 3), 0),
    ):  # fmt: skip
        size = dims[axis]
        yield Variant(tag, (In(dims, layout), In(index, values=("permutation", size), dtype=I64), In(index)),
                      {"axis": axis})  # fmt: skip
    yield Variant("column", (In((5, 3), "permuted"), In((4, 3), "expanded_last", ("permutation", 5), I64),
                             In((4, 3))), {"axis": 0})  # fmt: skip


def scatter_add_variants(dtype):
    for tag, dims, layout, index, index_layout, axis in ALONG[:2] + ALONG[4:]:
        yield Variant(tag, (In(dims, layout), In(index, index_layout, ("index", dims[axis]), I64), In(index)),
                      {"axis": axis}, length=3)  # fmt: skip


def scatter_add(x, p, dtype):
    data, index, values = x
    if dtype in ("f16", "bf16"):  # PyTorch rounds after each addition
        return torch.scatter_add(data.double(), p["axis"], index, values.double()).to(data.dtype)
    return torch.scatter_add(data, p["axis"], index, values)


def index_select_variants(dtype):
    for tag, dims, layout, axis, count in (("r1", (17,), "sliced", 0, 5), ("r2", (3, 5), "permuted", 1, 16),
                                           ("r3", (3, 5, 3), "flipped", -2, 3),
                                           ("zero", (3, 5), "contiguous", 0, 0)):  # fmt: skip
        for kind in (I64, I32):
            yield Variant(f"{tag}.{kind}", (In(dims, layout), In((count,), "contiguous", ("index", dims[axis]), kind)),
                          {"axis": axis})  # fmt: skip


def index_put_variants(dtype):
    for tag, dims, layout, count in (("r1", (17,), "sliced", 5), ("r2", (5, 3), "permuted", 3),
                                     ("r3", (5, 3, 2), "contiguous", 4), ("zero", (5, 3), "contiguous", 0)):
        yield Variant(tag, (In(dims, layout), In((count,), values=("permutation", dims[0]), dtype=I64),
                            In((count, *dims[1:]), "contiguous")), {"accumulate": False})
        if dtype != "bool":
            yield Variant(f"{tag}.accumulate",
                          (In(dims, layout), In((count,), values=("index", dims[0]), dtype=I64),
                           In((count, *dims[1:]))), {"accumulate": True}, tolerance="reduction")  # fmt: skip


def index_put(x, p, dtype):
    data, index, values = x
    if p["accumulate"] and dtype in ("f16", "bf16"):  # PyTorch rounds after each addition
        return data.double().index_put((index,), values.double(), accumulate=True).to(data.dtype)
    return data.clone().index_put((index,), values, accumulate=p["accumulate"])


def masked_fill_variants(dtype):
    for tag, dims, layout in SHAPES:
        mask = "contiguous" if len(dims) != 2 else "permuted"
        yield Variant(tag, (In(dims, layout), In(dims, mask, dtype="bool")), {"value": 1})
    yield Variant("broadcast", (In((3, 5), "permuted"), In((5,), dtype="bool")), {"value": 0})
    if dtype in ("f64", "f32", "f16", "bf16"):
        yield Variant("special", (In((23,), values=("special", 0)), In((23,), dtype="bool")), {"value": 2.5})


def triangle_variants(dtype):
    for tag, dims, layout in (("r2", (5, 5), "contiguous"), ("r2.wide", (3, 5), "permuted"),
                              ("r2.tall", (5, 3), "sliced"), ("r3", (2, 3, 3), "permuted"),
                              ("zero", (0, 3), "contiguous")):  # fmt: skip
        for diagonal in (0, 1, -2):
            yield Variant(f"{tag}.{diagonal}", (In(dims, layout),), {"diagonal": diagonal})
    yield Variant("dynamic", (In(("s", 5), "permuted"),), {"diagonal": 0}, DYNAMIC_SIZES)


def arange_variants(dtype):
    for start, stop, step in ((0, 5, 1), (0, 17, 1), (2, 16, 3), (3, 4, 2), (0, 0, 1), (1, 100, 7)):
        yield Variant(f"{start}-{stop}-{step}", (), {"start": start, "stop": stop, "step": step,
                                                     "dtype": dtype})  # fmt: skip
    if dtype != "u8":
        yield Variant("down", (), {"start": 5, "stop": -4, "step": -2, "dtype": dtype})


def eye_variants(dtype):
    for n, m in ((1, 1), (3, 3), (3, 5), (5, 3), (0, 3)):
        yield Variant(f"{n}-{m}", (), {"rows": n, "columns": m, "dtype": dtype})


def one_hot_variants(dtype):
    for tag, dims, layout in SHAPES:
        yield Variant(tag, (In(dims, layout, ("index", 5)),), {"classes": 5})


OPS = (
    op("embedding", lambda x, p, d: F.embedding(x[1], x[0]), embedding_variants),
    op("gather", lambda x, p, d: torch.gather(x[0], p["axis"], x[1]), gather_variants),
    op("scatter", lambda x, p, d: torch.scatter(x[0], p["axis"], x[1], x[2]), scatter_variants),
    op("scatter_add", scatter_add, scatter_add_variants, without(DTYPES, "bool"), "reduction"),
    op("index_select", lambda x, p, d: torch.index_select(x[0], p["axis"], x[1]), index_select_variants),
    op("index_put", index_put, index_put_variants),
    op("masked_fill", lambda x, p, d: torch.masked_fill(x[0], x[1], p["value"]), masked_fill_variants),
    op("tril", lambda x, p, d: torch.tril(x[0], p["diagonal"]), triangle_variants),
    op("triu", lambda x, p, d: torch.triu(x[0], p["diagonal"]), triangle_variants),
    op("arange", lambda x, p, d: torch.arange(p["start"], p["stop"], p["step"], dtype=TORCH[d]),
       arange_variants, without(DTYPES, "bool")),
    op("eye", lambda x, p, d: torch.eye(p["rows"], p["columns"], dtype=TORCH[d]), eye_variants),
    op("one_hot", lambda x, p, d: F.one_hot(x[0].long(), p["classes"]), one_hot_variants, ("i64", "i32")),
)  # fmt: skip
