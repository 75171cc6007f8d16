// luminal cache: what the compiled kernels on disk take, and their removal.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "luminal/backends/cpu/object_cache.h"
#include "luminal/base/os_paths.h"

namespace luminal::cli {
namespace {

std::filesystem::path folder_of(const std::string& option) {
  return option.empty() ? base::cache_folder() / "kernels" : std::filesystem::path(option);
}

std::string text_of(const backends::cpu::CacheStats& stats) {
  return fmt::format("{} compiled kernels, {:.1f} MB", stats.entries,
                     static_cast<double>(stats.bytes) / 1e6);
}

void show(const std::filesystem::path& folder) {
  std::cout << fmt::format("{}: {}\n", folder.string(),
                           text_of(backends::cpu::cache_stats(folder)));
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
  add("stats", "Say where compiled kernels are kept and what they take")->callback([folder] {
    show(folder_of(*folder));
  });
  add("clear", "Remove all compiled kernels")->callback([folder] {
    const std::filesystem::path path = folder_of(*folder);
    std::cout << fmt::format("{}: removed {}\n", path.string(),
                             text_of(backends::cpu::trim_cache(path, 0)));
  });
}

}  // namespace luminal::cli
