// The options of subcommands that run a language model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/options/search_options.h"
#include "luminal/llm/generate.h"
#include "luminal/llm/session.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace luminal::cli {

// Options of every command that runs a model, whatever its output.
CLI::Option* add_dtype(CLI::App& app, std::string& dtype);
DType dtype_of(const std::string& name);
void add_threads_and_cache(CLI::App& app, CompileOptions& compile);

struct ModelArguments {
  std::string path;
  std::string system;
  std::vector<std::string> stop;
  int64_t max_tokens = 0;
  int64_t context = 0;
  std::string dtype = "f32";
  bool stats = false;
  bool quiet = false;
  // Default: what the model's authors suggest.
  std::optional<double> temperature, top_p, min_p, repeat_penalty;
  std::optional<int64_t> top_k;
  bool greedy = false;
  // Options that graphs have too; `luminal run` defines them itself.
  std::optional<uint64_t> seed;  // none: a new one for each answer
  CompileOptions compile;
  SearchArguments search;  // the caller applies them

  static constexpr const char* kGroup = "Language models";

  // Defines all options but those of graphs; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
  void add_shared_to(CLI::App& app);

  llm::SessionOptions session_options() const;
  llm::GenerateOptions generate_options(const llm::Model& model) const;
};

}  // namespace luminal::cli
