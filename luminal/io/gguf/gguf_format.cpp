#include "luminal/io/gguf/gguf_format.h"

#include "luminal/io/gguf_vocabulary.h"

namespace luminal::io {
namespace {

ModelFiles open_gguf_model(const std::string& path) {
  const Gguf file = Gguf::open(path);
  return {.description = describe_model(file),
          .weights = std::make_shared<const Gguf>(file),
          .open_tokenizer = [file] { return Tokenizer::from_vocabulary(read_vocabulary(file)); }};
}

}  // namespace

FileFormat gguf_format() {
  return {
      .name = std::string(kGgufFormat),
      .recognises = is_gguf,
      .open_weights =
          [](const std::string& path) { return std::make_shared<const Gguf>(Gguf::open(path)); },
      .open_model = open_gguf_model};
}

}  // namespace luminal::io
