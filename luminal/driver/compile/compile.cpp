// compile(): runs all phases, from a graph to an executable.
#include "luminal/driver/compile.h"

#include "luminal/backends/registry/registry.h"
#include "luminal/base/errors.h"
#include "luminal/driver/compile/compilation.h"

namespace luminal {

Executable compile(const Graph& graph, const CompileOptions& options) {
  return compile_parts(graph, options, {});
}

Executable compile_parts(const Graph& graph, const CompileOptions& options, const PartsUse& parts) {
  Compilation compilation(graph, options, parts);
  compilation.verify();
  compilation.read_weights();
  try {
    compilation.plan();
  } catch (const InternalError& error) {
    compilation.throw_no_plan(error);
  }
  compilation.generate_code();
  return compilation.executable();
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (std::string_view name : backends::backend_names()) names.emplace_back(name);
  return names;
}

}  // namespace luminal
