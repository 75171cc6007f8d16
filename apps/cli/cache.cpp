// luminal cache: what plans and compiled kernels on disk take, and their removal.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "luminal/base/file_cache.h"
#include "luminal/base/os_paths.h"

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

void show(const std::filesystem::path& folder) {
  std::cout << fmt::format("{}: {}\n", folder.string(), text_of(base::cache_stats(folder)));
  if (const std::string why = base::why_not_private(folder); !why.empty()) {
    std::cout << fmt::format("not used: {}\n", why);
  }
}

}  // namespace

void define_cache(CLI::App& app) {
  app.require_subcommand(1);
  auto folder = std::make_shared<std::string>();
  auto add = [&](const char* name, const char* summary) {
    CLI::App* command = app.add_subcommand(name, summary);
    command->add_option("--cache", *folder, "The folder, if it isn't the user's");
    return command;
  };
  add("stats", "Say where plans and compiled kernels are kept and what they take")
      ->callback([folder] { show(folder_of(*folder)); });
  add("clear", "Remove all plans and compiled kernels")->callback([folder] {
    const std::filesystem::path path = folder_of(*folder);
    std::cout << fmt::format("{}: removed {}\n", path.string(), text_of(base::trim_cache(path, 0)));
  });
}

}  // namespace luminal::cli
