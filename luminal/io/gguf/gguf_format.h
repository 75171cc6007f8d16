// GGUF: weights, settings and vocabulary of a model in one file.
#pragma once

#include "luminal/io/file_format.h"

namespace luminal::io {

FileFormat gguf_format();

}  // namespace luminal::io
