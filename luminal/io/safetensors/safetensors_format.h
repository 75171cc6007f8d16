// safetensors alone: a file, or the index of several.
#pragma once

#include "luminal/io/file_format.h"

namespace luminal::io {

FileFormat safetensors_format();

}  // namespace luminal::io
