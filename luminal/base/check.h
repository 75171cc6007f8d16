// LUMINAL_CHECK: an assertion about the library's own invariants that stays on in release builds.
#pragma once

#include <string>

namespace luminal::base {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);

}  // namespace luminal::base

// Throws InternalError when `condition` is false; `message` is evaluated only then.
#define LUMINAL_CHECK(condition, message)                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      ::luminal::base::check_failed(__FILE__, __LINE__, #condition, (message)); \
    }                                                                           \
  } while (false)
