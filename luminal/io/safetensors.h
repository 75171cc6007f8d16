// safetensors: reading and writing named tensors, in one file or in shards with an index.
//
// A file is an 8-byte little-endian header length, a JSON header, and the tensors' bytes. Reading
// maps the file and checks the whole header first: a hostile file gives a UserError that names the
// file and what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor_data.h"
#include "luminal/io/tensor_info.h"
#include "luminal/io/weight_source.h"
#include "luminal/shape/dtype.h"

namespace luminal {

using Metadata = std::map<std::string, std::string>;

// The tensors of a file, of a sharded model, or of bytes in memory. A cheap handle: copies share
// the mapping, and so does the data it hands out.
class LUMINAL_API SafeTensors : public WeightSource {
 public:
  // A .safetensors file, an index (….safetensors.index.json) with its shards beside it, or a folder
  // that holds model.safetensors or model.safetensors.index.json (looked for in this order).
  static SafeTensors open(const std::string& path);
  // The same from bytes that `owner` keeps alive; `name` stands for the file in messages.
  static SafeTensors parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           std::string name);

  // Sorted by name.
  const std::vector<TensorInfo>& tensors() const override;
  // The elements, without a copy. Copied only if they lie unaligned in the file, which no known
  // writer does, so that elements may always be read in place. UserError for an unknown name, for a
  // dtype the library lacks, and for a bool that is neither 0 nor 1.
  TensorData data(std::string_view name) const override;
  // Of a sharded model: what its shards say together; where two differ, the first by name counts.
  const Metadata& metadata() const;
  // What was opened, as messages name it.
  const std::string& name() const override;

 private:
  struct Contents;
  explicit SafeTensors(std::shared_ptr<const Contents> contents);
  static SafeTensors open_file(const std::string& path);
  static SafeTensors open_index(const std::string& path);

  std::shared_ptr<const Contents> contents_;
};

struct NamedData {
  std::string name;
  TensorData data;
};

// Writes one file: to a temporary beside it, then renamed, so that `path` never holds half a file.
// Tensors go in order of element size (widest first), then name: equal input, equal bytes.
LUMINAL_API void write_safetensors(const std::string& path, const std::vector<NamedData>& tensors,
                                   const Metadata& metadata = {});

// Writes model-00001-of-0000N.safetensors … and, last, model.safetensors.index.json into `folder`,
// which is created; one model.safetensors where everything fits into one shard. Tensors fill shards
// in order of name; one that is larger than `max_shard_bytes` gets its own.
LUMINAL_API void write_sharded(const std::string& folder, const std::vector<NamedData>& tensors,
                               int64_t max_shard_bytes, const Metadata& metadata = {});

}  // namespace luminal
