// Every layer against its PyTorch module: the state dict loads by name, the outputs agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/os/process.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/io/load_weights.h"
#include "luminal/nn/attention.h"
#include "luminal/nn/linear.h"
#include "luminal/nn/norm.h"
#include "luminal/nn/scope.h"
#include "luminal/nn/sequential.h"
#include "luminal/nn/transformer.h"
#include "tests/io/temporary_folder.h"
#include "tests/support/user_error.h"

namespace luminal {
namespace {

using nn::Scope;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::user_error;

using Inputs = std::vector<Tensor>;

struct Case {
  std::string name;  // the file that nn_torch.py writes
  std::function<Tensor(const Scope&, const Inputs&)> layer;
};

Tensor cnn(const Scope& scope, const Tensor& x) {
  nn::Layer head = [](const Scope& s, const Tensor& t) {
    return nn::sequential(
        s, t, {[](const Scope& u, const Tensor& v) { return nn::linear(u, v, 5); }, luminal::tanh});
  };
  return nn::sequential(
      scope, x,
      {[](const Scope& s, const Tensor& t) { return nn::conv2d(s, t, 4, 3, {.padding = 1}); },
       [](const Scope& s, const Tensor& t) { return nn::batch_norm(s, t); }, relu,
       [](const Tensor& t) { return max_pool2d(t, 2); },
       [](const Tensor& t) { return t.flatten(1); }, head});
}

Tensor mlp(const Scope& scope, const Tensor& x) {
  return nn::sequential(scope, x,
                        {[](const Scope& s, const Tensor& t) { return nn::linear(s, t, 6); }, relu,
                         [](const Scope& s, const Tensor& t) { return nn::linear(s, t, 3); }});
}

Tensor erf_gelu(const Tensor& x) { return gelu(x); }

std::vector<Case> cases() {
  const nn::TransformerOptions plain = {.feedforward = 12};
  nn::TransformerOptions pre = {.feedforward = 12, .activation = erf_gelu, .norm_first = true};
  nn::TransformerOptions causal = plain;
  causal.causal = true;
  nn::TransformerOptions causal_pre = pre;
  causal_pre.causal = true;
  return {
      {"linear", [](auto& s, auto& in) { return nn::linear(s, in[0], 7); }},
      {"linear_no_bias",
       [](auto& s, auto& in) { return nn::linear(s, in[0], 7, {.bias = false}); }},
      {"linear_vector", [](auto& s, auto& in) { return nn::linear(s, in[0], 7); }},
      {"conv1d", [](auto& s, auto& in) { return nn::conv1d(s, in[0], 6, 3); }},
      {"conv1d_all",
       [](auto& s, auto& in) {
         return nn::conv1d(s, in[0], 6, 3, {.stride = 2, .padding = 2, .dilation = 2, .groups = 2});
       }},
      {"conv2d", [](auto& s, auto& in) { return nn::conv2d(s, in[0], 5, 3); }},
      {"conv2d_all",
       [](auto& s, auto& in) {
         return nn::conv2d(
             s, in[0], 8, {3, 2},
             {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2, .bias = false});
       }},
      {"conv2d_depthwise",
       [](auto& s, auto& in) { return nn::conv2d(s, in[0], 4, 3, {.padding = 1, .groups = 4}); }},
      {"conv2d_no_batch", [](auto& s, auto& in) { return nn::conv2d(s, in[0], 2, 2); }},
      {"embedding", [](auto& s, auto& in) { return nn::embedding(s, in[0], 10, 4); }},
      {"layer_norm", [](auto& s, auto& in) { return nn::layer_norm(s, in[0]); }},
      {"layer_norm_two_axes",
       [](auto& s, auto& in) { return nn::layer_norm(s, in[0], {.eps = 1e-3, .axes = 2}); }},
      {"layer_norm_no_bias",
       [](auto& s, auto& in) { return nn::layer_norm(s, in[0], {.bias = false}); }},
      {"layer_norm_plain",
       [](auto& s, auto& in) { return nn::layer_norm(s, in[0], {.affine = false}); }},
      {"rms_norm", [](auto& s, auto& in) { return nn::rms_norm(s, in[0]); }},
      {"rms_norm_eps", [](auto& s, auto& in) { return nn::rms_norm(s, in[0], {.eps = 1e-2}); }},
      {"group_norm", [](auto& s, auto& in) { return nn::group_norm(s, in[0], 2); }},
      {"group_norm_1d",
       [](auto& s, auto& in) { return nn::group_norm(s, in[0], 3, {.affine = false}); }},
      {"batch_norm1d", [](auto& s, auto& in) { return nn::batch_norm(s, in[0]); }},
      {"batch_norm2d", [](auto& s, auto& in) { return nn::batch_norm(s, in[0], {.eps = 1e-3}); }},
      {"batch_norm_plain",
       [](auto& s, auto& in) { return nn::batch_norm(s, in[0], {.affine = false}); }},
      {"attention",
       [](auto& s, auto& in) { return nn::multi_head_attention(s, in[0], in[0], in[0], 2); }},
      {"attention_no_bias",
       [](auto& s, auto& in) {
         return nn::multi_head_attention(s, in[0], in[0], in[0], 2, {.bias = false});
       }},
      {"attention_no_batch",
       [](auto& s, auto& in) { return nn::multi_head_attention(s, in[0], in[0], in[0], 2); }},
      {"attention_causal",
       [](auto& s, auto& in) {
         return nn::multi_head_attention(s, in[0], in[0], in[0], 2, {.causal = true});
       }},
      {"attention_cross",
       [](auto& s, auto& in) { return nn::multi_head_attention(s, in[0], in[1], in[1], 2); }},
      {"attention_dims",
       [](auto& s, auto& in) { return nn::multi_head_attention(s, in[0], in[1], in[2], 2); }},
      {"attention_bool_mask",
       [](auto& s, auto& in) {
         return nn::multi_head_attention(s, in[0], in[0], in[0], 2, {.mask = in[1]});
       }},
      {"attention_added_mask",
       [](auto& s, auto& in) {
         return nn::multi_head_attention(s, in[0], in[0], in[0], 2, {.mask = in[1]});
       }},
      {"grouped_attention",
       [](auto& s, auto& in) {
         return nn::self_attention(
             s, in[0], 4,
             {.kv_heads = 2, .head_size = 6, .bias = false, .out_bias = false, .causal = true});
       }},
      {"encoder_layer",
       [=](auto& s, auto& in) { return nn::transformer_encoder_layer(s, in[0], 2, plain); }},
      {"encoder_layer_pre",
       [=](auto& s, auto& in) { return nn::transformer_encoder_layer(s, in[0], 2, pre); }},
      {"encoder_layer_no_bias",
       [](auto& s, auto& in) {
         return nn::transformer_encoder_layer(s, in[0], 2,
                                              {.feedforward = 12, .eps = 1e-2, .bias = false});
       }},
      {"encoder",
       [=](auto& s, auto& in) {
         return nn::transformer_encoder(s, in[0], 3, 2, {.layer = plain, .final_norm = true});
       }},
      {"decoder_layer",
       [=](auto& s, auto& in) { return nn::transformer_decoder_layer(s, in[0], in[1], 2, plain); }},
      {"decoder_layer_pre",
       [=](auto& s, auto& in) {
         return nn::transformer_decoder_layer(s, in[0], in[1], 2, causal_pre);
       }},
      {"decoder",
       [=](auto& s, auto& in) {
         return nn::transformer_decoder(s, in[0], in[1], 2, 2,
                                        {.layer = causal, .final_norm = true});
       }},
      {"sequential_mlp", [](auto& s, auto& in) { return mlp(s, in[0]); }},
      {"sequential_cnn", [](auto& s, auto& in) { return cnn(s, in[0]); }},
  };
}

class AgainstTorch : public ::testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    code_ = base::run_program(LUMINAL_PYTHON, {LUMINAL_TESTS "/nn/nn_torch.py", folder_->path()});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::unique_ptr<TemporaryFolder> folder_;
  static std::optional<int> code_;
};
std::unique_ptr<TemporaryFolder> AgainstTorch::folder_;
std::optional<int> AgainstTorch::code_;

TEST_P(AgainstTorch, LoadsTheStateDictAndAgrees) {
  if (!code_ || *code_ == 77) GTEST_SKIP() << "SKIPPED: no " LUMINAL_PYTHON " with torch";
  ASSERT_EQ(*code_, 0) << "nn_torch.py";
  SafeTensors file = SafeTensors::open(*folder_ / (GetParam().name + ".safetensors"));

  Graph graph;
  Inputs inputs;
  std::vector<TensorData> values;
  while (const TensorInfo* info = file.find("in." + std::to_string(inputs.size()))) {
    Dims dims(info->dims.begin(), info->dims.end());
    inputs.push_back(graph.input(info->name, dims, *info->dtype));
    values.push_back(file.data(info->name));
  }
  Tensor y = GetParam().layer(Scope(graph), inputs).output("y");
  LoadReport report = load_weights(graph, file, {.prefix = "w."});
  for (const std::string& name : report.unexpected) {
    EXPECT_TRUE(name.starts_with("in.") || name == "out" || name.ends_with("num_batches_tracked"))
        << name << " wasn't asked for";
  }

  Executable exe = compile(graph, {.backend = {.name = "interp"}});
  for (size_t i = 0; i < inputs.size(); ++i) exe.set(inputs[i], values[i]);
  exe.run();
  TensorData expected = file.data("out");
  ASSERT_EQ(exe.get_data(y).dims, expected.dims);
  std::vector<double> want = expected.to_doubles();
  std::vector<float> got = exe.get<float>(y);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], 2e-5 + 2e-5 * std::abs(want[i])) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Nn, AgainstTorch, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(Scope, ParametersAreSortedAndCounted) {
  Graph graph;
  Tensor x = graph.input("x", {Expr::var("n"), 4});
  mlp(Scope(graph, "net"), x);
  graph.literal({1, 2, 3});
  std::vector<std::string> names;
  for (const nn::Parameter& p : nn::parameters(graph)) names.push_back(p.name);
  EXPECT_THAT(names, ElementsAre("net.0.bias", "net.0.weight", "net.2.bias", "net.2.weight"));
  EXPECT_EQ(nn::parameters(graph)[1].dims, (std::vector<int64_t>{6, 4}));
  EXPECT_EQ(nn::n_parameters(graph), 6 * 4 + 6 + 3 * 6 + 3);
}

TEST(Scope, AWeightAskedForTwiceIsTied) {
  Graph graph;
  Tensor index = graph.input("index", {3}, DType::I64);
  Scope embed = Scope(graph).child("wte");
  Tensor x = nn::embedding(embed, index, 10, 4);
  nn::linear(embed, x, 10, {.bias = false});
  EXPECT_EQ(nn::parameters(graph).size(), 1u);
  EXPECT_THAT(user_error([&] { nn::linear(embed, x, 11, {.bias = false}); }),
              HasSubstr("weight 'wte.weight' f32 [11, 4] can't share the name"));
  EXPECT_THAT(user_error([&] { Scope(graph).weight("index", {3}); }),
              HasSubstr("can't share the name"));
}

TEST(Scope, WeightsHaveTheScopesDType) {
  Graph graph;
  Scope scope(graph, "", DType::BF16);
  EXPECT_EQ(scope.child("a").weight("w", {2}).dtype(), DType::BF16);
  EXPECT_EQ(scope.child(3).child("b.c").prefix(), "3.b.c");
  EXPECT_THAT(user_error([&] { scope.child(""); }), HasSubstr("needs a name"));
}

TEST(Layers, WrongArgumentsSayTheWayOut) {
  Graph graph;
  Scope s = Scope(graph).child("layer");
  Tensor x = graph.input("x", {2, 5, 8});
  Tensor symbolic = graph.input("y", {2, 5, Expr::var("f")});
  Tensor scalar = graph.input("z", {});
  EXPECT_THAT(user_error([&] { nn::linear(s, symbolic, 3); }),
              HasSubstr("weight 'layer.weight' would have the dims [3, f]"));
  EXPECT_THAT(user_error([&] { nn::linear(s, scalar, 3); }),
              HasSubstr("nn::linear 'layer': x is []"));
  EXPECT_THAT(user_error([&] { nn::conv1d(s, x, 4, 3, {.groups = 2}); }),
              HasSubstr("5 input channels don't divide into 2 groups"));
  EXPECT_THAT(user_error([&] { nn::conv2d(s, scalar, 4, 3); }), HasSubstr("3 to 4 dims"));
  EXPECT_THAT(user_error([&] { nn::layer_norm(s, x, {.axes = 4}); }), HasSubstr("its last 4 axes"));
  EXPECT_THAT(user_error([&] { nn::batch_norm(s, scalar); }), HasSubstr("channels are its axis 1"));
  EXPECT_THAT(user_error([&] { nn::multi_head_attention(s, x, x, x, 3); }),
              HasSubstr("8 features don't divide into 3 heads"));
  EXPECT_THAT(user_error([&] { nn::multi_head_attention(s, x, symbolic, x, 2); }),
              HasSubstr("key is [2, 5, f]"));
  EXPECT_THAT(user_error([&] { nn::self_attention(s, x, 4, {.kv_heads = 3}); }),
              HasSubstr("4 heads don't divide into 3 kv heads"));
}

}  // namespace
}  // namespace luminal
