// The contents of a model's file or folder, for every format.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "luminal/io/tensor_info.h"

namespace luminal::cli {

struct MetadataRow {
  std::string key;
  std::string kind;  // the format's own name; may be empty
  nlohmann::ordered_json value;
};

struct ModelListing {
  std::string format;
  std::vector<MetadataRow> metadata;
  std::vector<TensorInfo> tensors;  // sorted by name

  int64_t n_elements() const;
  int64_t n_bytes() const;
};

// A GGUF file, a safetensors file or index, or a folder in Hugging Face's layout.
ModelListing list_model(const std::string& path);

}  // namespace luminal::cli
