#include "luminal/io/file/json_fault.h"

namespace luminal::io {

std::string json_fault(std::string_view message) {
  if (size_t at = message.find(": "); at != message.npos) message.remove_prefix(at + 2);
  message = message.substr(0, message.find("; last read"));
  return std::string(message.substr(0, 120));
}

}  // namespace luminal::io
