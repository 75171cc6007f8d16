#include "luminal/llm/models/llama/llama.h"

#include <fmt/format.h>

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/llm/config_checks.h"
#include "luminal/nn/attention.h"
#include "luminal/nn/gated.h"
#include "luminal/nn/linear.h"
#include "luminal/nn/norm.h"

namespace luminal::llm {
namespace {

constexpr ConfigChecks kLlamaChecks("llama");

class LlamaBuilder {
 public:
  LlamaBuilder(const nn::Scope& scope, const LlamaConfig& config, const DecoderOptions& options)
      : scope_(scope), config_(config), options_(options) {}

  DecoderGraph build() {
    const Expr room = options_.room == Expr(0) ? Expr(config_.context) : options_.room;
    const int64_t most = room.to_int().value_or(config_.context);
    const int64_t longest = options_.longest_chunk > 0 ? options_.longest_chunk : most;
    if (longest > most)
      kLlamaChecks.fail(fmt::format("chunks of {} don't fit a cache of {}", longest, most));
    DecoderGraph made;
    made.s = Expr::var("s", 1, longest);
    made.past = Expr::var("past", 0, most - 1);
    made.ids = scope_.graph().input("ids", {made.s}, DType::I32);
    cache_ = {.room = room, .past = made.past, .dtype = options_.cache};
    rotary_ = rotary(made.past);

    const nn::Scope model = scope_.child("model");
    Tensor x =
        nn::embedding(model.child("embed_tokens"), made.ids, config_.vocab_size, config_.features);
    for (int64_t i = 0; i < config_.layers; ++i) {
      const nn::Scope layer = model.child("layers").child(static_cast<int>(i));
      x = attended(layer, x);
      // Where only the last token counts, what follows the last attention is for it alone.
      const bool last = i + 1 == config_.layers;
      if (last && !options_.every_logit) x = x.slice(0, made.s - 1, made.s);
      x = fed_forward(layer, x);
    }
    x = norm(model.child("norm"), x);
    const nn::Scope last = config_.tied ? model.child("embed_tokens") : scope_.child("lm_head");
    const Tensor weight = last.weight("weight", {config_.vocab_size, config_.features});
    // The sums as they are: rounded to bf16, near tokens would tie.
    made.logits = matmul(x.cast(DType::F32), weight.t().cast(DType::F32)).output("logits");
    return made;
  }

 private:
  RotaryOptions rotary(Expr past) const {
    const std::vector<float> values =
        nn::rope_frequencies(config_.head_size, config_.rope_theta, config_.rope_scaling);
    Tensor frequencies = scope_.graph().literal(
        TensorData::copy_of(std::span<const float>(values), {config_.head_size / 2}));
    if (config_.rope_factors) {
      frequencies /=
          scope_.child("rope_freqs").weight("weight", {config_.head_size / 2}).cast(DType::F32);
    }
    return {.pairs = config_.rope_pairs, .offset = past, .frequencies = frequencies};
  }

  Tensor norm(const nn::Scope& scope, const Tensor& x) const {
    return nn::rms_norm(scope, x, {.eps = config_.norm_eps});
  }

  Tensor attended(const nn::Scope& layer, const Tensor& x) const {
    const double magnitude = nn::rope_magnitude(config_.rope_scaling);
    const nn::SelfAttentionOptions attention{
        .kv_heads = static_cast<int>(config_.kv_heads),
        .head_size = config_.head_size,
        .bias = config_.attention_bias,
        .out_bias = config_.attention_bias,
        .causal = true,
        .window = config_.window ? std::optional<Expr>(*config_.window) : std::nullopt,
        .cache = cache_,
        .rotate =
            [&](const Tensor& heads) {
              const Tensor turned = rotary_embedding(heads, rotary_);
              return magnitude == 1 ? turned : turned * magnitude;
            },
    };
    return x + nn::self_attention(layer.child("self_attn"), norm(layer.child("input_layernorm"), x),
                                  static_cast<int>(config_.heads), attention);
  }

  Tensor fed_forward(const nn::Scope& layer, const Tensor& x) const {
    return x + nn::gated_feed_forward(layer.child("mlp"),
                                      norm(layer.child("post_attention_layernorm"), x),
                                      config_.hidden, {.bias = config_.feed_forward_bias});
  }

  nn::Scope scope_;
  const LlamaConfig& config_;
  const DecoderOptions& options_;
  nn::KvCache cache_;
  RotaryOptions rotary_;
};

}  // namespace

void check(const LlamaConfig& config) {
  kLlamaChecks.size("the vocabulary's size", config.vocab_size, 1 << 24);
  kLlamaChecks.size("the number of features", config.features, 1 << 20);
  kLlamaChecks.size("the number of hidden features", config.hidden, 1 << 22);
  kLlamaChecks.size("the number of layers", config.layers, 1 << 12);
  kLlamaChecks.size("the number of heads", config.heads, 1 << 14);
  kLlamaChecks.size("the number of kv heads", config.kv_heads, config.heads);
  kLlamaChecks.size("the size of a head", config.head_size, 1 << 14);
  kLlamaChecks.size("the context", config.context, 1 << 28);
  if (config.window) kLlamaChecks.size("the window", *config.window, 1 << 28);
  if (config.heads % config.kv_heads != 0) {
    kLlamaChecks.fail(
        fmt::format("{} heads don't divide into {} kv heads", config.heads, config.kv_heads));
  }
  if (config.head_size % 2 != 0) {
    kLlamaChecks.fail(fmt::format(
        "the size of a head is {}; rotary embedding rotates pairs of elements, so it must be even",
        config.head_size));
  }
  kLlamaChecks.positive("the norm's epsilon", config.norm_eps);
  kLlamaChecks.positive("the rotary base", config.rope_theta);
  kLlamaChecks.positive("the rotary factor", config.rope_scaling.factor);
  kLlamaChecks.size("the original context", config.rope_scaling.original_context, 1 << 28);
}

DecoderGraph build_llama(const nn::Scope& scope, const LlamaConfig& config,
                         const DecoderOptions& options) {
  check(config);
  return LlamaBuilder(scope, config, options).build();
}

}  // namespace luminal::llm
