#include "luminal/text/read/named_pre_tokenizers.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/text/unicode/unicode.h"

namespace luminal::tokens {
namespace {

constexpr std::string_view kLlama3Words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4oWords =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekkenWords =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Entry {
  std::string_view name;
  std::string_view words;
  bool digits = false;         // split off each digit first
  bool nfc = false;            // normalise to NFC first
  bool ignore_merges = false;  // a word that is a token is taken as it is
};

constexpr Entry kEntries[] = {
    {.name = "gpt-2", .words = kGpt2Words},
    {.name = "default", .words = kGpt2Words},
    {.name = "mpt", .words = kGpt2Words},
    {.name = "olmo", .words = kGpt2Words},
    {.name = "phi-2", .words = kGpt2Words},
    {.name = "smollm", .words = kGpt2Words, .digits = true},
    {.name = "starcoder", .words = kGpt2Words, .digits = true},
    {.name = "refact", .words = kGpt2Words, .digits = true},
    {.name = "llama-bpe", .words = kLlama3Words, .ignore_merges = true},
    {.name = "llama3", .words = kLlama3Words, .ignore_merges = true},
    {.name = "llama-v3", .words = kLlama3Words, .ignore_merges = true},
    {.name = "qwen2", .words = kQwen2Words, .nfc = true},
    {.name = "gpt-4o", .words = kGpt4oWords},
    {.name = "llama4", .words = kGpt4oWords},
    {.name = "tekken", .words = kTekkenWords, .ignore_merges = true},
};

[[noreturn]] void unknown(std::string_view name) {
  std::string known;
  for (const Entry& entry : kEntries)
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  throw UserError(
      fmt::format("tokenizer: there is no pre-tokenizer named '{}'; there are {}. The "
                  "model's tokenizer.json says what it does",
                  name.substr(0, 60), known));
}

}  // namespace

NamedPreTokenizer named_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  for (const Entry& entry : kEntries) {
    if (entry.name != name) continue;
    NamedPreTokenizer named;
    named.ignore_merges = entry.ignore_merges;
    if (entry.nfc) named.normalizer.steps.emplace_back(NormalForm::NFC);
    auto& steps = named.pre_tokenizer.steps;
    if (entry.digits) steps.emplace_back(SplitCharacters{is_number, SplitBehavior::Isolated});
    steps.emplace_back(SplitByteLevel{.add_prefix_space = false,
                                      .words = std::make_shared<const Pattern>(entry.words)});
    return named;
  }
  unknown(name);
}

}  // namespace luminal::tokens
