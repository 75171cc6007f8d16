#include "apps/cli/model_graph.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "apps/cli/files.h"
#include "apps/cli/model_options.h"
#include "apps/cli/numbers.h"
#include "luminal/base/errors.h"
#include "luminal/llm/model.h"

namespace luminal::cli {
namespace {

// As llm::Session compiles it: a plan for prompts and one for single tokens.
NamedGraph open_model(const std::string& path, const ModelShape& shape, CompileOptions options) {
  constexpr int64_t kMostContext = 4096, kChunk = 256, kTypicalPrompt = 128;
  const llm::Model model = llm::Model::open(path);
  const int64_t most = model.decoder().context;
  const int64_t context = shape.context > 0 ? shape.context : std::min(most, kMostContext);
  if (context > most) {
    throw UserError(
        fmt::format("a context of {} tokens: '{}' is made for at most {}", context, path, most));
  }
  const int64_t chunk = std::min(context, kChunk);
  const DType dtype = dtype_of(shape.dtype);
  NamedGraph opened{std::filesystem::path(path).filename().string(), std::make_unique<Graph>(),
                    std::move(options)};
  model.build(*opened.graph, dtype, {.room = context, .longest_chunk = chunk, .cache = dtype});
  if (chunk > 1) {
    opened.options.variants = {{"s", {1}}};
    opened.options.typical_sizes = {{"s", std::min(chunk, kTypicalPrompt)}};
  }
  return opened;
}

}  // namespace

void ModelShape::add_to(CLI::App& app) {
  add_dtype(app, dtype)->group(ModelArguments::kGroup);
  app.add_option("--context", context, "Tokens that fit; 0: as `luminal run` has it")
      ->check(not_negative())
      ->group(ModelArguments::kGroup);
}

NamedGraph open_graph(const std::string& path, const ModelShape& model, CompileOptions options) {
  if (path != "-" && llm::looks_like_model(path)) {
    return open_model(path, model, std::move(options));
  }
  return {source_name(path), read_graph(path), std::move(options)};
}

}  // namespace luminal::cli
