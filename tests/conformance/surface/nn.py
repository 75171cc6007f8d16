"""Contractions, convolutions, pooling, softmax, norms, attention, rotary embedding, losses."""

import torch
import torch.nn.functional as F

from model import DYNAMIC_SIZES, In, Op, Variant, is_float, without
from values import DTYPES, FLOATS, HALVES, TORCH

NUMBERS = without(DTYPES, "bool")
UNIT = ("range", -1, 1)


def matmul_variants(dtype):
    rows = (
        ("r1-r1", ((17,), "sliced"), ((17,), "contiguous"), 17),
        ("r1-r2", ((5,), "contiguous"), ((5, 3), "permuted"), 5),
        ("r2-r1", ((3, 5), "permuted"), ((5,), "sliced"), 5),
        ("r2-r2", ((3, 5), "contiguous"), ((5, 16), "contiguous"), 5),
        ("r2-r2.permuted", ((3, 5), "permuted"), ((5, 17), "permuted"), 5),
        ("r2-r2.expanded", ((3, 5), "expanded"), ((5, 3), "expanded_last"), 5),
        ("r2-r2.sliced", ((3, 16), "sliced"), ((16, 5), "sliced"), 16),
        ("r3-r3", ((3, 1, 5), "permuted"), ((3, 5, 3), "permuted"), 5),
        ("r3-r2", ((3, 5, 3), "flipped"), ((3, 5), "contiguous"), 3),
        ("r2-r3", ((5, 3), "contiguous"), ((3, 3, 5), "permuted"), 3),
        ("r4-r3.broadcast", ((2, 1, 3, 5), "permuted"), ((3, 5, 3), "sliced"), 5),
        ("r1-r3", ((5,), "contiguous"), ((3, 5, 3), "permuted"), 5),
        ("r3-r1", ((3, 1, 5), "sliced"), ((5,), "contiguous"), 5),
        ("zero.inner", ((3, 0), "contiguous"), ((0, 5), "contiguous"), 0),
        ("zero.outer", ((0, 3), "contiguous"), ((3, 5), "permuted"), 3),
        ("long", ((2, 257), "contiguous"), ((257, 3), "permuted"), 257),
    )
    for tag, (a, la), (b, lb), length in rows:
        yield Variant(tag, (In(a, la), In(b, lb)), length=length)
    yield Variant("dynamic", (In(("s", 5), "permuted"), In((5, 3))), {}, DYNAMIC_SIZES, length=5)
    yield Variant("dynamic.inner", (In(("s", 5), "contiguous"), In((3, "s"), "contiguous")),
                  {"swap": True}, DYNAMIC_SIZES, length=17)  # fmt: skip


def matmul(inputs, params, dtype):
    a, b = inputs
    return torch.matmul(b, a) if params.get("swap") else torch.matmul(a, b)


def dot_variants(dtype):
    for tag, n, la, lb in (("r1", 17, "contiguous", "sliced"), ("merged", 15, "merged", "flipped"),
                           ("expanded", 5, "expanded", "contiguous"), ("one", 1, "sliced", "contiguous"),
                           ("zero", 0, "contiguous", "contiguous")):  # fmt: skip
        yield Variant(tag, (In((n,), la), In((n,), lb)), length=n)


def conv_rows(spatial):
    """(tag, batch, in, out, sizes, kernel, params, input layout, weight layout)."""
    one = [1] * spatial
    length, wide = ((5,), (17,)) if spatial == 1 else ((5, 3), (7, 9))
    kernel = (3,) if spatial == 1 else (3, 2)
    none = {"stride": one, "padding": [0] * spatial, "dilation": one, "groups": 1}
    return (
        ("plain", 1, 1, 1, length, kernel, none, "contiguous", "contiguous"),
        ("channels", 2, 3, 5, wide, kernel, none, "permuted", "permuted"),
        ("padding", 1, 2, 3, wide, kernel, {**none, "padding": [1, 2][:spatial]}, "sliced", "contiguous"),
        ("stride", 2, 1, 3, wide, kernel, {**none, "stride": [2, 3][:spatial]}, "flipped", "sliced"),
        ("dilation", 1, 3, 1, wide, kernel, {**none, "dilation": [2, 3][:spatial]}, "contiguous", "flipped"),
        ("groups", 1, 4, 6, wide, kernel, {**none, "groups": 2}, "permuted", "contiguous"),
        ("depthwise", 1, 3, 3, wide, kernel, {**none, "groups": 3}, "expanded", "permuted"),
        ("all", 2, 4, 2, wide, kernel, {"stride": [2, 1][:spatial], "padding": [2, 1][:spatial],
                                        "dilation": [2, 1][:spatial], "groups": 2},
         "permuted", "permuted"),
        ("pointwise", 1, 3, 5, wide, (1,) * spatial, none, "contiguous", "contiguous"),
        ("batch.zero", 0, 3, 5, wide, kernel, none, "contiguous", "contiguous"),
    )  # fmt: skip


def conv_variants(spatial):
    def variants(dtype):
        for tag, n, c, o, sizes, kernel, p, lx, lw in conv_rows(spatial):
            x = In((n, c, *sizes), lx)
            w = In((o, c // p["groups"], *kernel), lw)
            terms = c // p["groups"] * torch.Size(kernel).numel()
            yield Variant(tag, (x, w), p, length=terms)
            if tag in ("channels", "groups", "all"):
                yield Variant(f"{tag}.bias", (x, w, In((o,))), p, length=terms)
        _, n, c, o, sizes, kernel, p, _, _ = conv_rows(spatial)[2]
        yield Variant("dynamic", (In(("s", c, *sizes)), In((o, c, *kernel))), p, DYNAMIC_SIZES, length=9)

    return variants


def conv(function):
    def reference(inputs, p, dtype):
        x = inputs[0]
        if x.shape[0] == 0:
            out = reference([x.new_zeros(1, *x.shape[1:]), *inputs[1:]], p, dtype)
            return out[:0]
        if not x.is_floating_point():  # PyTorch has dilated ones for i64 alone; they wrap the same
            inputs = [i.long() for i in inputs]
        out = function(*inputs, stride=p["stride"], padding=p["padding"], dilation=p["dilation"],
                       groups=p["groups"])  # fmt: skip
        return out.to(x.dtype)

    return reference


def pool_variants(spatial, average):
    one = [1] * spatial
    sizes = (17,) if spatial == 1 else (7, 9)

    def variants(dtype):
        plain = {"kernel": [2, 3][:spatial], "stride": [2, 3][:spatial], "padding": [0] * spatial}
        rows = [
            ("plain", plain, "contiguous"),
            ("permuted", plain, "permuted"),
            ("overlap", {**plain, "kernel": [3] * spatial, "stride": one}, "sliced"),
            ("padding", {"kernel": [3] * spatial, "stride": [2] * spatial, "padding": one}, "flipped"),
        ]
        if average:
            rows.append(("padding.outside", {"kernel": [3] * spatial, "stride": [2] * spatial,
                                             "padding": one, "count_include_pad": False}, "permuted"))
        for tag, p, layout in rows:
            yield Variant(tag, (In((2, 3, *sizes), layout),), p, length=9)
        yield Variant("dynamic", (In(("s", 2, *sizes), "permuted"),), rows[3][1], DYNAMIC_SIZES, length=9)
        if not average and is_float(dtype):
            yield Variant("special", (In((1, 1, *((23,) if spatial == 1 else (5, 7))), values=("special", 0)),),
                          rows[3][1])
            yield Variant("negative", (In((1, 1, *sizes), values=("range", -3, -1)),), rows[3][1])

    return variants  # fmt: skip


def max_pool(function):
    def reference(x, p, dtype):
        return function(x[0], p["kernel"], p["stride"], p["padding"])

    return reference


def avg_pool(function):
    def reference(x, p, dtype):
        return function(x[0], p["kernel"], p["stride"], p["padding"],
                        count_include_pad=p.get("count_include_pad", True))  # fmt: skip

    return reference


def softmax_variants(dtype):
    for tag, dims, layout, axis in (
        ("r0", (), "contiguous", 0), ("r1", (17,), "sliced", 0), ("r2.first", (3, 5), "contiguous", 0),
        ("r2.last", (3, 5), "permuted", -1), ("r2.expanded", (3, 5), "expanded_last", 1),
        ("r3.middle", (3, 5, 3), "permuted", 1), ("r4", (1, 3, 5, 3), "flipped", 2),
        ("one", (5, 1), "sliced", 1), ("zero.kept", (0, 3), "contiguous", 1),
        ("zero.gone", (3, 0), "contiguous", 1), ("long", (2, 4097), "contiguous", 1),
    ):  # fmt: skip
        yield Variant(tag, (In(dims, layout),), {"axis": axis})
    inf = float("inf")
    rows = [1.0, -inf, 2.0, inf, 1.0, 2.0, -inf, -inf, -inf, float("nan"), 1.0, 2.0, 1e4, 1e4, -1e4]
    yield Variant("special", (In((5, 3), values=("list", rows)),), {"axis": 1})
    for axis in (0, 1):
        yield Variant(f"dynamic.{axis}", (In(("s", 5), "permuted"),), {"axis": axis}, DYNAMIC_SIZES)


def norm_rows(weights):
    for tag, dims, layout in (("r1", (17,), "sliced"), ("r2", (3, 5), "contiguous"),
                              ("r2.permuted", (3, 16), "permuted"), ("r3", (3, 1, 17), "permuted"),
                              ("r3.expanded", (3, 5, 16), "expanded"), ("zero", (0, 5), "contiguous")):  # fmt: skip
        for count in weights:
            extra = tuple(In((dims[-1],), ("contiguous", "sliced")[k]) for k in range(count))
            yield Variant(f"{tag}.w{count}", (In(dims, layout), *extra), {"eps": 1e-5}, length=dims[-1])
    extra = tuple(In((5,)) for _ in range(max(weights)))
    yield Variant("dynamic", (In(("s", 5), "permuted"), *extra), {"eps": 1e-5}, DYNAMIC_SIZES, length=5)


def layer_norm(x, p, dtype):
    return F.layer_norm(x[0], x[0].shape[-1:], *x[1:], eps=p["eps"])


def rms_norm(x, p, dtype):
    return F.rms_norm(x[0], x[0].shape[-1:], *x[1:], eps=p["eps"])


def channel_variants(batch_norm):
    def variants(dtype):
        for tag, dims, layout in (("r2", (3, 4), "permuted"), ("r3", (2, 4, 5), "contiguous"),
                                  ("r3.permuted", (3, 6, 5), "permuted"), ("r4", (2, 4, 3, 5), "sliced")):  # fmt: skip
            c = dims[1]
            p = {"eps": 1e-5} if batch_norm else {"eps": 1e-5, "groups": 2}
            stats = (In((c,), values=UNIT), In((c,), values=("range", 0.5, 2))) if batch_norm else ()
            affine = (In((c,)), In((c,), "sliced"))
            yield Variant(tag, (In(dims, layout), *stats), p, length=1 if batch_norm else 45)
            yield Variant(f"{tag}.affine", (In(dims, layout), *stats, *affine), p, length=45)
        stats = (In((4,), values=UNIT), In((4,), values=("range", 0.5, 2))) if batch_norm else ()
        yield Variant("dynamic", (In(("s", 4, 5), "permuted"), *stats), p, DYNAMIC_SIZES, length=10)

    return variants


def group_norm(x, p, dtype):
    return F.group_norm(x[0], p["groups"], *x[1:], eps=p["eps"])


def batch_norm(x, p, dtype):
    value, mean, var, *affine = x
    return F.batch_norm(value, mean, var, *affine, training=False, eps=p["eps"])


def normalize_variants(dtype):
    for tag, dims, layout, axis in (("r1", (17,), "sliced", 0), ("r2", (3, 5), "permuted", 1),
                                    ("r2.first", (3, 5), "expanded", 0), ("r3", (3, 5, 3), "flipped", 1)):  # fmt: skip
        yield Variant(tag, (In(dims, layout),), {"axis": axis, "eps": 1e-12 if dtype != "f16" else 1e-3})
    yield Variant("zeros", (In((2, 3), values=("list", [0.0])),), {"axis": 1, "eps": 1e-3})


def attention_variants(dtype):
    # (tag, batch, heads, kv heads, queries, keys, size, layout, causal, mask dims)
    for tag, b, h, hk, q, k, d, layout, causal, mask in (
        ("plain", 1, 1, 1, 3, 5, 4, "contiguous", False, None),
        ("heads", 2, 3, 3, 5, 5, 8, "permuted", False, None),
        ("causal", 1, 2, 2, 5, 5, 4, "permuted", True, None),
        ("causal.wide", 1, 2, 2, 3, 5, 4, "contiguous", True, None),
        ("mask", 1, 2, 2, 3, 5, 4, "sliced", False, (3, 5)),
        ("mask.broadcast", 2, 2, 2, 3, 5, 4, "permuted", False, (2, 1, 3, 5)),
        ("grouped", 1, 4, 2, 3, 5, 4, "permuted", False, None),
        ("grouped.causal", 2, 4, 1, 5, 5, 8, "contiguous", True, None),
        ("one", 1, 1, 1, 1, 1, 3, "contiguous", True, None),
        ("long", 1, 1, 1, 2, 257, 4, "contiguous", False, None),
    ):
        inputs = (In((b, h, q, d), layout), In((b, hk, k, d), layout), In((b, hk, k, d), layout))
        if mask:
            yield Variant(f"{tag}.bool", (*inputs, In(mask, values=("list", [True, False, True]), dtype="bool")),
                          {"causal": False, "grouped": h != hk}, length=k)
            inputs += (In(mask, "contiguous"),)
        yield Variant(tag, inputs, {"causal": causal, "grouped": h != hk}, length=k)
        if tag in ("plain", "grouped"):
            past = {"causal": True, "grouped": h != hk, "past": 2}
            yield Variant(f"{tag}.past", inputs, past, length=k)
            yield Variant(f"{tag}.window", inputs, {**past, "window": 2}, length=k)
        if tag == "plain":
            yield Variant("scale", inputs, {"causal": False, "grouped": False, "scale": 0.3}, length=k)
    # The second query sees no key at all.
    hidden = In((3, 5), values=("list", [True] * 5 + [False] * 5 + [True, False] * 2 + [True]), dtype="bool")
    yield Variant("mask.hidden", (In((1, 1, 3, 4)), In((1, 1, 5, 4)), In((1, 1, 5, 4)), hidden),
                  {"causal": False, "grouped": False}, length=5)
    yield Variant("dynamic", (In(("s", 2, 3, 4)), In(("s", 2, 5, 4)), In(("s", 2, 5, 4))),
                  {"causal": False, "grouped": False}, DYNAMIC_SIZES, length=5)  # fmt: skip


def attention(x, p, dtype):
    q, k, v, *mask = x
    if "past" in p:  # keys before the first query; query i sees `window` keys up to i + past
        last = torch.arange(q.shape[-2])[:, None] + p["past"]
        key = torch.arange(k.shape[-2])
        seen = (key <= last) & (key > last - p.get("window", k.shape[-2] + 1))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=p["grouped"])
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask[0] if mask else None,
                                          is_causal=p["causal"], scale=p.get("scale"),
                                          enable_gqa=p["grouped"])  # fmt: skip


def mse_variants(dtype):
    for reduction in ("mean", "sum", "none"):
        for tag, dims, layout in (("r1", (17,), "sliced"), ("r2", (3, 5), "permuted"), ("r0", (), "contiguous")):
            yield Variant(f"{tag}.{reduction}", (In(dims, layout), In(dims)), {"reduction": reduction},
                          length=17)  # fmt: skip


def class_loss_variants(dtype):
    for reduction in ("mean", "sum", "none"):
        for tag, n, c, layout in (("r2", 3, 5, "contiguous"), ("r2.permuted", 5, 3, "permuted"),
                                  ("r2.sliced", 3, 17, "sliced"), ("one", 1, 1, "contiguous")):
            inputs = (In((n, c), layout), In((n,), values=("index", c), dtype="i64"))
            yield Variant(f"{tag}.{reduction}", inputs, {"reduction": reduction}, length=n)
    ignored = In((5,), values=("list", [2, -100, 0, -100, 1]), dtype="i64")
    for reduction in ("mean", "sum", "none"):
        yield Variant(f"ignored.{reduction}", (In((5, 3), "permuted"), ignored), {"reduction": reduction}, length=5)
        yield Variant(f"r3.{reduction}", (In((2, 3, 5), "permuted"), In((2, 5), values=("index", 3), dtype="i64")),
                      {"reduction": reduction}, length=10)
    yield Variant("dynamic", (In(("s", 5), "permuted"), In(("s",), values=("index", 5), dtype="i64")),
                  {"reduction": "mean"}, DYNAMIC_SIZES, length=17)  # fmt: skip


def loss(function):
    return lambda x, p, d: function(*x, reduction=p["reduction"])


def rotary_variants(dtype):
    for tag, dims, layout in (("r2", (5, 6), "permuted"), ("r3", (2, 5, 8), "contiguous"),
                              ("r4", (1, 3, 5, 4), "permuted"), ("r4.sliced", (2, 1, 3, 16), "sliced"),
                              ("zero", (0, 3, 4), "contiguous")):  # fmt: skip
        for pairs in ("halves", "interleaved"):
            x = In(dims, layout)
            yield Variant(f"{tag}.{pairs}", (x,), {"pairs": pairs, "theta": 10000.0, "offset": 0})
            yield Variant(f"{tag}.{pairs}.offset", (x,), {"pairs": pairs, "theta": 500.0, "offset": 7})
        positions = In((dims[-2],), values=("index", 50), dtype="i64")
        yield Variant(f"{tag}.positions", (x, positions), {"pairs": "halves", "theta": 10000.0, "offset": 0})
    yield Variant("dynamic", (In(("s", 6), "permuted"),), {"pairs": "halves", "theta": 10000.0, "offset": 2},
                  DYNAMIC_SIZES)  # fmt: skip


def rotary(x, p, dtype):
    """PyTorch has no such function; this is the definition, computed in f64."""
    value, size = x[0].double(), x[0].shape[-1]
    rows = x[1] if len(x) > 1 else torch.arange(value.shape[-2]) + p["offset"]
    frequency = p["theta"] ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angle = rows.double()[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    if p["pairs"] == "halves":
        a, b = value[..., : size // 2], value[..., size // 2 :]
        turned = torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
    else:
        a, b = value[..., ::2], value[..., 1::2]
        turned = torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    return turned.to(TORCH[dtype])


def op(name, group, reference, variants, tolerance="composite", dtypes=FLOATS):
    return Op(name, group, reference, dtypes, tolerance, variants, f64_yardstick=HALVES)


OPS = (
    op("matmul", "contractions", matmul, matmul_variants, "reduction", NUMBERS),
    op("dot", "contractions", lambda x, p, d: torch.dot(*x), dot_variants, "reduction", NUMBERS),
    op("conv1d", "convolutions and pooling", conv(F.conv1d), conv_variants(1), "reduction", NUMBERS),
    op("conv2d", "convolutions and pooling", conv(F.conv2d), conv_variants(2), "reduction", NUMBERS),
    op("max_pool1d", "convolutions and pooling", max_pool(F.max_pool1d), pool_variants(1, False), "exact"),
    op("max_pool2d", "convolutions and pooling", max_pool(F.max_pool2d), pool_variants(2, False), "exact",
       NUMBERS),
    op("avg_pool1d", "convolutions and pooling", avg_pool(F.avg_pool1d), pool_variants(1, True), "reduction"),
    op("avg_pool2d", "convolutions and pooling", avg_pool(F.avg_pool2d), pool_variants(2, True), "reduction"),
    op("softmax", "softmax and norms", lambda x, p, d: F.softmax(x[0], p["axis"]), softmax_variants),
    op("log_softmax", "softmax and norms", lambda x, p, d: F.log_softmax(x[0], p["axis"]), softmax_variants),
    op("layer_norm", "softmax and norms", layer_norm, lambda d: norm_rows((0, 1, 2))),
    op("rms_norm", "softmax and norms", rms_norm, lambda d: norm_rows((0, 1))),
    op("group_norm", "softmax and norms", group_norm, channel_variants(False)),
    op("batch_norm", "softmax and norms", batch_norm, channel_variants(True)),
    op("normalize", "softmax and norms", lambda x, p, d: F.normalize(x[0], dim=p["axis"], eps=p["eps"]),
       normalize_variants),
    op("scaled_dot_product_attention", "attention", attention, attention_variants),
    op("rotary_embedding", "attention", rotary, rotary_variants),
    op("mse_loss", "losses", loss(F.mse_loss), mse_variants),
    op("cross_entropy", "losses", loss(F.cross_entropy), class_loss_variants),
    op("nll_loss", "losses", loss(F.nll_loss), class_loss_variants),
)  # fmt: skip
