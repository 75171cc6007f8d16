// Errors, split by whose fault they are: the caller's, the machine's, or ours.
#pragma once

#include <stdexcept>
#include <string>

#include "luminal/base/visibility.h"

namespace luminal {

// The caller can fix it: the message says what was asked, what was found and the way out.
class LUMINAL_API UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& message);
  ~UserError() override;
};

// The machine failed: a file can't be mapped, memory ran out, a device is gone.
class LUMINAL_API DeviceError : public std::runtime_error {
 public:
  explicit DeviceError(const std::string& message);
  ~DeviceError() override;
};

// A bug in this library: please report it with the message.
class LUMINAL_API InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& message);
  ~InternalError() override;
};

}  // namespace luminal
