// The message of the UserError that a function throws, for tests of what users read.
#pragma once

#include <string>

#include "luminal/base/errors.h"

namespace luminal::tests {

template <typename Function>
std::string user_error(Function function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace luminal::tests
