// The submodule nn: layers, as functions of a scope and tensors.
#include "luminal/graph/composite/activation.h"
#include "luminal/nn/attention.h"
#include "luminal/nn/gated.h"
#include "luminal/nn/linear.h"
#include "luminal/nn/norm.h"
#include "luminal/nn/scope.h"
#include "luminal/nn/transformer.h"

#include "binding/binding.h"

namespace luminal::python {
namespace {

using namespace nb::literals;
using nn::Scope;
using OptionalTensor = std::optional<Tensor>;
using Activation = std::function<Tensor(const Tensor&)>;

nb::list parameters_of(const Graph& graph) {
  nb::list found;
  for (const nn::Parameter& each : nn::parameters(graph)) {
    nb::list dims;
    for (int64_t dim : each.dims) dims.append(dim);
    found.append(nb::make_tuple(each.name, nb::tuple(dims), each.dtype));
  }
  return found;
}

void add_scope(nb::module_& module) {
  nb::class_<Scope>(module, "Scope",
                    "Where a layer's parameters are, and how they are named: as PyTorch's modules.")
      .def(
          "__init__",
          [](Scope* made, Graph& graph, std::string prefix, DTypeName dtype) {
            new (made) Scope(graph, std::move(prefix), dtype);
          },
          "graph"_a, "prefix"_a = "", "dtype"_a = "f32", nb::keep_alive<1, 2>())
      .def("child", nb::overload_cast<std::string_view>(&Scope::child, nb::const_), "name"_a,
           nb::keep_alive<0, 1>())
      .def("child", nb::overload_cast<int>(&Scope::child, nb::const_), "index"_a,
           nb::keep_alive<0, 1>())
      .def("weight", &Scope::weight, "name"_a, "dims"_a)
      .def_prop_ro("prefix", &Scope::prefix)
      .def_prop_ro("dtype", &Scope::dtype)
      .def("__repr__", [](const Scope& scope) { return "Scope('" + scope.prefix() + "')"; });
  module.def(
      "parameters", &parameters_of, "graph"_a, "Name, dims and dtype of every weight.",
      nb::sig("def parameters(graph: luminal._core.Graph) -> list[tuple[str, tuple[int, ...], "
              "luminal._core.DType]]"));
  module.def("n_parameters", &nn::n_parameters, "graph"_a);
}

void add_linear(nb::module_& module) {
  module.def(
      "linear",
      [](const Scope& scope, const Tensor& x, int64_t out_features, bool bias) {
        return nn::linear(scope, x, out_features, {.bias = bias});
      },
      "scope"_a, "x"_a, "out_features"_a, "bias"_a = true, "torch.nn.Linear.");
  module.def("embedding", &nn::embedding, "scope"_a, "index"_a, "n"_a, "features"_a,
             "torch.nn.Embedding.");
  module.def(
      "conv1d",
      [](const Scope& scope, const Tensor& x, int64_t out_channels, int64_t kernel, Size stride,
         Size padding, Size dilation, int groups, bool bias) {
        return nn::conv1d(scope, x, out_channels, kernel,
                          {stride, padding, dilation, groups, bias});
      },
      "scope"_a, "x"_a, "out_channels"_a, "kernel"_a, "stride"_a = 1, "padding"_a = 0,
      "dilation"_a = 1, "groups"_a = 1, "bias"_a = true, "torch.nn.Conv1d.");
  module.def(
      "conv2d",
      [](const Scope& scope, const Tensor& x, int64_t out_channels, const Size2& kernel,
         const Size2& stride, const Size2& padding, const Size2& dilation, int groups, bool bias) {
        return nn::conv2d(scope, x, out_channels, kernel,
                          {stride, padding, dilation, groups, bias});
      },
      "scope"_a, "x"_a, "out_channels"_a, "kernel"_a, "stride"_a = 1, "padding"_a = 0,
      "dilation"_a = 1, "groups"_a = 1, "bias"_a = true, "torch.nn.Conv2d.");
}

void add_norms(nb::module_& module) {
  module.def(
      "layer_norm",
      [](const Scope& scope, const Tensor& x, double eps, int axes, bool affine, bool bias) {
        return nn::layer_norm(scope, x, {eps, axes, affine, bias});
      },
      "scope"_a, "x"_a, "eps"_a = 1e-5, "axes"_a = 1, "affine"_a = true, "bias"_a = true,
      "torch.nn.LayerNorm over the last `axes` axes.");
  module.def(
      "rms_norm",
      [](const Scope& scope, const Tensor& x, std::optional<double> eps, int axes, bool affine) {
        return nn::rms_norm(scope, x, {eps, axes, affine});
      },
      "scope"_a, "x"_a, "eps"_a.none() = nb::none(), "axes"_a = 1, "affine"_a = true,
      "torch.nn.RMSNorm.");
  module.def(
      "group_norm",
      [](const Scope& scope, const Tensor& x, int groups, double eps, bool affine) {
        return nn::group_norm(scope, x, groups, {eps, affine});
      },
      "scope"_a, "x"_a, "groups"_a, "eps"_a = 1e-5, "affine"_a = true, "torch.nn.GroupNorm.");
  module.def(
      "batch_norm",
      [](const Scope& scope, const Tensor& x, double eps, bool affine) {
        return nn::batch_norm(scope, x, {eps, affine});
      },
      "scope"_a, "x"_a, "eps"_a = 1e-5, "affine"_a = true,
      "torch.nn.BatchNorm1d and 2d in eval mode.");
}

void add_attention(nb::module_& module) {
  module.def(
      "multi_head_attention",
      [](const Scope& scope, const Tensor& query, const Tensor& key, const Tensor& value, int heads,
         bool bias, bool causal, const OptionalTensor& mask) {
        return nn::multi_head_attention(scope, query, key, value, heads, {bias, causal, mask});
      },
      "scope"_a, "query"_a, "key"_a, "value"_a, "heads"_a, "bias"_a = true, "causal"_a = false,
      "mask"_a.none() = nb::none(), "torch.nn.MultiheadAttention.");
  module.def(
      "self_attention",
      [](const Scope& scope, const Tensor& x, int heads, std::optional<int> kv_heads,
         std::optional<int64_t> head_size, bool bias, bool out_bias, bool causal,
         std::optional<Size> window, const OptionalTensor& mask, const Activation& rotate) {
        return nn::self_attention(scope, x, heads,
                                  {.kv_heads = kv_heads,
                                   .head_size = head_size,
                                   .bias = bias,
                                   .out_bias = out_bias,
                                   .causal = causal,
                                   .window = window,
                                   .mask = mask,
                                   .rotate = rotate});
      },
      "scope"_a, "x"_a, "heads"_a, "kv_heads"_a.none() = nb::none(),
      "head_size"_a.none() = nb::none(), "bias"_a = true, "out_bias"_a = true, "causal"_a = false,
      "window"_a.none() = nb::none(), "mask"_a.none() = nb::none(), "rotate"_a.none() = nb::none(),
      "Self-attention with one linear layer per projection, as in Llama and BERT.");
  module.def(
      "gated_feed_forward",
      [](const Scope& scope, const Tensor& x, int64_t hidden,
         const std::optional<Activation>& activation, bool bias) {
        return nn::gated_feed_forward(scope, x, hidden,
                                      {.activation = activation.value_or(silu), .bias = bias});
      },
      "scope"_a, "x"_a, "hidden"_a, "activation"_a.none() = nb::none(), "bias"_a = false,
      "down(activation(gate(x)) * up(x)); SwiGLU without an activation.");
}

nn::TransformerOptions transformer_options(int64_t feedforward,
                                           const std::optional<Activation>& activation, double eps,
                                           bool norm_first, bool bias, bool causal,
                                           const OptionalTensor& mask) {
  return {.feedforward = feedforward,
          .activation = activation.value_or(relu),
          .eps = eps,
          .norm_first = norm_first,
          .bias = bias,
          .causal = causal,
          .mask = mask};
}

void add_transformers(nb::module_& module) {
  module.def(
      "transformer_encoder_layer",
      [](const Scope& scope, const Tensor& x, int heads, int64_t feedforward,
         const std::optional<Activation>& activation, double eps, bool norm_first, bool bias,
         bool causal, const OptionalTensor& mask) {
        return nn::transformer_encoder_layer(
            scope, x, heads,
            transformer_options(feedforward, activation, eps, norm_first, bias, causal, mask));
      },
      "scope"_a, "x"_a, "heads"_a, "feedforward"_a = 2048, "activation"_a.none() = nb::none(),
      "eps"_a = 1e-5, "norm_first"_a = false, "bias"_a = true, "causal"_a = false,
      "mask"_a.none() = nb::none(), "torch.nn.TransformerEncoderLayer.");
  module.def(
      "transformer_encoder",
      [](const Scope& scope, const Tensor& x, int layers, int heads, int64_t feedforward,
         const std::optional<Activation>& activation, double eps, bool norm_first, bool bias,
         bool causal, const OptionalTensor& mask, bool final_norm) {
        return nn::transformer_encoder(
            scope, x, layers, heads,
            {transformer_options(feedforward, activation, eps, norm_first, bias, causal, mask),
             final_norm});
      },
      "scope"_a, "x"_a, "layers"_a, "heads"_a, "feedforward"_a = 2048,
      "activation"_a.none() = nb::none(), "eps"_a = 1e-5, "norm_first"_a = false, "bias"_a = true,
      "causal"_a = false, "mask"_a.none() = nb::none(), "final_norm"_a = false,
      "torch.nn.TransformerEncoder.");
}

}  // namespace

void add_nn(nb::module_& module) {
  nb::module_ layers = module.def_submodule("nn", "Layers with PyTorch's parameter names.");
  add_scope(layers);
  add_linear(layers);
  add_norms(layers);
  add_attention(layers);
  add_transformers(layers);
}

}  // namespace luminal::python
