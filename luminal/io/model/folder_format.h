// A folder in Hugging Face's layout: config.json, safetensors and a tokenizer.
#pragma once

#include "luminal/io/file_format.h"

namespace luminal::io {

FileFormat folder_format();

}  // namespace luminal::io
