// Language models: load(), text generation, embeddings, tokenizers.
#include <nanobind/stl/variant.h>

#include "binding/arrays.h"
#include "binding/binding.h"
#include "binding/options.h"
#include "binding/turns.h"
#include "luminal/base/errors.h"
#include "luminal/io/file_format.h"
#include "luminal/llm/embedder.h"
#include "luminal/llm/families.h"
#include "luminal/llm/generate.h"
#include "luminal/llm/session.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

// A text that goes on, or a conversation of {"role": …, "content": …}.
using Prompt = std::variant<std::string, std::vector<std::map<std::string, std::string>>>;
// Callbacks of Python, which end the work by returning False.
using OnText = std::function<nb::object(std::string_view)>;
using OnPrompt = std::function<nb::object(int64_t, int64_t)>;

struct Sampling {
  std::optional<double> temperature;
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<double> repeat_penalty;
  uint64_t seed = 1;

  llm::SamplingOptions over(llm::SamplingOptions usual) const {
    usual.temperature = temperature.value_or(usual.temperature);
    usual.top_k = top_k.value_or(usual.top_k);
    usual.top_p = top_p.value_or(usual.top_p);
    usual.min_p = min_p.value_or(usual.min_p);
    usual.repeat_penalty = repeat_penalty.value_or(usual.repeat_penalty);
    usual.seed = seed;
    check(usual);
    return usual;
  }
};

// A model that writes text, with the cache of one sequence.
struct Writer {
  explicit Writer(const std::string& path) : model(llm::Model::open(path)) {}
  llm::Model model;
  std::optional<llm::Session> session;
};

// A model that gives texts vectors.
struct Encoder {
  explicit Encoder(const std::string& path) : model(llm::EmbeddingModel::open(path)) {}
  llm::EmbeddingModel model;
  std::optional<llm::Embedder> embedder;
};

using Either = std::variant<std::unique_ptr<Writer>, std::unique_ptr<Encoder>>;

// What the file holds: a model that writes text, or else one that gives embeddings. The error is
// that of the kind which the file's architecture has.
Either opened(const std::string& path) {
  const FileFormats formats = known_formats();
  const FileFormat* format = formats.find_model(path);
  const bool encodes = format != nullptr && llm::known_families().gives_embeddings(
                                                open_model(*format, path).description.architecture);
  if (encodes) return std::make_unique<Encoder>(path);
  return std::make_unique<Writer>(path);
}

class LanguageModel {
 public:
  LanguageModel(std::string path, DType dtype, int64_t context, CompileOptions options)
      : path_(std::move(path)), model_(opened(path_)) {
    Waiting waiting(options);
    nb::gil_scoped_release released;
    if (auto* encoder = std::get_if<std::unique_ptr<Encoder>>(&model_)) {
      (*encoder)->embedder.emplace((*encoder)->model,
                                   llm::EmbedderOptions{.dtype = dtype, .compile = options});
    } else {
      Writer& made = *std::get<std::unique_ptr<Writer>>(model_);
      made.session.emplace(
          made.model, llm::SessionOptions{.context = context, .dtype = dtype, .compile = options});
    }
  }

  llm::Generated generate(const Prompt& prompt, int64_t max_tokens, const Sampling& sampling,
                          const std::vector<std::string>& stop, const OnText& on_text,
                          const OnPrompt& on_prompt) {
    Writer& writing = writer("generate");
    llm::GenerateOptions options{.sampling = sampling.over(writing.model.sampling()),
                                 .max_tokens = max_tokens,
                                 .stop = stop};
    Interrupts interrupts;
    options.on_prompt = [&](int64_t done, int64_t total) {
      interrupts.check();
      if (!on_prompt) return true;
      nb::gil_scoped_acquire held;
      return !on_prompt(done, total).is(nb::handle(Py_False));
    };
    options.on_text = [&](std::string_view text) {
      interrupts.check();
      if (!on_text) return true;
      nb::gil_scoped_acquire held;
      return !on_text(text).is(nb::handle(Py_False));
    };
    const std::vector<TokenId> ids = ids_of(writing.model, prompt);
    return turns_.take([&] { return llm::generate(*writing.session, ids, options); });
  }

  // The logits of the token that follows.
  Array logits(const std::vector<TokenId>& ids) {
    Writer& writing = writer("logits");
    Interrupts interrupts;
    const std::vector<float> values = turns_.take([&] {
      // In pieces, of which each continues the one before: Ctrl-C ends it between them.
      for (size_t end = kPiece; end < ids.size(); end += kPiece) {
        interrupts.check();
        writing.session->prompt(std::span(ids).first(end));
      }
      const std::span<const float> found = writing.session->prompt(ids);
      return std::vector<float>(found.begin(), found.end());
    });
    return matrix(values, {static_cast<int64_t>(values.size())});
  }

  void forget() {
    Writer& writing = writer("forget");
    turns_.take([&] { writing.session->rewind(0); });
  }

  // A row per text.
  Array embed(const std::vector<std::string>& texts) {
    const auto* encoder = std::get_if<std::unique_ptr<Encoder>>(&model_);
    if (encoder == nullptr) {
      throw UserError("embed: '" + path_ + "' writes text; open a sentence encoder");
    }
    std::vector<float> values;
    Interrupts interrupts;
    turns_.take([&] {
      for (const std::string& text : texts) {
        interrupts.check();
        const std::vector<float> row = (*encoder)->embedder->embed(std::string_view(text)).values;
        values.insert(values.end(), row.begin(), row.end());
      }
    });
    const auto rows = static_cast<int64_t>(texts.size());
    return matrix(values, {rows, rows == 0 ? 0 : static_cast<int64_t>(values.size()) / rows});
  }

  std::vector<TokenId> encode(const std::string& text) const { return tokenizer().encode(text); }
  std::string decode(const std::vector<TokenId>& ids) const { return tokenizer().decode(ids); }
  int64_t context() { return writer("context").session->context(); }
  bool chats() const {
    const auto* found = std::get_if<std::unique_ptr<Writer>>(&model_);
    return found != nullptr && (*found)->model.chat_template().has_value();
  }
  std::string repr() const { return "<luminal.LanguageModel '" + path_ + "'>"; }

 private:
  static constexpr size_t kPiece = 256;

  Writer& writer(const char* asked) {
    auto* found = std::get_if<std::unique_ptr<Writer>>(&model_);
    if (found == nullptr) {
      throw UserError(std::string(asked) + ": '" + path_ + "' gives embeddings; use embed()");
    }
    return **found;
  }

  const Tokenizer& tokenizer() const {
    return std::visit([](const auto& of) -> const Tokenizer& { return of->model.tokenizer(); },
                      model_);
  }

  static Array matrix(const std::vector<float>& values, std::vector<int64_t> dims) {
    return {.data = TensorData::copy_of(std::span<const float>(values), std::move(dims)),
            .writable = true};
  }

  static std::vector<TokenId> ids_of(const llm::Model& model, const Prompt& prompt) {
    if (const auto* text = std::get_if<std::string>(&prompt))
      return model.tokenizer().encode(*text);
    std::vector<ChatMessage> messages;
    for (const auto& each : std::get<1>(prompt)) {
      const auto role = each.find("role"), content = each.find("content");
      if (role == each.end() || content == each.end()) {
        throw UserError("a message is a dict with \"role\" and \"content\"");
      }
      messages.push_back({role->second, content->second});
    }
    return llm::chat_prompt(model, messages);
  }

  std::string path_;
  Either model_;
  Turns turns_;
};

void add_generated(nb::module_& module) {
  nb::class_<llm::Generated>(module, "Generated", "A text that a model wrote.")
      .def_ro("text", &llm::Generated::text)
      .def_ro("ids", &llm::Generated::ids)
      .def_prop_ro(
          "reason", [](const llm::Generated& of) { return std::string(llm::text(of.reason)); },
          "Why it ended.")
      .def_prop_ro("prompt_tokens", [](const llm::Generated& of) { return of.stats.prompt_tokens; })
      .def_prop_ro("reused_tokens", [](const llm::Generated& of) { return of.stats.reused_tokens; })
      .def_prop_ro("first_token_seconds",
                   [](const llm::Generated& of) { return of.stats.first_token_seconds; })
      .def_prop_ro("tokens_per_second",
                   [](const llm::Generated& of) { return of.stats.tokens_per_second; })
      .def("__str__", [](const llm::Generated& of) { return of.text; });
}

}  // namespace

void add_models(nb::module_& module) {
  add_generated(module);
  nb::class_<LanguageModel>(module, "LanguageModel",
                            "A model that writes text, with the cache of one sequence, or one that "
                            "gives texts vectors.")
      .def(
          "generate",
          [](LanguageModel& model, const Prompt& prompt, int64_t max_tokens,
             std::optional<double> temperature, std::optional<int64_t> top_k,
             std::optional<double> top_p, std::optional<double> min_p,
             std::optional<double> repeat_penalty, uint64_t seed,
             const std::vector<std::string>& stop, const OnText& on_text,
             const OnPrompt& on_prompt) {
            return model.generate(prompt, max_tokens,
                                  {temperature, top_k, top_p, min_p, repeat_penalty, seed}, stop,
                                  on_text, on_prompt);
          },
          "prompt"_a, "max_tokens"_a = 0, "temperature"_a.none() = nb::none(),
          "top_k"_a.none() = nb::none(), "top_p"_a.none() = nb::none(),
          "min_p"_a.none() = nb::none(), "repeat_penalty"_a.none() = nb::none(), "seed"_a = 1,
          "stop"_a = std::vector<std::string>(), "on_text"_a.none() = nb::none(),
          "on_prompt"_a.none() = nb::none(),
          "The text after a prompt, or the answer in a conversation (a list of {\"role\": …, "
          "\"content\": …}). on_text gets each piece of text, on_prompt how many "
          "tokens of the prompt are read and how many there are; either ends it by returning "
          "False.")
      .def("encode", &LanguageModel::encode, "text"_a)
      .def("decode", &LanguageModel::decode, "ids"_a)
      .def("logits", &LanguageModel::logits, "ids"_a, "Of the token that follows these.")
      .def("embed", &LanguageModel::embed, "texts"_a, "A row per text.")
      .def("forget", &LanguageModel::forget, "Begins a new sequence.")
      .def_prop_ro("context", &LanguageModel::context, "Tokens it has room for.")
      .def_prop_ro("chats", &LanguageModel::chats, "Whether it has a chat template.")
      .def("__repr__", &LanguageModel::repr);
  module.def(
      "load",
      [](const nb::object& path, DTypeName dtype, int64_t context, const nb::kwargs& options) {
        return new LanguageModel(path_of(path), dtype, context, read_options(options));
      },
      "path"_a, "dtype"_a = "f32", "context"_a = 0, "options"_a, nb::rv_policy::take_ownership,
      "A model from its file or folder, compiled.",
      nb::sig("def load(path: str | os.PathLike[str], dtype: DType | str = \"f32\", context: int = "
              "0, **options: typing.Unpack[luminal.options.CompileOptions]) -> LanguageModel"));
}

}  // namespace luminal::python
