// Models in files of other programs: what they are, and how to bring the model here.
#pragma once

#include <optional>
#include <string>

#include "luminal/base/visibility.h"

namespace luminal {

// For an error message: "an ONNX model, which isn't read yet; …". None for other files, and where
// there is no file.
LUMINAL_API std::optional<std::string> foreign_file(const std::string& path);

}  // namespace luminal
