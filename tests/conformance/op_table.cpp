// One entry per op; sorted by group as in docs/ops.md.
#include "tests/conformance/op_table.h"

#include <optional>

#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/loss.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/norm.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/composite/rotary.h"
#include "luminal/graph/composite/softmax.h"

namespace luminal::conformance {
namespace {

using Table = std::map<std::string, Build>;
using Args = std::vector<Tensor>;

Scalar number_of(const Json& json) {
  if (json.is_boolean()) return Scalar(json.get<bool>());
  if (json.is_number_integer()) return Scalar(json.get<int64_t>());
  return Scalar(json.get<double>());
}

std::optional<Scalar> optional_number(const Json& params, const char* key) {
  if (!params.contains(key)) return std::nullopt;
  return number_of(params[key]);
}

std::optional<Tensor> optional_arg(const Args& args, size_t position) {
  if (position >= args.size()) return std::nullopt;
  return args[position];
}

DType dtype_param(const Json& params, const char* key) {
  return dtype_from_name(params.at(key).get<std::string>()).value();
}

Build unary(Tensor (*function)(const Tensor&)) {
  return [function](Graph&, const Args& args, const Json&) { return function(args[0]); };
}

// Two tensors, or one and a number on either side.
template <typename Function>
Build binary(Function function) {
  return [function](Graph&, const Args& args, const Json& params) -> Tensor {
    if (!params.contains("number")) return function(args[0], args[1]);
    Scalar number = number_of(params["number"]);
    if (params.at("side") == "left") return function(number, args[0]);
    return function(args[0], number);
  };
}

// One tensor and the size of its first dim, as an expression, on either side.
template <typename Function>
Build symbolic(Function function) {
  return [function](Graph&, const Args& args, const Json& params) -> Tensor {
    Scalar size(args[0].dim(0));
    if (params.at("side") == "left") return function(size, args[0]);
    return function(args[0], size);
  };
}

template <typename Function>
Build compound(Function function) {
  return [function](Graph&, const Args& args, const Json& params) {
    Tensor result = args[0];
    if (params.contains("number"))
      function(result, number_of(params["number"]));
    else
      function(result, args[1]);
    return result;
  };
}

#define LUMINAL_BOTH(function) \
  binary([](const auto& a, const auto& b) -> Tensor { return function(a, b); })
#define LUMINAL_OPERATOR(op) binary([](const auto& a, const auto& b) -> Tensor { return a op b; })

void add_arithmetic(Table& table) {
  table["add"] = LUMINAL_OPERATOR(+);
  table["sub"] = LUMINAL_OPERATOR(-);
  table["mul"] = LUMINAL_OPERATOR(*);
  table["div"] = LUMINAL_OPERATOR(/);
  table["remainder"] = LUMINAL_OPERATOR(%);
  table["fmod"] = LUMINAL_BOTH(fmod);
  table["floor_divide"] = LUMINAL_BOTH(floor_divide);
  table["minimum"] = LUMINAL_BOTH(minimum);
  table["maximum"] = LUMINAL_BOTH(maximum);
  table["pow"] = LUMINAL_BOTH(pow);
  table["iadd"] = compound([](Tensor& a, const auto& b) { a += b; });
  table["isub"] = compound([](Tensor& a, const auto& b) { a -= b; });
  table["imul"] = compound([](Tensor& a, const auto& b) { a *= b; });
  table["idiv"] = compound([](Tensor& a, const auto& b) { a /= b; });
  table["add_symbolic"] = symbolic([](const auto& a, const auto& b) { return a + b; });
  table["mul_symbolic"] = symbolic([](const auto& a, const auto& b) { return a * b; });
  table["lt_symbolic"] = symbolic([](const auto& a, const auto& b) { return a < b; });
  table["eq"] = LUMINAL_BOTH(eq);
  table["ne"] = LUMINAL_BOTH(ne);
  table["lt"] = LUMINAL_OPERATOR(<);
  table["le"] = LUMINAL_OPERATOR(<=);
  table["gt"] = LUMINAL_OPERATOR(>);
  table["ge"] = LUMINAL_OPERATOR(>=);
  table["logical_and"] = LUMINAL_BOTH(logical_and);
  table["logical_or"] = LUMINAL_BOTH(logical_or);
  table["logical_xor"] = LUMINAL_BOTH(logical_xor);
  table["bitwise_and"] = LUMINAL_BOTH(bitwise_and);
  table["bitwise_or"] = LUMINAL_BOTH(bitwise_or);
  table["bitwise_xor"] = LUMINAL_BOTH(bitwise_xor);
  table["bitwise_left_shift"] = LUMINAL_BOTH(bitwise_left_shift);
  table["bitwise_right_shift"] = LUMINAL_BOTH(bitwise_right_shift);
}

#undef LUMINAL_BOTH
#undef LUMINAL_OPERATOR

void add_mathematics(Table& table) {
  table["exp"] = unary(exp);
  table["exp2"] = unary(exp2);
  table["log"] = unary(log);
  table["log2"] = unary(log2);
  table["sin"] = unary(sin);
  table["cos"] = unary(cos);
  table["tan"] = unary(tan);
  table["sqrt"] = unary(sqrt);
  table["rsqrt"] = unary(rsqrt);
  table["square"] = unary(square);
  table["reciprocal"] = unary(reciprocal);
  table["abs"] = unary(abs);
  table["neg"] = [](Graph&, const Args& args, const Json&) { return -args[0]; };
  table["sign"] = unary(sign);
  table["floor"] = unary(floor);
  table["ceil"] = unary(ceil);
  table["round"] = unary(round);
  table["trunc"] = unary(trunc);
  table["isnan"] = unary(isnan);
  table["isinf"] = unary(isinf);
  table["isfinite"] = unary(isfinite);
  table["erf"] = unary(erf);
  table["bitwise_not"] = unary(bitwise_not);
  table["logical_not"] = unary(logical_not);
  table["clamp"] = [](Graph&, const Args& args, const Json& p) {
    return clamp(args[0], optional_number(p, "low"), optional_number(p, "high"));
  };
  table["where"] = [](Graph&, const Args& args, const Json&) {
    return where(args[0], args[1], args[2]);
  };
  table["cast"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].cast(dtype_param(p, "to"));
  };
  table["bitcast"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].bitcast(dtype_param(p, "to"));
  };
}

void add_activations(Table& table) {
  table["relu"] = unary(relu);
  table["gelu"] = [](Graph&, const Args& args, const Json&) { return gelu(args[0]); };
  table["gelu_tanh"] = [](Graph&, const Args& args, const Json&) {
    return gelu(args[0], GeluApproximation::Tanh);
  };
  table["silu"] = unary(silu);
  table["sigmoid"] = unary(sigmoid);
  table["tanh"] = unary(tanh);
  table["softplus"] = [](Graph&, const Args& args, const Json& p) {
    return softplus(args[0], {.beta = p.at("beta"), .threshold = p.at("threshold")});
  };
  table["leaky_relu"] = [](Graph&, const Args& args, const Json& p) {
    return leaky_relu(args[0], p.at("slope").get<double>());
  };
}

std::vector<int> ints(const Json& json) { return json.get<std::vector<int>>(); }

void add_views(Table& table) {
  table["permute"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].permute(ints(p.at("order")));
  };
  table["transpose"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].transpose(p.at("a"), p.at("b"));
  };
  table["t"] = [](Graph&, const Args& args, const Json&) { return args[0].t(); };
  table["reshape"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].reshape(dims_of(p.at("dims")));
  };
  table["flatten"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].flatten(p.at("first"), p.at("last"));
  };
  table["squeeze"] = [](Graph&, const Args& args, const Json& p) {
    return p.contains("axis") ? args[0].squeeze(p["axis"].get<int>()) : args[0].squeeze();
  };
  table["unsqueeze"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].unsqueeze(p.at("axis"));
  };
  table["expand"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].expand(dims_of(p.at("dims")));
  };
  table["merge_dims"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].merge_dims(p.at("first"), p.at("count"));
  };
  table["split_dims"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].split_dims(p.at("axis"), dims_of(p.at("factors")));
  };
  table["slice"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].slice(p.at("axis"), size_of(p.at("start")), size_of(p.at("stop")),
                         size_of(p.at("step")));
  };
  table["select"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].select(p.at("axis"), size_of(p.at("index")));
  };
  table["narrow"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].narrow(p.at("axis"), size_of(p.at("start")), size_of(p.at("size")));
  };
  table["unfold"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].unfold(p.at("axis"), size_of(p.at("size")), size_of(p.at("step")));
  };
  table["flip"] = [](Graph&, const Args& args, const Json& p) {
    Tensor result = args[0];
    for (int axis : ints(p.at("axes"))) result = result.flip({axis});
    return result;
  };
  table["roll"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].roll(size_of(p.at("shift")), p.at("axis"));
  };
  table["repeat"] = [](Graph&, const Args& args, const Json& p) {
    return args[0].repeat(dims_of(p.at("times")));
  };
}

// PyTorch lists paddings from the last axis on, two numbers each.
std::vector<Padding> paddings_of(const Json& padding, int rank) {
  std::vector<Padding> result(static_cast<size_t>(rank));
  for (size_t k = 0; 2 * k < padding.size(); ++k) {
    Padding& axis = result[result.size() - 1 - k];
    axis = {.before = size_of(padding[2 * k]), .after = size_of(padding[2 * k + 1])};
  }
  return result;
}

void add_movement(Table& table) {
  table["pad"] = [](Graph&, const Args& args, const Json& p) {
    return pad(args[0], paddings_of(p.at("padding"), args[0].rank()), number_of(p.at("value")));
  };
  table["concat"] = [](Graph&, const Args& args, const Json& p) {
    return concat(args, p.at("axis").get<int>());
  };
  table["stack"] = [](Graph&, const Args& args, const Json& p) {
    return stack(args, p.at("axis").get<int>());
  };
  table["chunk"] = [](Graph&, const Args& args, const Json& p) {
    return chunk(args[0], p.at("chunks"), p.at("axis")).at(p.at("part"));
  };
  table["split"] = [](Graph&, const Args& args, const Json& p) {
    return split(args[0], dims_of(p.at("sizes")), p.at("axis")).at(p.at("part"));
  };
  table["tril"] = [](Graph&, const Args& args, const Json& p) {
    return tril(args[0], size_of(p.at("diagonal")));
  };
  table["triu"] = [](Graph&, const Args& args, const Json& p) {
    return triu(args[0], size_of(p.at("diagonal")));
  };
}

Axes axes_of(const Json& params) {
  const Json& axes = params.at("axes");
  return axes.is_null() ? Axes() : Axes(ints(axes));
}

Build reduction(Tensor (*function)(const Tensor&, const Axes&, const ReduceOptions&)) {
  return [function](Graph&, const Args& args, const Json& p) {
    return function(args[0], axes_of(p), {.keepdim = p.at("keepdim")});
  };
}

Build spread(Tensor (*function)(const Tensor&, const Axes&, const VarOptions&)) {
  return [function](Graph&, const Args& args, const Json& p) {
    return function(args[0], axes_of(p),
                    {.correction = p.at("correction"), .keepdim = p.at("keepdim")});
  };
}

Build position(Tensor (*function)(const Tensor&, std::optional<int>, const ReduceOptions&)) {
  return [function](Graph&, const Args& args, const Json& p) {
    std::vector<int> axes = axes_of(p).list;
    std::optional<int> axis = axes.empty() ? std::nullopt : std::optional(axes[0]);
    return function(args[0], axis, {.keepdim = p.at("keepdim")});
  };
}

Build along(Tensor (*function)(const Tensor&, int)) {
  return [function](Graph&, const Args& args, const Json& p) {
    return function(args[0], p.at("axis").get<int>());
  };
}

void add_reductions(Table& table) {
  table["sum"] = reduction(sum);
  table["prod"] = reduction(prod);
  table["mean"] = reduction(mean);
  table["max"] = reduction(max);
  table["min"] = reduction(min);
  table["any"] = reduction(any);
  table["all"] = reduction(all);
  table["logsumexp"] = reduction(logsumexp);
  table["var"] = spread(var);
  table["std"] = spread(luminal::stddev);
  table["argmax"] = position(argmax);
  table["argmin"] = position(argmin);
  table["cumsum"] = along(cumsum);
  table["cumprod"] = along(cumprod);
  table["cummax"] = along(cummax);
  table["softmax"] = along(softmax);
  table["log_softmax"] = along(log_softmax);
}

Size2 pair_of(const Json& json) { return Size2(size_of(json[0]), size_of(json[1])); }

void add_contractions(Table& table) {
  table["matmul"] = [](Graph&, const Args& args, const Json& p) {
    return p.contains("swap") ? matmul(args[1], args[0]) : matmul(args[0], args[1]);
  };
  table["dot"] = [](Graph&, const Args& args, const Json&) { return dot(args[0], args[1]); };
  table["conv1d"] = [](Graph&, const Args& args, const Json& p) {
    return conv1d(args[0], args[1], optional_arg(args, 2),
                  {.stride = size_of(p.at("stride")[0]),
                   .padding = size_of(p.at("padding")[0]),
                   .dilation = size_of(p.at("dilation")[0]),
                   .groups = p.at("groups")});
  };
  table["conv2d"] = [](Graph&, const Args& args, const Json& p) {
    return conv2d(args[0], args[1], optional_arg(args, 2),
                  {.stride = pair_of(p.at("stride")),
                   .padding = pair_of(p.at("padding")),
                   .dilation = pair_of(p.at("dilation")),
                   .groups = p.at("groups")});
  };
}

Build pool1d(Tensor (*function)(const Tensor&, Expr, const Pool1dOptions&)) {
  return [function](Graph&, const Args& args, const Json& p) {
    return function(args[0], size_of(p.at("kernel")[0]),
                    {.stride = size_of(p.at("stride")[0]),
                     .padding = size_of(p.at("padding")[0]),
                     .count_include_pad = p.value("count_include_pad", true)});
  };
}

Build pool2d(Tensor (*function)(const Tensor&, const Size2&, const Pool2dOptions&)) {
  return [function](Graph&, const Args& args, const Json& p) {
    return function(args[0], pair_of(p.at("kernel")),
                    {.stride = pair_of(p.at("stride")),
                     .padding = pair_of(p.at("padding")),
                     .count_include_pad = p.value("count_include_pad", true)});
  };
}

void add_pools(Table& table) {
  table["max_pool1d"] = pool1d(max_pool1d);
  table["max_pool2d"] = pool2d(max_pool2d);
  table["avg_pool1d"] = pool1d(avg_pool1d);
  table["avg_pool2d"] = pool2d(avg_pool2d);
}

void add_norms(Table& table) {
  table["layer_norm"] = [](Graph&, const Args& args, const Json& p) {
    return layer_norm(args[0], {args[0].dim(-1)}, optional_arg(args, 1), optional_arg(args, 2),
                      p.at("eps"));
  };
  table["rms_norm"] = [](Graph&, const Args& args, const Json& p) {
    return rms_norm(args[0], {args[0].dim(-1)}, optional_arg(args, 1), p.at("eps").get<double>());
  };
  table["group_norm"] = [](Graph&, const Args& args, const Json& p) {
    return group_norm(args[0], p.at("groups"), optional_arg(args, 1), optional_arg(args, 2),
                      p.at("eps"));
  };
  table["batch_norm"] = [](Graph&, const Args& args, const Json& p) {
    return batch_norm(args[0], args[1], args[2], optional_arg(args, 3), optional_arg(args, 4),
                      p.at("eps"));
  };
  table["normalize"] = [](Graph&, const Args& args, const Json& p) {
    return normalize(args[0], p.at("axis"), p.at("eps"));
  };
}

void add_attention(Table& table) {
  table["scaled_dot_product_attention"] = [](Graph&, const Args& args, const Json& p) {
    AttentionOptions options{.causal = p.at("causal"), .mask = optional_arg(args, 3)};
    if (p.contains("past")) options.past = size_of(p["past"]);
    if (p.contains("window")) options.window = size_of(p["window"]);
    if (p.contains("scale")) options.scale = p["scale"].get<double>();
    return scaled_dot_product_attention(args[0], args[1], args[2], options);
  };
  table["rotary_embedding"] = [](Graph&, const Args& args, const Json& p) {
    bool halves = p.at("pairs") == "halves";
    return rotary_embedding(args[0],
                            {.pairs = halves ? RotaryPairs::Halves : RotaryPairs::Interleaved,
                             .theta = p.at("theta"),
                             .offset = size_of(p.at("offset")),
                             .positions = optional_arg(args, 1)});
  };
}

LossReduction loss_reduction(const Json& params) {
  std::string text = params.at("reduction");
  if (text == "sum") return LossReduction::Sum;
  return text == "none" ? LossReduction::None : LossReduction::Mean;
}

void add_losses(Table& table) {
  table["mse_loss"] = [](Graph&, const Args& args, const Json& p) {
    return mse_loss(args[0], args[1], loss_reduction(p));
  };
  table["cross_entropy"] = [](Graph&, const Args& args, const Json& p) {
    return cross_entropy(args[0], args[1], {.reduction = loss_reduction(p)});
  };
  table["nll_loss"] = [](Graph&, const Args& args, const Json& p) {
    return nll_loss(args[0], args[1], {.reduction = loss_reduction(p)});
  };
}

void add_indexing(Table& table) {
  table["embedding"] = [](Graph&, const Args& args, const Json&) {
    return embedding(args[0], args[1]);
  };
  table["gather"] = [](Graph&, const Args& args, const Json& p) {
    return gather(args[0], p.at("axis"), args[1]);
  };
  table["scatter"] = [](Graph&, const Args& args, const Json& p) {
    return scatter(args[0], p.at("axis"), args[1], args[2]);
  };
  table["scatter_add"] = [](Graph&, const Args& args, const Json& p) {
    return scatter_add(args[0], p.at("axis"), args[1], args[2]);
  };
  table["index_select"] = [](Graph&, const Args& args, const Json& p) {
    return index_select(args[0], p.at("axis"), args[1]);
  };
  table["index_put"] = [](Graph&, const Args& args, const Json& p) {
    return index_put(args[0], args[1], args[2], {.accumulate = p.at("accumulate")});
  };
  table["masked_fill"] = [](Graph&, const Args& args, const Json& p) {
    return masked_fill(args[0], args[1], number_of(p.at("value")));
  };
  table["arange"] = [](Graph& graph, const Args&, const Json& p) {
    return arange(graph, size_of(p.at("start")), size_of(p.at("stop")), size_of(p.at("step")),
                  dtype_param(p, "dtype"));
  };
  table["eye"] = [](Graph& graph, const Args&, const Json& p) {
    return eye(graph, size_of(p.at("rows")), size_of(p.at("columns")), dtype_param(p, "dtype"));
  };
  table["one_hot"] = [](Graph&, const Args& args, const Json& p) {
    return one_hot(args[0], size_of(p.at("classes")));
  };
}

Table make_table() {
  Table table;
  add_arithmetic(table);
  add_mathematics(table);
  add_activations(table);
  add_views(table);
  add_movement(table);
  add_reductions(table);
  add_contractions(table);
  add_pools(table);
  add_norms(table);
  add_attention(table);
  add_losses(table);
  add_indexing(table);
  return table;
}

}  // namespace

const Table& op_table() {
  static const Table table = make_table();
  return table;
}

Expr dynamic_size() { return Expr::var("s", 0, 4096); }

Expr size_of(const Json& json) {
  if (json.is_number_integer()) return Expr(json.get<int64_t>());
  ParseScope scope;
  scope.variables = {dynamic_size()};
  scope.declared_only = true;
  return parse_expr(json.get<std::string>(), scope);
}

Dims dims_of(const Json& json) {
  Dims dims;
  for (const Json& dim : json) dims.push_back(size_of(dim));
  return dims;
}

}  // namespace luminal::conformance
