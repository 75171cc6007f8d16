#include "apps/cli/files/leaf_data.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/cli/files/random_inputs.h"
#include "luminal/base/errors.h"
#include "luminal/driver/npy.h"
#include "luminal/graph/verify.h"

namespace luminal::cli {
namespace {

// "NAME=REST"
std::pair<std::string, std::string> split(const std::string& text, const char* option) {
  const size_t at = text.find('=');
  if (at == 0 || at == std::string::npos) {
    throw CLI::ValidationError(option, "'" + text + "' is not NAME=VALUE");
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace

void LeafArguments::add_to(CLI::App& app, const char* group) {
  app.add_option("--bind", bindings, "Value of a variable (default: a typical one, or a bound)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--input", inputs,
                 "Data of a leaf, from .npy or raw bytes (default: random, 0 for states)")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->group(group);
}

Bindings LeafArguments::sizes(const Graph& graph, int64_t typical, const Bindings& own) const {
  Bindings sizes;
  for (Expr variable : variables(graph)) {
    const int64_t between = std::clamp(typical, variable.lower_bound(), variable.upper_bound());
    sizes.set(variable.name(), own.find(variable.name()).value_or(between));
  }
  for (const std::string& text : bindings) {
    const auto [name, value] = split(text, "--bind");
    int64_t number = 0;
    if (!CLI::detail::lexical_cast(value, number)) {
      throw CLI::ValidationError("--bind", "'" + value + "' is not a whole number");
    }
    sizes.set(name, number);
  }
  return sizes;
}

std::map<NodeId, TensorData> LeafArguments::data(const Graph& graph, const Bindings& sizes,
                                                 uint64_t seed) const {
  std::map<std::string, std::string> files;
  for (const std::string& text : inputs) {
    const auto [file, added] = files.insert(split(text, "--input"));
    if (!added) throw CLI::ValidationError("--input", "'" + file->first + "' is given twice");
  }
  std::map<NodeId, TensorData> all;
  for (NodeId leaf : graph.leaves()) {
    const auto& attr = graph.node(leaf).as<InputAttr>();
    const auto file = files.find(attr.name);
    if (file != files.end()) {
      all.emplace(leaf, read_elements(file->second, random_data(graph, leaf, sizes, seed)));
      files.erase(file);
    } else if (attr.role != Role::State && !graph.has_data(leaf)) {
      all.emplace(leaf, random_data(graph, leaf, sizes, seed));
    }
  }
  if (!files.empty()) {
    throw UserError("the graph has no leaf '" + files.begin()->first + "' to give data to");
  }
  return all;
}

}  // namespace luminal::cli
