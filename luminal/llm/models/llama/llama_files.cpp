#include "luminal/llm/models/llama/llama_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "luminal/base/errors.h"

namespace luminal::llm {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOuterNames[] = {
    {"model.embed_tokens.", "token_embd."},
    {"model.norm.", "output_norm."},
    {"lm_head.", "output."}};
constexpr std::pair<std::string_view, std::string_view> kLayerNames[] = {
    {"input_layernorm.", "attn_norm."}, {"post_attention_layernorm.", "ffn_norm."},
    {"self_attn.q_proj.", "attn_q."},   {"self_attn.k_proj.", "attn_k."},
    {"self_attn.v_proj.", "attn_v."},   {"self_attn.o_proj.", "attn_output."},
    {"mlp.gate_proj.", "ffn_gate."},    {"mlp.up_proj.", "ffn_up."},
    {"mlp.down_proj.", "ffn_down."}};

[[noreturn]] void fail_llama(const std::string& file, const std::string& message) {
  throw UserError(fmt::format("llama: '{}': {}", file, message));
}

void read_scaling(const Settings& scaling, nn::RopeScaling& rope) {
  std::string kind = "default";
  for (const char* key : {"type", "rope_type"}) kind = scaling.find_text(key).value_or(kind);
  if (kind == "default") return;
  rope.kind = kind == "linear"   ? nn::RopeKind::Linear
              : kind == "llama3" ? nn::RopeKind::Llama3
              : kind == "yarn"   ? nn::RopeKind::Yarn
                                 : nn::RopeKind::Plain;
  if (rope.kind == nn::RopeKind::Plain) {
    fail_llama(scaling.name(),
               fmt::format("the rotary scaling '{}' isn't supported; linear, llama3 and "
                           "yarn are",
                           kind));
  }
  rope.factor = scaling.real_at("factor");
  const auto read = [&](const char* key, double& into) {
    into = scaling.find_real(key).value_or(into);
  };
  read("low_freq_factor", rope.low_frequency_factor);
  read("high_freq_factor", rope.high_frequency_factor);
  read("beta_fast", rope.beta_fast);
  read("beta_slow", rope.beta_slow);
  read("attention_factor", rope.attention_factor);
  rope.original_context =
      scaling.find_int("original_max_position_embeddings").value_or(rope.original_context);
}

void read_rope(const Settings& config, LlamaConfig& llama) {
  llama.rope_theta = config.find_real("rope_theta").value_or(llama.rope_theta);
  llama.rope_scaling.original_context = llama.context;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const std::shared_ptr<const Settings> scaling = config.find_section(key);
    if (!scaling) continue;
    llama.rope_theta = scaling->find_real("rope_theta").value_or(llama.rope_theta);
    read_scaling(*scaling, llama.rope_scaling);
  }
}

void read_gguf_rope(const Settings& metadata, const std::string& prefix, LlamaConfig& llama) {
  llama.rope_theta = metadata.find_real(prefix + "rope.freq_base").value_or(llama.rope_theta);
  nn::RopeScaling& rope = llama.rope_scaling;
  rope.original_context =
      metadata.find_int(prefix + "rope.scaling.original_context_length").value_or(llama.context);
  const std::string kind = metadata.find_text(prefix + "rope.scaling.type").value_or("none");
  if (kind != "none") {
    if (kind != "linear" && kind != "yarn") {
      fail_llama(metadata.name(),
                 fmt::format("the rotary scaling '{}' isn't supported; linear and yarn are", kind));
    }
    rope.kind = kind == "linear" ? nn::RopeKind::Linear : nn::RopeKind::Yarn;
    rope.factor = metadata.real_at(prefix + "rope.scaling.factor");
    rope.attention_factor = metadata.find_real(prefix + "rope.scaling.attn_factor").value_or(0);
  }
  const int64_t turned =
      metadata.find_int(prefix + "rope.dimension_count").value_or(llama.head_size);
  if (turned != llama.head_size) {
    fail_llama(metadata.name(), fmt::format("rotary embedding rotates {} of a head's {} elements; "
                                            "only models that rotate all are supported",
                                            turned, llama.head_size));
  }
}

}  // namespace

LlamaConfig llama_config(const Settings& config) {
  const std::string kind = config.text_at("model_type");
  if (kind != "llama" && kind != "mistral") {
    fail_llama(config.name(), fmt::format("the model_type is '{}', not llama or mistral", kind));
  }
  if (const auto activation = config.find_text("hidden_act");
      activation.value_or("silu") != "silu") {
    fail_llama(config.name(),
               fmt::format("the hidden_act is '{}'; silu is supported", *activation));
  }
  LlamaConfig llama;
  llama.vocab_size = config.int_at("vocab_size");
  llama.features = config.int_at("hidden_size");
  llama.hidden = config.int_at("intermediate_size");
  llama.layers = config.int_at("num_hidden_layers");
  llama.heads = config.int_at("num_attention_heads");
  llama.kv_heads = config.find_int("num_key_value_heads").value_or(llama.heads);
  llama.head_size =
      config.find_int("head_dim").value_or(llama.features / std::max<int64_t>(llama.heads, 1));
  llama.context = config.int_at("max_position_embeddings");
  llama.norm_eps = config.find_real("rms_norm_eps").value_or(1e-6);
  if (kind == "mistral") llama.window = config.find_int("sliding_window");
  llama.tied = config.find_bool("tie_word_embeddings").value_or(false);
  llama.attention_bias = config.find_bool("attention_bias").value_or(false);
  llama.feed_forward_bias = config.find_bool("mlp_bias").value_or(false);
  read_rope(config, llama);
  check(llama);
  return llama;
}

LlamaConfig llama_config(const Gguf& file) { return llama_gguf_config(file, file); }

LlamaConfig llama_gguf_config(const Settings& metadata, const WeightSource& weights) {
  const std::string kind = metadata.text_at("general.architecture");
  if (kind != "llama") {
    fail_llama(metadata.name(), fmt::format("the architecture is '{}', not llama", kind));
  }
  const std::string prefix = "llama.";
  const TensorInfo* table = weights.find("token_embd.weight");
  if (!table || table->dims.size() != 2) {
    fail_llama(metadata.name(), "lacks the tensor 'token_embd.weight' of two dims");
  }
  LlamaConfig llama;
  llama.vocab_size = table->dims[0];
  llama.features = metadata.int_at(prefix + "embedding_length");
  llama.hidden = metadata.int_at(prefix + "feed_forward_length");
  llama.layers = metadata.int_at(prefix + "block_count");
  llama.heads = metadata.int_at(prefix + "attention.head_count");
  llama.kv_heads = metadata.find_int(prefix + "attention.head_count_kv").value_or(llama.heads);
  llama.head_size = metadata.find_int(prefix + "attention.key_length")
                        .value_or(llama.features / std::max<int64_t>(llama.heads, 1));
  llama.context = metadata.int_at(prefix + "context_length");
  llama.norm_eps = metadata.real_at(prefix + "attention.layer_norm_rms_epsilon");
  llama.window = metadata.find_int(prefix + "attention.sliding_window");
  llama.tied = weights.find("output.weight") == nullptr;
  llama.attention_bias = weights.find("blk.0.attn_q.bias") != nullptr;
  llama.feed_forward_bias = weights.find("blk.0.ffn_up.bias") != nullptr;
  llama.rope_factors = weights.find("rope_freqs.weight") != nullptr;
  // Its converters order the rows of queries and keys for pairs of neighbours.
  llama.rope_pairs = RotaryPairs::Interleaved;
  read_gguf_rope(metadata, prefix, llama);
  check(llama);
  return llama;
}

std::string llama_gguf_name(const std::string& weight) {
  for (const auto& [ours, theirs] : kOuterNames) {
    if (weight.starts_with(ours)) return std::string(theirs) + weight.substr(ours.size());
  }
  constexpr std::string_view kLayers = "model.layers.";
  const size_t dot = weight.find('.', kLayers.size());
  if (!weight.starts_with(kLayers) || dot == weight.npos) return weight;
  const std::string number = weight.substr(kLayers.size(), dot - kLayers.size());
  const std::string_view rest = std::string_view(weight).substr(dot + 1);
  for (const auto& [ours, theirs] : kLayerNames) {
    if (!rest.starts_with(ours)) continue;
    return fmt::format("blk.{}.{}{}", number, theirs, rest.substr(ours.size()));
  }
  return weight;
}

}  // namespace luminal::llm
