// The backends by name.
#pragma once

#include <string_view>
#include <vector>

#include "luminal/backends/backend.h"

namespace luminal::backends {

std::vector<std::string_view> backend_names();
// Throws UserError that lists the names there are.
const Backend& find_backend(std::string_view name);

}  // namespace luminal::backends
