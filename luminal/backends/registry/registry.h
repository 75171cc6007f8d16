// The backends by name.
#pragma once

#include <string_view>
#include <vector>

#include "luminal/backends/backend.h"

namespace luminal::backends {

// A backend beside those of this library, as tests have them: listed and found as long as this
// object lives, which must be longer than any compile for it. UserError if the name is taken.
class AddedBackend {
 public:
  explicit AddedBackend(const Backend& backend);
  ~AddedBackend();
  AddedBackend(const AddedBackend&) = delete;
  AddedBackend& operator=(const AddedBackend&) = delete;

 private:
  const Backend& backend_;
};

std::vector<std::string_view> backend_names();
// UserError, with the list of names, for an unknown one.
const Backend& find_backend(std::string_view name);

}  // namespace luminal::backends
