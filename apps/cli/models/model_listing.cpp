#include "apps/cli/models/model_listing.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "luminal/io/gguf.h"
#include "luminal/io/model_folder.h"
#include "luminal/io/safetensors.h"

namespace luminal::cli {
namespace {

using Json = nlohmann::ordered_json;

// An f32 as the shortest decimal that reads back to it.
double shortest(double real) {
  return std::strtod(fmt::format("{}", static_cast<float>(real)).c_str(), nullptr);
}

Json value_of(const GgufValue& value) {
  if (auto text = value.to_text()) return std::string(*text);
  if (auto truth = value.to_bool()) return *truth;
  if (auto number = value.to_int()) return *number;
  const bool narrow = value.kind == GgufKind::F32 || value.element == GgufKind::F32;
  if (auto real = value.to_real()) return narrow ? shortest(*real) : *real;
  Json list = Json::array();
  if (value.element == GgufKind::Bool) {
    for (std::byte truth : value.bytes) list.push_back(truth != std::byte{0});
  } else if (auto numbers = value.to_ints()) {
    for (int64_t number : *numbers) list.push_back(number);
  } else if (auto reals = value.to_reals()) {
    for (double real : *reals) list.push_back(narrow ? shortest(real) : real);
  }
  for (std::string_view text : value.texts) list.push_back(std::string(text));
  for (const GgufValue& inner : value.arrays) list.push_back(value_of(inner));
  return list;
}

std::string kind_of(const GgufValue& value) {
  if (value.kind != GgufKind::Array) return std::string(name(value.kind));
  return fmt::format("{}[{}]", name(value.element), value.size());
}

ModelListing list_gguf(const std::string& path) {
  const Gguf file = Gguf::open(path);
  ModelListing listing{
      .format = fmt::format("GGUF {}, alignment {}", file.version(), file.alignment()),
      .metadata = {},
      .tensors = file.tensors()};
  for (const GgufEntry& entry : file.metadata()) {
    listing.metadata.push_back({.key = std::string(entry.key),
                                .kind = kind_of(entry.value),
                                .value = value_of(entry.value)});
  }
  return listing;
}

ModelListing list_safetensors(const SafeTensors& file) {
  ModelListing listing{.format = "safetensors", .metadata = {}, .tensors = file.tensors()};
  for (const auto& [key, text] : file.metadata()) {
    listing.metadata.push_back({.key = key, .kind = "string", .value = text});
  }
  return listing;
}

void add_config(ModelListing& listing, const Config& config, const std::string& prefix) {
  for (const std::string& key : config.keys()) {
    listing.metadata.push_back(
        {.key = prefix + key, .kind = "", .value = Json::parse(config.json(key))});
  }
}

ModelListing list_folder(const std::string& path) {
  const ModelFolder folder = ModelFolder::open(path);
  ModelListing listing = list_safetensors(folder.tensors);
  listing.format = "Hugging Face folder, safetensors";
  listing.metadata.clear();
  add_config(listing, folder.config, "config.");
  if (folder.generation_config) {
    add_config(listing, *folder.generation_config, "generation_config.");
  }
  const TokenizerFiles& files = folder.tokenizer;
  Json found = Json::array();
  for (const auto* file :
       {&files.tokenizer_json, &files.tokenizer_model, &files.tokenizer_config_json,
        &files.special_tokens_map_json, &files.chat_template_jinja, &files.vocab_txt,
        &files.vocab_json, &files.merges_txt}) {
    if (*file) found.push_back(std::filesystem::path(**file).filename().string());
  }
  listing.metadata.push_back({.key = "tokenizer files", .kind = "", .value = std::move(found)});
  return listing;
}

}  // namespace

int64_t ModelListing::n_elements() const {
  int64_t total = 0;
  for (const TensorInfo& info : tensors) {
    // The dims of an unknown dtype are unchecked claims of the file.
    int64_t count = 1;
    bool fits = true;
    for (int64_t dim : info.dims) fits = fits && !__builtin_mul_overflow(count, dim, &count);
    if (fits && info.n_bytes > 0) total += count;
  }
  return total;
}

int64_t ModelListing::n_bytes() const {
  int64_t total = 0;
  for (const TensorInfo& info : tensors) total += info.n_bytes;
  return total;
}

ModelListing list_model(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return list_folder(path);
  return is_gguf(path) ? list_gguf(path) : list_safetensors(SafeTensors::open(path));
}

}  // namespace luminal::cli
