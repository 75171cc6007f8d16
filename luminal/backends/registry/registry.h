// The backends by name.
#pragma once

#include <string_view>
#include <vector>

#include "luminal/backends/backend.h"

namespace luminal::backends {

std::vector<std::string_view> backend_names();
// UserError, with the list of names, for an unknown one.
const Backend& find_backend(std::string_view name);

}  // namespace luminal::backends
