#include "luminal/llm/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/io/foreign_file.h"
#include "luminal/io/load_weights.h"

namespace luminal::llm {
namespace {

namespace fs = std::filesystem;

void add_id(std::vector<TokenId>& ids, std::optional<int64_t> id, int64_t vocab_size) {
  if (id && *id >= 0 && *id < vocab_size) ids.push_back(static_cast<TokenId>(*id));
}

void sort_unique(std::vector<TokenId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// The first of the suggestions, the settings and the tokenizer that says what ends a text.
std::vector<TokenId> end_ids_of(const ModelDescription& description, const Tokenizer& tokenizer,
                                int64_t vocab_size) {
  std::vector<TokenId> ids;
  for (const auto& settings : {description.generation, description.settings}) {
    if (!settings || !ids.empty()) continue;
    for (const std::string& key : description.end_keys) {
      const auto found = settings->find_ints(key).value_or(std::vector<int64_t>());
      for (int64_t id : found) add_id(ids, id, vocab_size);
    }
  }
  if (ids.empty()) add_id(ids, tokenizer.eos(), vocab_size);
  sort_unique(ids);
  return ids;
}

// Where the file speaks of sampling, with the defaults of transformers, where it comes from. Many
// name a temperature and leave out that it is to be used.
SamplingOptions sampling_of(const std::shared_ptr<const Settings>& config) {
  if (!config) return kUsualSampling;
  SamplingOptions sampling = kUsualSampling;
  const std::optional<bool> samples = config->find_bool("do_sample");
  const auto temperature = config->find_real("temperature"), top_p = config->find_real("top_p"),
             min_p = config->find_real("min_p");
  const auto top_k = config->find_int("top_k");
  if (samples == false) {
    sampling = {};
  } else if (samples || temperature || top_p || min_p || top_k) {
    sampling = {.temperature = temperature.value_or(1),
                .top_k = top_k.value_or(50),
                .top_p = top_p.value_or(1),
                .min_p = min_p.value_or(0)};
  }
  sampling.repeat_penalty = config->find_real("repetition_penalty").value_or(1);
  try {
    check(sampling);
  } catch (const UserError& error) {
    throw UserError(fmt::format("'{}': {}", config->name(), error.what()));
  }
  return sampling;
}

}  // namespace

struct Model::Contents {
  std::string path;
  std::shared_ptr<const WeightSource> weights;
  Decoder decoder;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat_template = std::nullopt;
  std::vector<TokenId> end_ids = {};
  SamplingOptions sampling = {};
  double load_seconds = 0;
};

namespace {

const FileFormat& format_of(const std::string& path, const FileFormats& formats) {
  if (const FileFormat* format = formats.find_model(path)) return *format;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw UserError(fmt::format(
        "there is no model '{}': give the path of a GGUF file, or of a folder with config.json, "
        "safetensors and a tokenizer",
        path));
  }
  if (const auto what = foreign_file(path)) throw UserError(fmt::format("'{}' is {}", path, *what));
  throw UserError(
      fmt::format("'{}' is not a model: give a GGUF file, or the folder that holds config.json, "
                  "safetensors and a tokenizer",
                  path));
}

}  // namespace

Model::Model(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

Model Model::open(const std::string& path, const OpenOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const ModelFiles files = open_model(format_of(path, options.formats), path);
  Decoder decoder = options.families.decoder(files);
  Contents contents{.path = path,
                    .weights = files.weights,
                    .decoder = std::move(decoder),
                    .tokenizer = files.open_tokenizer()};
  const int64_t vocab_size = contents.decoder.vocab_size;
  contents.end_ids = end_ids_of(files.description, contents.tokenizer, vocab_size);
  contents.sampling = sampling_of(files.description.generation);
  const std::string& text = contents.tokenizer.chat_template();
  if (!text.empty()) contents.chat_template.emplace(text);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  contents.load_seconds = taken.count();
  return Model(std::make_shared<const Contents>(std::move(contents)));
}

const std::string& Model::path() const { return contents_->path; }
const Decoder& Model::decoder() const { return contents_->decoder; }
const Tokenizer& Model::tokenizer() const { return contents_->tokenizer; }
const std::optional<ChatTemplate>& Model::chat_template() const { return contents_->chat_template; }
const std::vector<TokenId>& Model::end_ids() const { return contents_->end_ids; }
const SamplingOptions& Model::sampling() const { return contents_->sampling; }
double Model::load_seconds() const { return contents_->load_seconds; }

DecoderGraph Model::build(Graph& graph, DType dtype, const DecoderOptions& options) const {
  if (dtype != DType::F32 && dtype != DType::BF16) {
    throw UserError(fmt::format("models compute in f32 or bf16, not in {}", name(dtype)));
  }
  const std::shared_ptr<const WeightSource>& weights = contents_->weights;
  const Decoder& decoder = contents_->decoder;
  LoadOptions names;
  if (decoder.name_in_file) {
    names.rename = [weights, of = decoder.name_in_file](const std::string& weight) {
      return of(*weights, weight);
    };
  }
  const nn::Scope scope = nn::Scope(graph, "", dtype).with_formats(weight_formats(weights, names));
  const DecoderGraph made = decoder.build(scope, options);
  load_weights(graph, weights, names);
  return made;
}

bool looks_like_model(const std::string& path, const FileFormats& formats) {
  return formats.find_model(path) != nullptr;
}

}  // namespace luminal::llm
