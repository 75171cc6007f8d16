// WeightSource: the named tensors of a file, whatever its format. What every format of weights
// implements, and all that load_weights() needs of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor_data.h"
#include "luminal/io/tensor_info.h"

namespace luminal {

// One of the plain tensors that a quantised one is split into (graph/composite/quantised.h).
enum class Plane : uint8_t { Quants, Scales, Offsets };

// All functions may be called from many threads: weights are read when they are needed, several at
// once.
class LUMINAL_API WeightSource {
 public:
  virtual ~WeightSource();

  // The file, as messages name it.
  virtual const std::string& name() const = 0;
  // Sorted by name.
  virtual const std::vector<TensorInfo>& tensors() const = 0;
  // The elements of a tensor with TensorInfo::dtype. UserError for an unknown name, and for a
  // tensor without plain elements.
  virtual TensorData data(std::string_view name) const = 0;
  // A plane of a tensor with TensorInfo::blocks. UserError for any other tensor, and for offsets
  // that its format hasn't got. Only formats with quantised tensors implement it.
  virtual TensorData plane(std::string_view name, Plane plane) const;

  // Null when there is no such tensor.
  const TensorInfo* find(std::string_view name) const;

 protected:
  WeightSource() = default;
  WeightSource(const WeightSource&) = default;
  WeightSource& operator=(const WeightSource&) = default;
};

// A tensor's values as f32, plain or quantised; made anew unless it is F32. UserError for an
// unknown name and for a type that can't be read.
LUMINAL_API TensorData read_values(const WeightSource& source, std::string_view tensor);

}  // namespace luminal
