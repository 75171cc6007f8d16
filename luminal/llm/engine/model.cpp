#include "luminal/llm/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>
#include <variant>

#include "luminal/base/errors.h"
#include "luminal/io/foreign_file.h"
#include "luminal/io/gguf_vocabulary.h"
#include "luminal/io/load_weights.h"
#include "luminal/io/model_folder.h"
#include "luminal/llm/models/list.h"

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

// The first of generation_config.json, config.json and the tokenizer that says what ends a text.
std::vector<TokenId> end_ids_of(const ModelFolder& folder, const Tokenizer& tokenizer,
                                int64_t vocab_size) {
  std::vector<TokenId> ids;
  const auto add_all = [&](const Config& config) {
    if (!ids.empty()) return;
    const auto found = config.find_ints("eos_token_id").value_or(std::vector<int64_t>());
    for (int64_t id : found) add_id(ids, id, vocab_size);
  };
  if (folder.generation_config) add_all(*folder.generation_config);
  add_all(folder.config);
  if (ids.empty()) add_id(ids, tokenizer.eos(), vocab_size);
  return ids;
}

// Where the file speaks of sampling, with the defaults of transformers, where it comes from. Many
// name a temperature and leave out that it is to be used.
SamplingOptions sampling_of(const std::optional<Config>& config) {
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
  std::variant<Gguf, ModelFolder> files;
  Decoder decoder;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat_template = std::nullopt;
  std::vector<TokenId> end_ids = {};
  SamplingOptions sampling = {};
  double load_seconds = 0;
};

namespace {

struct FromFile {
  std::variant<Gguf, ModelFolder> files;
  Decoder decoder;
  Tokenizer tokenizer;
  std::vector<TokenId> end_ids;
  SamplingOptions sampling;
};

FromFile open_gguf(const std::string& path) {
  Gguf file = Gguf::open(path);
  Decoder decoder = find_decoder(file);
  const VocabularyData vocabulary = read_vocabulary(file);
  std::vector<TokenId> ends;
  for (const auto& id : {vocabulary.eos, vocabulary.eot}) add_id(ends, id, decoder.vocab_size);
  return {.files = std::move(file),
          .decoder = std::move(decoder),
          .tokenizer = Tokenizer::from_vocabulary(vocabulary),
          .end_ids = std::move(ends),
          .sampling = kUsualSampling};
}

FromFile open_folder(const std::string& path) {
  ModelFolder folder = ModelFolder::open(path);
  Decoder decoder = find_decoder(folder.config);
  Tokenizer tokenizer = Tokenizer::open(path);
  std::vector<TokenId> ends = end_ids_of(folder, tokenizer, decoder.vocab_size);
  SamplingOptions sampling = sampling_of(folder.generation_config);
  return {.files = std::move(folder),
          .decoder = std::move(decoder),
          .tokenizer = std::move(tokenizer),
          .end_ids = std::move(ends),
          .sampling = sampling};
}

FromFile open_any(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return open_folder(path);
  if (is_gguf(path)) return open_gguf(path);
  if (!fs::exists(path, ignored)) {
    throw UserError(fmt::format(
        "there is no model '{}': give the path of a GGUF file, or of a folder with config.json, "
        "safetensors and a tokenizer",
        path));
  }
  if (const auto what = foreign_file(path)) throw UserError(fmt::format("'{}' is {}", path, *what));
  throw UserError(fmt::format(
      "'{}' is no model: give a GGUF file, or the folder that holds config.json, safetensors and "
      "a tokenizer",
      path));
}

}  // namespace

Model::Model(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

Model Model::open(const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  FromFile read = open_any(path);
  sort_unique(read.end_ids);
  Contents contents{.path = path,
                    .files = std::move(read.files),
                    .decoder = std::move(read.decoder),
                    .tokenizer = std::move(read.tokenizer),
                    .end_ids = std::move(read.end_ids),
                    .sampling = read.sampling};
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
  const nn::Scope scope(graph, "", dtype);
  const Decoder& decoder = contents_->decoder;
  if (const auto* folder = std::get_if<ModelFolder>(&contents_->files)) {
    const DecoderGraph made = decoder.build(scope, options);
    load_weights(graph, folder->tensors);
    return made;
  }
  const Gguf& file = std::get<Gguf>(contents_->files);
  const LoadOptions names{.rename = decoder.gguf_name};
  const DecoderGraph made = decoder.build(scope.with_formats(weight_formats(file, names)), options);
  load_weights(graph, file, names);
  return made;
}

bool looks_like_model(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) || is_gguf(path);
}

}  // namespace luminal::llm
