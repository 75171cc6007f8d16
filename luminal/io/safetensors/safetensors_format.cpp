#include "luminal/io/safetensors/safetensors_format.h"

#include "luminal/io/safetensors.h"

namespace luminal::io {

FileFormat safetensors_format() {
  return {.name = std::string(kSafetensorsFormat),
          .recognises =
              [](const std::string& path) {
                return path.ends_with(".safetensors") || path.ends_with(".safetensors.index.json");
              },
          .open_weights =
              [](const std::string& path) {
                return std::make_shared<const SafeTensors>(SafeTensors::open(path));
              }};
}

}  // namespace luminal::io
