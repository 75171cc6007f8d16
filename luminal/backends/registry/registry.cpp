#include "luminal/backends/registry/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>

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

struct AddedBackends {
  std::mutex mutex;
  std::vector<const Backend*> list;
};

AddedBackends& added() {
  static AddedBackends here;
  return here;
}

// Null if there is none of this name.
const Backend* look_up(std::string_view name) {
  for (const Entry& entry : kBackends) {
    if (entry.name == name) return &entry.get();
  }
  const std::lock_guard lock(added().mutex);
  const auto found = std::ranges::find(added().list, name, &Backend::name);
  return found == added().list.end() ? nullptr : *found;
}

}  // namespace

AddedBackend::AddedBackend(const Backend& backend) : backend_(backend) {
  if (look_up(backend.name()) != nullptr) {
    throw UserError(fmt::format("there is a backend '{}' already; choose another name than {}",
                                backend.name(), fmt::join(backend_names(), ", ")));
  }
  const std::lock_guard lock(added().mutex);
  added().list.push_back(&backend);
}

AddedBackend::~AddedBackend() {
  const std::lock_guard lock(added().mutex);
  std::erase(added().list, &backend_);
}

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kBackends) names.push_back(entry.name);
  const std::lock_guard lock(added().mutex);
  for (const Backend* backend : added().list) names.push_back(backend->name());
  return names;
}

const Backend& find_backend(std::string_view name) {
  if (const Backend* backend = look_up(name)) return *backend;
  throw UserError(fmt::format("there is no backend '{}'; choose one of: {}", name,
                              fmt::join(backend_names(), ", ")));
}

}  // namespace luminal::backends
