#include "luminal/base/errors.h"

#include "luminal/base/check.h"

namespace luminal {

UserError::UserError(const std::string& message) : std::runtime_error(message) {}
UserError::~UserError() = default;

DeviceError::DeviceError(const std::string& message) : std::runtime_error(message) {}
DeviceError::~DeviceError() = default;

InternalError::InternalError(const std::string& message) : std::logic_error(message) {}
InternalError::~InternalError() = default;

namespace base {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::string path = file;
  // Drops the build machine's folders, which mean nothing to the user.
  if (size_t at = path.rfind("luminal/"); at != std::string::npos) path = path.substr(at);
  throw InternalError("internal error at " + path + ":" + std::to_string(line) + ": " + message +
                      " (" + condition + " does not hold); please report this");
}

}  // namespace base
}  // namespace luminal
