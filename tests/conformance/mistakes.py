"""Mistakes that the matrix must catch: (file, original, mistaken, what it is, cases near it).

plant.py compiles them all into one binary, each behind a switch; catch_mistakes.py checks that the
named cases pass without the mistake and fail with it. When a source changes so that an original is
no longer found, update the entry (or plant another mistake of the same kind).
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mistake:
    file: str
    original: str
    mistaken: str
    what: str
    cases: tuple
    statement: bool = False  # a statement, switched by if/else instead of ?:


def _in(folder):
    def make(file, original, mistaken, what, *cases, statement=False):
        return Mistake(f"luminal/{folder}/{file}", original, mistaken, what, cases, statement)

    return make


_interpret = _in("graph/interpret")
_composite = _in("graph/composite")
_graph = _in("graph")
_shape = _in("shape")
_neural = _in("graph/neural")
_operands = _in("graph/operands")

MISTAKES = (
    # Element-wise primitives.
    _interpret("scalar_ops.cpp", "a % b", "(a % b + b) % b",
               "the rest of integers takes the sign of the divisor", "fmod/i*"),
    _interpret("scalar_ops.cpp", "std::fmod(a, b)", "std::remainder(a, b)",
               "the rest of floats is of the nearest quotient", "fmod/f32/*"),
    _interpret("scalar_ops.cpp", "in[0][j].real < in[1][j].real", "in[0][j].real <= in[1][j].real",
               "less-than is true for equal floats", "lt/f32/*"),
    _interpret("scalar_ops.cpp", "in[0][j].real == in[1][j].real",
               "!(in[0][j].real < in[1][j].real) && !(in[1][j].real < in[0][j].real)",
               "NaN equals everything", "eq/f32/*"),
    _interpret("scalar_ops.cpp", "return a < b;",
               "return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);",
               "integers compare as unsigned", "lt/i8/*", statement=True),
    _interpret("scalar_ops.cpp", "static_cast<double>(in[0][j].integer)",
               "static_cast<double>(static_cast<float>(in[0][j].integer))",
               "integers become floats by way of f32", "cast/i64/*"),
    _interpret("scalar_ops.cpp", "operands[0][j].integer ? operands[1][j] : operands[2][j]",
               "operands[0][j].integer ? operands[2][j] : operands[1][j]",
               "select takes the other side", "where/i32/*"),
    _interpret("scalar_ops.cpp", "std::isnan(a) || std::isnan(b)", "std::isnan(a) && std::isnan(b)",
               "a maximum ignores NaN", "max/f32/*"),
    # Reductions and scans.
    _interpret("scalar_ops.cpp", "-kInfinity", "0.0",
               "the maximum of floats starts at 0", "max/f32/*"),
    _interpret("scalar_ops.cpp", "-(int64_t{1} << (bits(dtype) - 2)) * 2", "int64_t{0}",
               "the maximum of integers starts at 0", "max/i16/*"),
    _interpret("scalar_ops.cpp", "Lane{.real = 1}", "Lane{.real = 0}",
               "the product of floats starts at 0", "prod/f32/*"),
    _interpret("scalar_ops.cpp", "so_far.real + value.real", "round_to(dtype, so_far.real + value.real)",
               "a sum rounds to its dtype after each term", "sum/bf16/*", "sum/f16/*"),
    _interpret("interpreter.cpp", "total.take(k, lanes[j]);",
               "if (k + 1 < row || row == 1) total.take(k, lanes[j]);",
               "a reduction leaves out the last element", "sum/f32/r2*", statement=True),
    _interpret("interpreter.cpp",
               "row_so_far.scan(out[j]);\n        out[j] = row_so_far.so_far();",
               "const Lane before = row_so_far.so_far(); row_so_far.scan(out[j]); out[j] = before;",
               "a scan is exclusive", "cumsum/f32/*", statement=True),
    _interpret("interpreter.cpp", "evaluate(node.inputs[0], room.indices, out);",
               "evaluate(node.inputs[0], room.indices, out); row_so_far.restart();",
               "a scan starts anew at each block", "cumsum/i32/long", statement=True),
    # Indexing.
    _interpret("interpreter.cpp", "row[j] = rows[j].integer;",
               "row[j] = rows[j].integer > 0 ? rows[j].integer - 1 : 0;",
               "gather reads the row before", "embedding/f32/*", statement=True),
    _interpret("interpreter.cpp", "combine(arithmetic(), *reducer, node.dtype, node.dtype, target, value)", "value",
               "an adding scatter replaces", "index_put/f32/*"),
    _interpret("index_eval.cpp", "return a < b;", "return a <= b;",
               "a boundary of positions is one off", "concat/f32/*", "pad/f32/*", statement=True),
    # Elements.
    _shape("scalar.cpp", "(uint64_t{1} << (drop - 1)) - 1 + ((bits >> drop) & 1)", "uint64_t{0}",
           "16-bit floats round toward zero", "add/bf16/*"),
    _shape("scalar.cpp", "std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit)", "0.0",
           "subnormals of 16-bit floats flush to zero", "mul/f16/special", "cast/f32/to-f16*"),
    _shape("scalar.cpp", "return std::copysign(std::numeric_limits<double>::infinity(), value);",
           "return std::copysign(std::ldexp(2.0 - std::ldexp(1.0, -format.mantissa), "
           "format.max_exponent), value);",
           "overflow saturates instead of giving infinity", "cast/f32/to-f16*", statement=True),
    _shape("scalar.cpp", "wrap_to(dtype, static_cast<int64_t>(value))",
           "wrap_to(dtype, static_cast<int64_t>(std::floor(value)))",
           "a cast to integer rounds down", "cast/f32/to-i32*"),
    _shape("scalar.cpp", "return static_cast<Integer>(value);",
           "constexpr int64_t most = std::numeric_limits<Integer>::max(); "
           "return value > most ? most : value < -most - 1 ? -most - 1 : value;",
           "integers saturate instead of wrapping", "mul/i8/*", "add/i8/*", statement=True),
    # Views.
    _shape("index_map.cpp", "i >= before && i < before + source[at]",
           "i >= before && i < before + source[at] - 1",
           "padding starts one element early", "pad/i32/*"),
    _shape("index_map.cpp", "exprs.back() * dilation", "exprs.back()",
           "windows forget their dilation", "conv1d/f32/dilation"),
    _shape("index_map.cpp", "exprs[at] * step", "exprs[at]",
           "windows forget their step", "unfold/f32/*"),
    _shape("index_map.cpp", "start + Expr::index(axis, size) * step", "start + Expr::index(axis, size)",
           "a slice forgets its step", "slice/f32/*"),
    _shape("index_map.cpp", "position * dims[k] + indices[k]", "indices[k] * dims[0] + position",
           "a reshape counts the first axis fastest", "reshape/f32/*"),
    _composite("tensor_views.cpp", "(Expr::index(which, size) - shift) % size",
           "(Expr::index(which, size) + shift) % size", "roll goes the other way", "roll/f32/*"),
    _composite("tensor_views.cpp", "index % source[i]", "index / times[added + i]",
           "repeat repeats elements instead of tiling", "repeat/f32/*"),
    _composite("tensor_views.cpp", "axis < 0 ? axis + places : axis", "axis < 0 ? axis + places - 1 : axis",
           "unsqueeze counts negative axes one off", "unsqueeze/f32/*"),
    _composite("tensor_views.cpp", "bound.upper_bound() < 0 ? bound + size : bound",
           "bound.upper_bound() < 0 ? bound + size - 1 : bound",
           "a negative slice bound is one off", "slice/f32/*"),
    _composite("tensor_views.cpp", "IndexMap::slice(dims(), which, from, size, 1)",
           "IndexMap::slice(dims(), which, 0, size, 1)", "narrow forgets its start", "narrow/f32/*"),
    # Broadcasting and promotion.
    _operands("axes.cpp", "i + a.size() >= rank ? a[i + a.size() - rank] : Expr(1)",
               "i < a.size() ? a[i] : Expr(1)", "broadcasting aligns at the first axis", "add/f32/*"),
    _operands("axes.cpp", "axis < 0 ? axis + axes : axis", "axis < 0 ? axis + axes - 1 : axis",
               "negative axes are one off", "softmax/f32/r2.last"),
    _operands("promotion.cpp", "is_float(dtype) ? dtype : DType::F32",
               "is_float(dtype) ? dtype : dtype == DType::I64 ? DType::F64 : DType::F32",
               "the square root of i64 is f64", "sqrt/i64/*"),
    # Arithmetic and mathematics.
    _composite("arithmetic.cpp", "prim::select(wrong_side(m, b), prim::add(m, b), m)", "m",
               "the remainder has the sign of the dividend", "remainder/f32/*"),
    _composite("arithmetic.cpp", "prim::select(wrong_side(prim::mod(a, b), b), less, quotient)",
               "quotient", "floor division of integers truncates", "floor_divide/i32/*"),
    _composite("arithmetic.cpp",
               "function(prim::full(b.graph(), Dims(b.dims()), a, dtype), b.cast(dtype))",
               "function(b.cast(dtype), prim::full(b.graph(), Dims(b.dims()), a, dtype))",
               "a number on the left goes to the right", "sub/f32/number-left"),
    _composite("math.cpp", "logical_and(eq(rest, 0.5), odd)", "eq(rest, 0.5)",
               "halves round up instead of to even", "round/f32/*"),
    _composite("pow.cpp", "where(logical_and(negative, odd), -result, result)", "result",
               "odd powers of negative numbers lose their sign", "pow/f32/*"),
    _neural("activation.cpp", "v * 0.5 * (erf(v * (1 / std::numbers::sqrt2)) + 1.0)",
               "v * 0.5 * (erf(v) + 1.0)", "gelu forgets the root of two", "gelu/f32/*"),
    # Reductions over axes.
    _composite("reduce.cpp", "max(count_over(\"var\", x, axes) - options.correction, 0)",
               "max(count_over(\"var\", x, axes), 0)", "variance forgets its correction", "var/f32/*"),
    _composite("reduce.cpp", "for (int axis : reduced) result = result.unsqueeze(axis);",
               "for (size_t i = 0; i < reduced.size(); ++i) result = result.unsqueeze(0);",
               "keepdim puts the kept axes first", "sum/f32/*", statement=True),
    _composite("reduce.cpp", "size - 1 - Expr::index(x.rank() - 1, size)",
               "Expr::index(x.rank() - 1, size)", "argmax gives the last place, mirrored", "argmax/i32/*"),
    _composite("reduce.cpp", "is_float(x.dtype()) ? x : x.cast(DType::I64)", "x",
               "the sum of small integers wraps", "sum/i8/*"),
    # Contractions, windows, norms.
    _composite("matmul.cpp", "i + batch - own_batch", "i",
               "batch axes of a matmul align at the first", "matmul/f32/r4*"),
    _neural("conv.cpp", "paddings[at(first + i)] = {window.padding, window.padding};",
               "paddings[at(first + i)] = {window.padding + window.padding, 0};",
               "all padding goes to one side", "conv1d/f32/padding", statement=True),
    _neural("conv.cpp", "lowest(x.dtype())", "Scalar(0)",
               "padding wins over negative elements in a max pool", "max_pool1d/f32/*"),
    _neural("conv.cpp", "!count_include_pad", "false", "an average counts padding", "avg_pool1d/f32/*"),
    _neural("norm.cpp", "mean(square(v), axes, {.keepdim = true}) + floor",
               "mean(square(v), axes, {.keepdim = true}) + floor + 0.01", "rms_norm adds another epsilon",
               "rms_norm/f32/*"),
    _neural("softmax.cpp", "exp(v - max(v, which, {.keepdim = true}))", "exp(v)",
               "softmax overflows", "softmax/f32/*"),
    # Attention, indexing, losses.
    _neural("attention.cpp", "last >= key", "last >= key + 1",
               "a query doesn't see its own key", "scaled_dot_product_attention/f32/causal"),
    _neural("attention.cpp", "apart.expand(dims).merge_dims(heads)",
               "apart.expand(dims).transpose(heads, heads + 1).merge_dims(heads)",
               "kv heads repeat in turn", "scaled_dot_product_attention/f32/grouped*"),
    _composite("movement.cpp", "lower ? row >= column : column >= row",
               "lower ? row >= column + 1 : column >= row", "tril leaves out its diagonal", "tril/i32/*"),
    _composite("indexing.cpp", "along * strides[at(axis)]", "along * strides[0]",
               "gather picks along the first axis", "gather/f32/*"),
    _neural("loss.cpp", "sum(losses) / sum(counts.cast(losses.dtype()))", "mean(losses)",
               "the mean loss counts ignored targets", "nll_loss/f32/*"),
    _neural("rotary.cpp", "2 * is_second - 1", "1 - 2 * is_second",
               "rotation goes backwards", "rotary_embedding/f32/*"),
)  # fmt: skip
