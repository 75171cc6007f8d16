// A vocabulary as tests hand it over: the fields of VocabularyData, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/text/vocabulary_data.h"

namespace luminal {

// Counts and numbers are 32 bits, little-endian; a text is its length and its bytes; a list is its
// length and its items. gguf_vocabulary.py writes such files.
class VocabularyReader {
 public:
  VocabularyReader(std::span<const std::byte> bytes, std::string source)
      : bytes_(bytes), source_(std::move(source)) {}

  bool done() const { return bytes_.empty(); }
  template <typename T>
  T value() {
    T out;
    std::memcpy(&out, take(sizeof(T)).data(), sizeof(T));
    return out;
  }
  std::string text() {
    const auto bytes = take(value<uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  template <typename T = int32_t>
  std::vector<T> numbers() {
    std::vector<T> out(value<uint32_t>());
    for (T& number : out) number = value<T>();
    return out;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> out(value<uint32_t>());
    for (std::string& text_of : out) text_of = text();
    return out;
  }

 private:
  std::span<const std::byte> take(size_t n) {
    if (n > bytes_.size()) throw UserError(source_ + " is cut short");
    const auto front = bytes_.first(n);
    bytes_ = bytes_.subspan(n);
    return front;
  }

  std::span<const std::byte> bytes_;
  std::string source_;
};

inline VocabularyData read_vocabulary_file(const std::string& path) {
  const base::MappedFile file(path);
  VocabularyReader reader(file.bytes(), path);
  const auto id = [&]() -> std::optional<uint32_t> {
    const auto number = reader.value<int32_t>();
    if (number < 0) return std::nullopt;
    return static_cast<uint32_t>(number);
  };
  const auto flag = [&]() -> std::optional<bool> {
    const auto number = reader.value<int32_t>();
    if (number < 0) return std::nullopt;
    return number != 0;
  };
  VocabularyData data;
  data.source = path;
  data.model = reader.text();
  data.pre_tokenizer = reader.text();
  data.tokens = reader.texts();
  data.scores = reader.numbers<float>();
  data.types = reader.numbers();
  data.merges = reader.texts();
  for (auto* which :
       {&data.bos, &data.eos, &data.unknown, &data.separator, &data.padding, &data.cls}) {
    *which = id();
  }
  for (auto* which : {&data.add_bos, &data.add_eos, &data.add_space_prefix}) *which = flag();
  data.chat_template = reader.text();
  return data;
}

}  // namespace luminal
