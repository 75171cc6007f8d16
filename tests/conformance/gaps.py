"""The one table of cells of op x dtype that have no case, each with its reason."""

FLOATS = ("f64", "f32", "f16", "bf16")
INTS = ("i64", "i32", "i16", "i8", "u8")

NOT_BOOL = "PyTorch refuses bool here, and so do we"
NOT_FLOAT = "bits of a float have no such operation; PyTorch refuses it too (bitcast first)"
FLOATS_ONLY = "defined for floats; PyTorch refuses integers and bool (cast first)"
NO_INT_POOL = "PyTorch has no kernel for integers in this function; max_pool2d covers integers"
BITCAST_BOOL = "a bool is 0 or 1; other bit patterns are not values of it"
IN_PLACE_BOOL = "the result of the operator isn't bool, or the operator isn't defined for bool"
IN_PLACE_INT = "true division gives a float, which an integer can't hold in place"
SYMBOLIC_BOOL = "a symbolic integer beside bool gives i64; the promotion cases of add cover it"
CLASSES_ARE_I64 = "indices are i64 or i32"
NO_ACCUMULATE = "the sum of bool is not bool"


def _for(dtypes, reason):
    return {d: reason for d in dtypes}


_FLOATS_ONLY = _for((*INTS, "bool"), FLOATS_ONLY)
_NOT_BOOL = {"bool": NOT_BOOL}
_NOT_FLOAT = _for(FLOATS, NOT_FLOAT)
_IN_PLACE = {"bool": IN_PLACE_BOOL}
_SYMBOLIC = {"bool": SYMBOLIC_BOOL}

EXPLAINED_GAPS = {
    **{op: _NOT_BOOL for op in (
        "sub", "remainder", "fmod", "floor_divide", "pow", "abs", "neg", "floor", "ceil", "round",
        "trunc", "relu", "clamp", "argmax", "argmin", "matmul", "dot", "conv1d", "conv2d",
        "max_pool2d", "arange")},
    **{op: _FLOATS_ONLY for op in (
        "gelu", "gelu_tanh", "silu", "softplus", "leaky_relu", "mean", "var", "std", "softmax",
        "log_softmax", "layer_norm", "rms_norm", "group_norm", "batch_norm", "normalize",
        "scaled_dot_product_attention", "rotary_embedding", "mse_loss", "cross_entropy",
        "nll_loss", "avg_pool1d", "avg_pool2d")},
    **{op: _NOT_FLOAT for op in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")},
    **{op: {**_NOT_FLOAT, **_NOT_BOOL} for op in ("bitwise_left_shift", "bitwise_right_shift")},
    **{op: _IN_PLACE for op in ("iadd", "isub", "imul")},
    "idiv": {**_for(INTS, IN_PLACE_INT), **_IN_PLACE},
    **{op: _SYMBOLIC for op in ("add_symbolic", "mul_symbolic", "lt_symbolic")},
    "max_pool1d": _for((*INTS, "bool"), NO_INT_POOL),
    "bitcast": {"bool": BITCAST_BOOL},
    "scatter_add": {"bool": NO_ACCUMULATE},
    "one_hot": _for((*FLOATS, "i16", "i8", "u8", "bool"), CLASSES_ARE_I64),
}  # fmt: skip

# Functions that have no row of their own, and the row that runs them.
COVERED_BY = {
    "function": "the macro's own parameter",
    "operator": "the operators are what the rows of arithmetic and comparison call",
    "pad_axis": "pad",
    "stddev": "std, which is PyTorch's name and that of the method",
    "full": "masked_fill, pad",
    "zeros": "masked_fill",
    "ones": "masked_fill",
    "dequantise": "tests/io/gguf_blocks_test, bit by bit, on each back end",
}

# Where our result differs from PyTorch's by design; the cases leave these inputs out.
KNOWN_DIFFERENCES = {
    "div": "`a / b` is `a * (1 / b)`: a divisor so small that its reciprocal overflows (below 2^-128 "
           "in f32) gives an infinity or NaN where the quotient would be finite",
}  # fmt: skip


def reason(op, dtype):
    return EXPLAINED_GAPS.get(op, {}).get(dtype)


# Ops whose leading dim can't be a variable although PyTorch takes any size.
WANTS_KNOWN_SIZES = {
    "chunk": "the number of pieces follows from the size, and a graph's outputs are fixed",
}
