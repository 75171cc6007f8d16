#include "luminal/io/gguf_vocabulary.h"

#include <fmt/format.h>

#include <limits>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"

namespace luminal {
namespace {

std::string key_of(std::string_view part) { return fmt::format("tokenizer.ggml.{}", part); }

template <typename To>
To checked(const Gguf& file, const std::string& key, int64_t value) {
  if (value >= std::numeric_limits<To>::min() && value <= std::numeric_limits<To>::max()) {
    return static_cast<To>(value);
  }
  throw UserError(fmt::format("gguf: {}: metadata {} holds {}, which is out of range",
                              io::quote(file.name()), io::quote(key), value));
}

std::string text_of(const Gguf& file, std::string_view part) {
  return file.find_text(key_of(part)).value_or("");
}

std::vector<std::string> texts_of(const Gguf& file, std::string_view part) {
  return file.find_texts(key_of(part)).value_or(std::vector<std::string>());
}

std::optional<uint32_t> id_of(const Gguf& file, std::string_view part) {
  const std::string key = key_of(part);
  const std::optional<int64_t> id = file.find_int(key);
  return id ? std::optional(checked<uint32_t>(file, key, *id)) : std::nullopt;
}

std::vector<int32_t> types_of(const Gguf& file) {
  const std::string key = key_of("token_type");
  std::vector<int32_t> types;
  for (int64_t type : file.find_ints(key).value_or(std::vector<int64_t>())) {
    types.push_back(checked<int32_t>(file, key, type));
  }
  return types;
}

// Bytes, which writers have held as arrays of i8 and of u8.
std::string bytes_of(const Gguf& file, std::string_view part) {
  std::string bytes;
  for (int64_t byte : file.find_ints(key_of(part)).value_or(std::vector<int64_t>())) {
    if (byte < 0) byte += 256;
    bytes.push_back(static_cast<char>(checked<uint8_t>(file, key_of(part), byte)));
  }
  return bytes;
}

}  // namespace

VocabularyData read_vocabulary(const Gguf& file) {
  if (!file.value(key_of("tokens"))) {
    throw UserError(fmt::format("gguf: {}: holds no tokenizer: it lacks the metadata {}",
                                io::quote(file.name()), io::quote(key_of("tokens"))));
  }
  const auto scores = file.find_reals(key_of("scores")).value_or(std::vector<double>());
  const auto flag = [&](std::string_view part) { return file.find_bool(key_of(part)); };
  return {
      .source = file.name(),
      .model = text_of(file, "model"),
      .pre_tokenizer = text_of(file, "pre"),
      .tokens = texts_of(file, "tokens"),
      .scores = {scores.begin(), scores.end()},
      .types = types_of(file),
      .merges = texts_of(file, "merges"),
      .precompiled_charsmap = bytes_of(file, "precompiled_charsmap"),
      .bos = id_of(file, "bos_token_id"),
      .eos = id_of(file, "eos_token_id"),
      .eot = id_of(file, "eot_token_id"),
      .unknown = id_of(file, "unknown_token_id"),
      .separator = id_of(file, "seperator_token_id"),
      .padding = id_of(file, "padding_token_id"),
      .cls = id_of(file, "cls_token_id"),
      .mask = id_of(file, "mask_token_id"),
      .add_bos = flag("add_bos_token"),
      .add_eos = flag("add_eos_token"),
      .add_sep = flag("add_sep_token"),
      .add_space_prefix = flag("add_space_prefix"),
      .remove_extra_whitespaces = flag("remove_extra_whitespaces"),
      .chat_template = file.find_text("tokenizer.chat_template").value_or(""),
  };
}

Tokenizer open_tokenizer(const std::string& path) {
  if (!is_gguf(path)) return Tokenizer::open(path);
  return Tokenizer::from_vocabulary(read_vocabulary(Gguf::open(path)));
}

}  // namespace luminal
