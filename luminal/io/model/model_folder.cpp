#include "luminal/io/model_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"

namespace luminal {
namespace {

namespace fs = std::filesystem;
using io::quote;

std::optional<std::string> file_in(const fs::path& folder, const char* name) {
  std::error_code ignored;
  const fs::path path = folder / name;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  return path.string();
}

TokenizerFiles tokenizer_in(const fs::path& folder) {
  return {.tokenizer_json = file_in(folder, "tokenizer.json"),
          .tokenizer_model = file_in(folder, "tokenizer.model"),
          .tokenizer_config_json = file_in(folder, "tokenizer_config.json"),
          .special_tokens_map_json = file_in(folder, "special_tokens_map.json"),
          .chat_template_jinja = file_in(folder, "chat_template.jinja"),
          .vocab_txt = file_in(folder, "vocab.txt"),
          .vocab_json = file_in(folder, "vocab.json"),
          .merges_txt = file_in(folder, "merges.txt")};
}

[[noreturn]] void fail_folder(const std::string& path, const std::string& message) {
  throw UserError(fmt::format("model folder: {}: {}", quote(path), message));
}

void check_folder(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) fail_folder(path, "there is no such folder");
  if (!file_in(path, "config.json")) {
    fail_folder(path, "the folder holds no config.json; is it a model in Hugging Face's layout?");
  }
  const bool weights =
      file_in(path, "model.safetensors") || file_in(path, "model.safetensors.index.json");
  if (weights) return;
  if (file_in(path, "pytorch_model.bin") || file_in(path, "pytorch_model.bin.index.json")) {
    fail_folder(path,
                "its weights are a Python pickle, which can run code and isn't read; convert them "
                "to model.safetensors");
  }
  fail_folder(path, "the folder holds neither model.safetensors nor model.safetensors.index.json");
}

}  // namespace

ModelFolder ModelFolder::open(const std::string& path) {
  check_folder(path);
  Config config = Config::open(*file_in(path, "config.json"));
  std::optional<Config> generation;
  if (auto file = file_in(path, "generation_config.json")) generation = Config::open(*file);
  return {.path = path,
          .config = std::move(config),
          .generation_config = std::move(generation),
          .tensors = SafeTensors::open(path),
          .tokenizer = tokenizer_in(path)};
}

}  // namespace luminal
