#include "luminal/llm/sentence_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/io/config.h"

namespace luminal::llm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSupported =
    "the mean of all tokens, the first token and the maximum over all tokens are supported";

// How files name ways of pooling, as a switch of its own each or by a word.
struct ModeEntry {
  const char* key;
  std::string_view word;
  std::optional<PoolingMode> mode;  // none: not supported
};
constexpr ModeEntry kModes[] = {
    {"pooling_mode_cls_token", "cls", PoolingMode::First},
    {"pooling_mode_mean_tokens", "mean", PoolingMode::Mean},
    {"pooling_mode_max_tokens", "max", PoolingMode::Max},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", std::nullopt},
    {"pooling_mode_weightedmean_tokens", "weightedmean", std::nullopt},
    {"pooling_mode_lasttoken", "lasttoken", std::nullopt},
};

[[noreturn]] void fail_embeddings(const Config& config, const std::string& message) {
  throw UserError(fmt::format("embeddings: '{}': {}", config.name(), message));
}

std::vector<std::string> names_of_modes(const Config& config) {
  std::vector<std::string> names =
      config.find_texts("pooling_mode").value_or(std::vector<std::string>());
  for (const ModeEntry& entry : kModes) {
    if (config.find_bool(entry.key).value_or(false)) names.emplace_back(entry.word);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

PoolingMode mode_of(const Config& config) {
  const std::vector<std::string> names = names_of_modes(config);
  if (names.empty()) {
    fail_embeddings(config, fmt::format("names no way of pooling; {}", kSupported));
  }
  if (names.size() > 1) {
    fail_embeddings(config, fmt::format("pools in several ways at once ({}); one is supported",
                                        fmt::join(names, ", ")));
  }
  for (const ModeEntry& entry : kModes) {
    if (entry.word == names.front() && entry.mode) return *entry.mode;
  }
  fail_embeddings(config, fmt::format("pools by '{}'; {}", names.front(), kSupported));
}

// "sentence_transformers.models.Pooling" is a Pooling.
std::string kind_of(const Config& module) {
  const std::string type = module.text_at("type");
  return type.substr(type.find_last_of('.') + 1);
}

fs::path folder_of(const Config& module, const fs::path& folder) {
  const fs::path path = module.find_text("path").value_or("");
  const bool leaves = path.is_absolute() || std::ranges::find(path, "..") != path.end();
  if (leaves) {
    fail_embeddings(module, fmt::format("the path '{}' leaves the folder", path.string()));
  }
  return path.empty() ? folder : folder / path;
}

void read_modules(const fs::path& folder, const fs::path& modules_json, SentenceFiles& files) {
  std::optional<PoolingMode> mode;
  bool unit_length = false;
  for (const Config& module : Config::open_list(modules_json.string())) {
    const std::string kind = kind_of(module);
    if (kind == "Transformer") {
      files.encoder = folder_of(module, folder).string();
    } else if (kind == "Pooling") {
      mode = mode_of(Config::open((folder_of(module, folder) / "config.json").string()));
    } else if (kind == "Normalize") {
      unit_length = true;
    } else {
      fail_embeddings(module,
                      fmt::format("has the module '{}'; Transformer, Pooling and Normalize are "
                                  "supported",
                                  kind));
    }
  }
  if (mode) files.pooling = Pooling{.mode = *mode, .unit_length = unit_length};
}

}  // namespace

SentenceFiles read_sentence_files(const std::string& folder) {
  SentenceFiles files{.encoder = folder};
  std::error_code ignored;
  const fs::path modules = fs::path(folder) / "modules.json";
  if (fs::exists(modules, ignored)) read_modules(folder, modules, files);
  const fs::path settings = fs::path(files.encoder) / "sentence_bert_config.json";
  if (fs::exists(settings, ignored)) {
    const Config config = Config::open(settings.string());
    files.longest = config.find_int("max_seq_length");
    files.lower_case = config.find_bool("do_lower_case").value_or(false);
  }
  return files;
}

}  // namespace luminal::llm
