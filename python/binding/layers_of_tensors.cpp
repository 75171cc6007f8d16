// Functions of several tensors: products, indexing, movement, convolutions, norms, attention,
// losses.
#include "binding/binding.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/loss.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/norm.h"
#include "luminal/graph/composite/rotary.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

using OptionalTensor = std::optional<Tensor>;

void add_products(Module& parts) {
  parts.module.def("matmul", &matmul, "a"_a, "b"_a);
  parts.module.def("dot", &dot, "a"_a, "b"_a);
  parts.tensor.def("matmul", &matmul, "b"_a);
  parts.tensor.def("dot", &dot, "b"_a);
  parts.tensor.def("__matmul__", &matmul, nb::is_operator());
}

void add_indexing(Module& parts) {
  parts.module.def(
      "embedding",
      [](const Tensor& weight, const Tensor& index) { return embedding(weight, index); },
      "weight"_a, "index"_a);
  parts.both(
      "gather",
      [](const Tensor& x, int axis, const Tensor& index) { return gather(x, axis, index); },
      "axis"_a, "index"_a);
  parts.both("index_select", &index_select, "axis"_a, "index"_a);
  parts.both(
      "scatter",
      [](const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
        return scatter(x, axis, index, src);
      },
      "axis"_a, "index"_a, "src"_a);
  parts.both(
      "scatter",
      [](const Tensor& x, int axis, const Tensor& index, const Scalar& src) {
        return scatter(x, axis, index, src);
      },
      "axis"_a, "index"_a, "src"_a);
  parts.both("scatter_add", &scatter_add, "axis"_a, "index"_a, "src"_a);
  parts.both(
      "index_put",
      [](const Tensor& x, const Tensor& index, const Tensor& values, bool accumulate) {
        return index_put(x, index, values, {.accumulate = accumulate});
      },
      "index"_a, "values"_a, "accumulate"_a = false);
  parts.both("masked_fill", &masked_fill, "mask"_a, "value"_a);
  parts.module.def(
      "one_hot", [](const Tensor& index, Size classes) { return one_hot(index, classes); },
      "index"_a, "classes"_a);
}

void add_movement(Module& parts) {
  parts.both(
      "pad",
      [](const Tensor& x, const std::vector<std::pair<Size, Size>>& paddings, const Scalar& value) {
        std::vector<Padding> all;
        for (const auto& [before, after] : paddings) {
          all.push_back({.before = before.value, .after = after.value});
        }
        return pad(x, all, value);
      },
      "paddings"_a, "value"_a = 0, "One pair, before and after, per axis.");
  parts.both("chunk", &chunk, "count"_a, "axis"_a = 0);
  parts.both(
      "split", [](const Tensor& x, int size, int axis) { return split(x, size, axis); }, "size"_a,
      "axis"_a = 0);
  parts.both(
      "split", [](const Tensor& x, const Dims& sizes, int axis) { return split(x, sizes, axis); },
      "sizes"_a, "axis"_a = 0);
  parts.both(
      "tril", [](const Tensor& x, Size diagonal) { return tril(x, diagonal); }, "diagonal"_a = 0);
  parts.both(
      "triu", [](const Tensor& x, Size diagonal) { return triu(x, diagonal); }, "diagonal"_a = 0);
  parts.module.def("concat", &concat, "tensors"_a, "axis"_a = 0);
  parts.module.def("stack", &stack, "tensors"_a, "axis"_a = 0);
}

void add_convolutions(Module& parts) {
  parts.module.def(
      "conv1d",
      [](const Tensor& x, const Tensor& weight, const OptionalTensor& bias, Size stride,
         Size padding, Size dilation,
         int groups) { return conv1d(x, weight, bias, {stride, padding, dilation, groups}); },
      "x"_a, "weight"_a, "bias"_a.none() = nb::none(), "stride"_a = 1, "padding"_a = 0,
      "dilation"_a = 1, "groups"_a = 1);
  parts.module.def(
      "conv2d",
      [](const Tensor& x, const Tensor& weight, const OptionalTensor& bias, const Size2& stride,
         const Size2& padding, const Size2& dilation,
         int groups) { return conv2d(x, weight, bias, {stride, padding, dilation, groups}); },
      "x"_a, "weight"_a, "bias"_a.none() = nb::none(), "stride"_a = 1, "padding"_a = 0,
      "dilation"_a = 1, "groups"_a = 1);
  parts.module.def(
      "max_pool1d",
      [](const Tensor& x, Size kernel, std::optional<Size> stride, Size padding) {
        return max_pool1d(x, kernel, {.stride = stride, .padding = padding});
      },
      "x"_a, "kernel"_a, "stride"_a.none() = nb::none(), "padding"_a = 0);
  parts.module.def(
      "max_pool2d",
      [](const Tensor& x, const Size2& kernel, const std::optional<Size2>& stride,
         const Size2& padding) {
        return max_pool2d(x, kernel, {.stride = stride, .padding = padding});
      },
      "x"_a, "kernel"_a, "stride"_a.none() = nb::none(), "padding"_a = 0);
  parts.module.def(
      "avg_pool1d",
      [](const Tensor& x, Size kernel, std::optional<Size> stride, Size padding,
         bool count_include_pad) {
        return avg_pool1d(x, kernel, {stride, padding, count_include_pad});
      },
      "x"_a, "kernel"_a, "stride"_a.none() = nb::none(), "padding"_a = 0,
      "count_include_pad"_a = true);
  parts.module.def(
      "avg_pool2d",
      [](const Tensor& x, const Size2& kernel, const std::optional<Size2>& stride,
         const Size2& padding, bool count_include_pad) {
        return avg_pool2d(x, kernel, {stride, padding, count_include_pad});
      },
      "x"_a, "kernel"_a, "stride"_a.none() = nb::none(), "padding"_a = 0,
      "count_include_pad"_a = true);
}

void add_norms(Module& parts) {
  parts.both("layer_norm", &layer_norm, "normalized"_a, "weight"_a.none() = nb::none(),
             "bias"_a.none() = nb::none(), "eps"_a = 1e-5);
  parts.both("rms_norm", &rms_norm, "normalized"_a, "weight"_a.none() = nb::none(),
             "eps"_a.none() = nb::none());
  parts.both("group_norm", &group_norm, "groups"_a, "weight"_a.none() = nb::none(),
             "bias"_a.none() = nb::none(), "eps"_a = 1e-5);
  parts.both("batch_norm", &batch_norm, "running_mean"_a, "running_var"_a,
             "weight"_a.none() = nb::none(), "bias"_a.none() = nb::none(), "eps"_a = 1e-5);
  parts.both("normalize", &normalize, "axis"_a = 1, "eps"_a = 1e-12);
}

RotaryPairs rotary_pairs(const std::string& name) {
  if (name == "halves") return RotaryPairs::Halves;
  if (name == "interleaved") return RotaryPairs::Interleaved;
  throw nb::value_error("rotary_embedding: pairs is \"halves\" or \"interleaved\"");
}

void add_attention(Module& parts) {
  parts.module.def(
      "scaled_dot_product_attention",
      [](const Tensor& q, const Tensor& k, const Tensor& v, const OptionalTensor& mask, bool causal,
         Size past, std::optional<Size> window, std::optional<double> scale) {
        return scaled_dot_product_attention(
            q, k, v,
            {.causal = causal, .past = past, .window = window, .mask = mask, .scale = scale});
      },
      "q"_a, "k"_a, "v"_a, "mask"_a.none() = nb::none(), "causal"_a = false, "past"_a = 0,
      "window"_a.none() = nb::none(), "scale"_a.none() = nb::none());
  parts.both(
      "rotary_embedding",
      [](const Tensor& x, const std::string& pairs, double theta, Size offset,
         const OptionalTensor& positions, const OptionalTensor& frequencies) {
        return rotary_embedding(x, {.pairs = rotary_pairs(pairs),
                                    .theta = theta,
                                    .offset = offset,
                                    .positions = positions,
                                    .frequencies = frequencies});
      },
      "pairs"_a = "halves", "theta"_a = 10000.0, "offset"_a = 0, "positions"_a.none() = nb::none(),
      "frequencies"_a.none() = nb::none());
}

LossReduction loss_reduction(const std::string& name) {
  if (name == "mean") return LossReduction::Mean;
  if (name == "sum") return LossReduction::Sum;
  if (name == "none") return LossReduction::None;
  throw nb::value_error("a loss: reduction is \"mean\", \"sum\" or \"none\"");
}

void add_losses(Module& parts) {
  parts.module.def(
      "cross_entropy",
      [](const Tensor& logits, const Tensor& target, const std::string& reduction,
         int64_t ignore_index) {
        return cross_entropy(logits, target, {loss_reduction(reduction), ignore_index});
      },
      "logits"_a, "target"_a, "reduction"_a = "mean", "ignore_index"_a = -100);
  parts.module.def(
      "nll_loss",
      [](const Tensor& log_probabilities, const Tensor& target, const std::string& reduction,
         int64_t ignore_index) {
        return nll_loss(log_probabilities, target, {loss_reduction(reduction), ignore_index});
      },
      "log_probabilities"_a, "target"_a, "reduction"_a = "mean", "ignore_index"_a = -100);
  parts.module.def(
      "mse_loss",
      [](const Tensor& x, const Tensor& target, const std::string& reduction) {
        return mse_loss(x, target, loss_reduction(reduction));
      },
      "x"_a, "target"_a, "reduction"_a = "mean");
}

}  // namespace

void add_layers_of_tensors(Module& parts) {
  add_products(parts);
  add_indexing(parts);
  add_movement(parts);
  add_convolutions(parts);
  add_norms(parts);
  add_attention(parts);
  add_losses(parts);
}

}  // namespace luminal::python
