// The formats there are: one line each.
#include "luminal/io/file_format.h"
#include "luminal/io/gguf/gguf_format.h"
#include "luminal/io/model/folder_format.h"
#include "luminal/io/safetensors/safetensors_format.h"

namespace luminal {

FileFormats known_formats() {
  FileFormats formats;
  formats.add(io::safetensors_format());
  formats.add(io::gguf_format());
  formats.add(io::folder_format());
  return formats;
}

}  // namespace luminal
