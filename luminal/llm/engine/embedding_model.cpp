#include "luminal/llm/embedding_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/io/load_weights.h"
#include "luminal/llm/sentence_files.h"

namespace luminal::llm {
namespace {

namespace fs = std::filesystem;

// Of GGUF files no encoder is read, whatever families there are.
const FileFormat& format_of_encoder(const std::string& path, const FileFormats& formats) {
  const FileFormat* format = formats.find_model(path);
  const bool in_gguf = format && format->name == kGgufFormat;
  if (format && !in_gguf) return *format;
  std::error_code ignored;
  const char* what = "there is no such folder";
  if (fs::exists(path, ignored)) what = "it is a file";
  if (in_gguf) what = "it is a GGUF file, and only models that generate text are read from GGUF";
  throw UserError(fmt::format(
      "'{}' gives no embeddings: {}; give the folder of a BERT model, with config.json, "
      "model.safetensors and tokenizer.json",
      path, what));
}

int64_t longest_of(const SentenceFiles& files, const Encoder& encoder) {
  const int64_t asked = files.longest.value_or(encoder.context);
  if (asked >= 1) return std::min(asked, encoder.context);
  throw UserError(fmt::format("embeddings: '{}': max_seq_length is {}; it must be positive",
                              files.encoder, asked));
}

// Tokenizers of such models make texts lower case themselves.
void check_case(const SentenceFiles& files, const Tokenizer& tokenizer) {
  if (!files.lower_case || tokenizer.encode("A") == tokenizer.encode("a")) return;
  throw UserError(
      fmt::format("embeddings: '{}': do_lower_case is set, but the tokenizer is case-sensitive; "
                  "that isn't supported",
                  files.encoder));
}

}  // namespace

struct EmbeddingModel::Contents {
  std::string path;
  SentenceFiles sentences;
  std::shared_ptr<const WeightSource> weights;
  Encoder encoder;
  Tokenizer tokenizer;
  Pooling pooling;
  int64_t longest = 0;
  double load_seconds = 0;
};

EmbeddingModel::EmbeddingModel(std::shared_ptr<const Contents> contents)
    : contents_(std::move(contents)) {}

EmbeddingModel EmbeddingModel::open(const std::string& path, const OpenOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const FileFormat& format = format_of_encoder(path, options.formats);
  SentenceFiles sentences = read_sentence_files(path);
  const ModelFiles files = open_model(format, sentences.encoder);
  Encoder encoder = options.families.encoder(files);
  Tokenizer tokenizer = files.open_tokenizer();
  check_case(sentences, tokenizer);
  Contents contents{.path = path,
                    .sentences = std::move(sentences),
                    .weights = files.weights,
                    .encoder = std::move(encoder),
                    .tokenizer = std::move(tokenizer),
                    .pooling = {}};
  contents.pooling = contents.sentences.pooling.value_or(Pooling());
  contents.longest = longest_of(contents.sentences, contents.encoder);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  contents.load_seconds = taken.count();
  return EmbeddingModel(std::make_shared<const Contents>(std::move(contents)));
}

const std::string& EmbeddingModel::path() const { return contents_->path; }
const Encoder& EmbeddingModel::encoder() const { return contents_->encoder; }
const Tokenizer& EmbeddingModel::tokenizer() const { return contents_->tokenizer; }
const Pooling& EmbeddingModel::pooling() const { return contents_->pooling; }
bool EmbeddingModel::states_pooling() const { return contents_->sentences.pooling.has_value(); }
int64_t EmbeddingModel::longest() const { return contents_->longest; }
double EmbeddingModel::load_seconds() const { return contents_->load_seconds; }

EmbeddingGraph EmbeddingModel::build(Graph& graph, DType dtype) const {
  if (dtype != DType::F32 && dtype != DType::BF16) {
    throw UserError(fmt::format("models compute in f32 or bf16, not in {}", name(dtype)));
  }
  const Contents& model = *contents_;
  EmbeddingGraph made;
  made.s = Expr::var("s", 1, model.longest);
  made.ids = graph.input("ids", {made.s}, DType::I32);
  const Tensor states = model.encoder.build(nn::Scope(graph, "", dtype), made.ids);
  made.embedding = pool(states, model.pooling).output("embedding");
  LoadOptions names;
  if (model.encoder.name_in_file) {
    names.rename = [&](const std::string& weight) {
      return model.encoder.name_in_file(*model.weights, weight);
    };
  }
  load_weights(graph, model.weights, names);
  return made;
}

}  // namespace luminal::llm
