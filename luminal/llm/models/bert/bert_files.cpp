#include "luminal/llm/models/bert/bert_files.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "luminal/base/errors.h"

namespace luminal::llm {
namespace {

constexpr std::pair<std::string_view, BertActivation> kActivations[] = {
    {"gelu", BertActivation::Gelu},
    {"gelu_new", BertActivation::GeluTanh},
    {"gelu_pytorch_tanh", BertActivation::GeluTanh},
    {"relu", BertActivation::Relu},
    {"silu", BertActivation::Silu},
    {"swish", BertActivation::Silu}};

constexpr std::pair<std::string_view, std::string_view> kOldNames[] = {
    {"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}};

[[noreturn]] void fail_bert(const Settings& config, const std::string& message) {
  throw UserError(fmt::format("bert: '{}': {}", config.name(), message));
}

BertActivation activation_of(const Settings& config) {
  const std::string name = config.find_text("hidden_act").value_or("gelu");
  for (const auto& [theirs, ours] : kActivations) {
    if (name == theirs) return ours;
  }
  fail_bert(config,
            fmt::format("the hidden_act is '{}'; gelu, gelu_new, gelu_pytorch_tanh, relu and silu "
                        "are supported",
                        name));
}

}  // namespace

BertConfig bert_config(const Settings& config) {
  const std::string kind = config.text_at("model_type");
  if (kind != "bert") fail_bert(config, fmt::format("the model_type is '{}', not bert", kind));
  const std::string positions = config.find_text("position_embedding_type").value_or("absolute");
  if (positions != "absolute") {
    fail_bert(config,
              fmt::format("the position_embedding_type is '{}'; absolute is supported", positions));
  }
  if (config.find_bool("is_decoder").value_or(false)) {
    fail_bert(
        config,
        "it is a decoder, whose tokens attend only to those before them; encoders are supported");
  }
  const BertConfig bert{.vocab_size = config.int_at("vocab_size"),
                        .positions = config.int_at("max_position_embeddings"),
                        .types = config.find_int("type_vocab_size").value_or(2),
                        .features = config.int_at("hidden_size"),
                        .hidden = config.int_at("intermediate_size"),
                        .layers = config.int_at("num_hidden_layers"),
                        .heads = config.int_at("num_attention_heads"),
                        .norm_eps = config.find_real("layer_norm_eps").value_or(1e-12),
                        .activation = activation_of(config)};
  check(bert);
  return bert;
}

std::string bert_name_in_file(const WeightSource& file, const std::string& weight) {
  const char* prefix = file.find("bert.embeddings.word_embeddings.weight") ? "bert." : "";
  const std::string name = prefix + weight;
  for (const auto& [now, before] : kOldNames) {
    if (!name.ends_with(now) || file.find(name)) continue;
    const std::string old = name.substr(0, name.size() - now.size()) + std::string(before);
    if (file.find(old)) return old;
  }
  return name;
}

}  // namespace luminal::llm
