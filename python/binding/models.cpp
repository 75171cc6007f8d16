// Language models: load(), text generation, embeddings, tokenizers.
#include <nanobind/stl/variant.h>

#include <mutex>

#include "binding/arrays.h"
#include "binding/binding.h"
#include "binding/options.h"
#include "luminal/base/errors.h"
#include "luminal/llm/embedder.h"
#include "luminal/llm/generate.h"
#include "luminal/llm/session.h"

namespace luminal::python {
namespace {

using namespace nb::literals;

// A text that goes on, or a conversation of {"role": …, "content": …}.
using Prompt = std::variant<std::string, std::vector<std::map<std::string, std::string>>>;
using OnText = std::function<bool(std::string_view)>;

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

// What the file holds: a model that writes text, or else one that gives embeddings.
Either opened(const std::string& path) {
  try {
    return std::make_unique<Writer>(path);
  } catch (const UserError&) {
    std::unique_ptr<Encoder> encoder;
    try {
      encoder = std::make_unique<Encoder>(path);
    } catch (const UserError&) {
    }
    if (encoder == nullptr) throw;
    return encoder;
  }
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
                          const std::vector<std::string>& stop, const OnText& on_text) {
    Writer& writing = writer("generate");
    llm::GenerateOptions options{.sampling = sampling.over(writing.model.sampling()),
                                 .max_tokens = max_tokens,
                                 .stop = stop};
    Interrupts interrupts;
    options.on_prompt = [&](int64_t, int64_t) {
      interrupts.check();
      return true;
    };
    options.on_text = [&](std::string_view text) {
      interrupts.check();
      if (!on_text) return true;
      nb::gil_scoped_acquire held;
      return on_text(text);
    };
    const std::vector<TokenId> ids = ids_of(writing.model, prompt);
    nb::gil_scoped_release released;
    const std::scoped_lock alone(running_);
    return llm::generate(*writing.session, ids, options);
  }

  // The logits of the token that follows.
  Array logits(const std::vector<TokenId>& ids) {
    Writer& writing = writer("logits");
    std::vector<float> values;
    {
      nb::gil_scoped_release released;
      const std::scoped_lock alone(running_);
      const std::span<const float> found = writing.session->prompt(ids);
      values.assign(found.begin(), found.end());
    }
    return matrix(values, {static_cast<int64_t>(values.size())});
  }

  void forget() {
    Writer& writing = writer("forget");
    nb::gil_scoped_release released;
    const std::scoped_lock alone(running_);
    writing.session->rewind(0);
  }

  // A row per text.
  Array embed(const std::vector<std::string>& texts) {
    const auto* encoder = std::get_if<std::unique_ptr<Encoder>>(&model_);
    if (encoder == nullptr) {
      throw UserError("embed: '" + path_ + "' writes text; open a sentence encoder");
    }
    std::vector<float> values;
    Interrupts interrupts;
    {
      nb::gil_scoped_release released;
      const std::scoped_lock alone(running_);
      for (const std::string& text : texts) {
        interrupts.check();
        const std::vector<float> row = (*encoder)->embedder->embed(std::string_view(text)).values;
        values.insert(values.end(), row.begin(), row.end());
      }
    }
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
  std::mutex running_;
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
             const std::vector<std::string>& stop, const OnText& on_text) {
            return model.generate(prompt, max_tokens,
                                  {temperature, top_k, top_p, min_p, repeat_penalty, seed}, stop,
                                  on_text);
          },
          "prompt"_a, "max_tokens"_a = 0, "temperature"_a.none() = nb::none(),
          "top_k"_a.none() = nb::none(), "top_p"_a.none() = nb::none(),
          "min_p"_a.none() = nb::none(), "repeat_penalty"_a.none() = nb::none(), "seed"_a = 1,
          "stop"_a = std::vector<std::string>(), "on_text"_a.none() = nb::none(),
          "The text after a prompt, or the answer in a conversation (a list of {\"role\": …, "
          "\"content\": …}). on_text gets each piece and ends it by returning False.")
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
        return new LanguageModel(nb::str(path).c_str(), dtype, context, read_options(options));
      },
      "path"_a, "dtype"_a = "f32", "context"_a = 0, "options"_a, nb::rv_policy::take_ownership,
      "A model from its file or folder, compiled.",
      nb::sig("def load(path: str | os.PathLike[str], dtype: DType | str = \"f32\", context: int = "
              "0, **options: typing.Unpack[luminal.options.CompileOptions]) -> LanguageModel"));
}

}  // namespace luminal::python
