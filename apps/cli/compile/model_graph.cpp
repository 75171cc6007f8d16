#include "apps/cli/compile/model_graph.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "apps/cli/files/files.h"
#include "apps/cli/options/model_options.h"
#include "luminal/llm/model.h"
#include "luminal/llm/session.h"

namespace luminal::cli {
namespace {

// Like llm::Session: one plan for prompts and one for single tokens.
NamedGraph open_model_graph(const std::string& path, const ModelShape& shape,
                            CompileOptions options) {
  const llm::Model model = llm::Model::open(path);
  const DType dtype = dtype_of(shape.dtype);
  llm::SessionForm form = llm::session_form(model, {.dtype = dtype, .compile = std::move(options)});
  NamedGraph opened{std::filesystem::path(path).filename().string(), std::make_unique<Graph>(),
                    std::move(form.compile)};
  model.build(*opened.graph, dtype, form.decoder);
  const std::string room(form.decoder.room.name());
  opened.sizes.set(room, opened.options.plan.typical_sizes.find(room).value());
  return opened;
}

}  // namespace

void ModelShape::add_to(CLI::App& app) { add_dtype(app, dtype)->group(ModelArguments::kGroup); }

NamedGraph open_graph(const std::string& path, const ModelShape& model, CompileOptions options) {
  if (path != "-" && llm::looks_like_model(path)) {
    return open_model_graph(path, model, std::move(options));
  }
  return {source_name(path), read_graph(path), std::move(options)};
}

}  // namespace luminal::cli
