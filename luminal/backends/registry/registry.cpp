#include "luminal/backends/registry/registry.h"

#include <fmt/format.h>

#include "luminal/backends/cpu/cpu_backend.h"
#include "luminal/backends/interp/interp_backend.h"
#include "luminal/base/errors.h"

namespace luminal::backends {
namespace {

struct Entry {
  std::string_view name;
  const Backend& (*get)();
};

// The explicit list: one line per backend.
constexpr Entry kBackends[] = {
    {"cpu", cpu_backend},
    {"interp", interp_backend},
};

}  // namespace

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kBackends) names.push_back(entry.name);
  return names;
}

const Backend& find_backend(std::string_view name) {
  for (const Entry& entry : kBackends) {
    if (entry.name == name) return entry.get();
  }
  throw UserError(fmt::format("there is no backend '{}'; choose one of: {}", name,
                              fmt::join(backend_names(), ", ")));
}

}  // namespace luminal::backends
