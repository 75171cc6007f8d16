// luminal cache: the size of plans and compiled kernels on disk, and their removal.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/options/command.h"
#include "apps/cli/options/json_result.h"
#include "luminal/base/files/file_cache.h"
#include "luminal/base/os/paths.h"

namespace luminal::cli {
namespace {

std::filesystem::path folder_of(const std::string& option) {
  return option.empty() ? base::cache_folder() / "kernels" : std::filesystem::path(option);
}

// "43 compiled kernels and 2 plans, 1.9 MB"
std::string text_of(const std::vector<base::CacheStats>& stats) {
  std::string text;
  uint64_t bytes = 0;
  for (const base::CacheStats& of_kind : stats) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ", of_kind.entries, of_kind.kind.what);
    bytes += of_kind.bytes;
  }
  return fmt::format("{}, {:.1f} MB", text, static_cast<double>(bytes) / 1e6);
}

nlohmann::ordered_json json_of(const std::filesystem::path& folder,
                               const std::vector<base::CacheStats>& stats) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (const base::CacheStats& of_kind : stats) {
    kinds.push_back(
        {{"what", of_kind.kind.what}, {"entries", of_kind.entries}, {"bytes", of_kind.bytes}});
  }
  return {{"folder", folder.string()}, {"entries", kinds}};
}

void show(const std::filesystem::path& folder, bool json) {
  if (json) {
    nlohmann::ordered_json result = json_of(folder, base::cache_stats(folder));
    result["why_not_used"] = base::why_not_private(folder);
    return print_json_result(result);
  }
  std::cout << fmt::format("{}: {}\n", folder.string(), text_of(base::cache_stats(folder)));
  if (const std::string why = base::why_not_private(folder); !why.empty()) {
    std::cout << fmt::format("not used: {}\n", why);
  }
}

}  // namespace

void define_cache(CLI::App& app) {
  app.require_subcommand(1);
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  auto add = [&](const char* name, const char* summary) {
    CLI::App* command = app.add_subcommand(name, summary);
    command->add_option("--cache", *folder, "Cache folder (default: the user's)");
    add_json(*command, *json);
    return command;
  };
  add("stats", "Show where plans and compiled kernels are kept, and their size")
      ->callback([folder, json] { show(folder_of(*folder), *json); });
  add("clear", "Remove all plans and compiled kernels")->callback([folder, json] {
    const std::filesystem::path path = folder_of(*folder);
    const std::vector<base::CacheStats> removed = base::trim_cache(path, 0);
    if (*json) return print_json_result({{"removed", json_of(path, removed)}});
    std::cout << fmt::format("{}: removed {}\n", path.string(), text_of(removed));
  });
}

}  // namespace luminal::cli
