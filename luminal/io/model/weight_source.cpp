#include "luminal/io/weight_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"
#include "luminal/shape/scalar.h"

namespace luminal {
namespace {

const float* floats_of(const TensorData& data) {
  return reinterpret_cast<const float*>(data.bytes.data());
}

// (quant − zero) · scale + offset, each rounded once.
TensorData values_of_planes(const WeightSource& source, std::string_view tensor,
                            const BlockFormat& format, const TensorData& quants) {
  const TensorData scales = source.plane(tensor, Plane::Scales).cast(DType::F32);
  TensorData offsets;
  if (format.offsets) offsets = source.plane(tensor, Plane::Offsets).cast(DType::F32);
  const float *scale = floats_of(scales), *offset = floats_of(offsets);
  TensorData::Writable values = TensorData::zeros(DType::F32, quants.dims);
  auto* out = reinterpret_cast<float*>(values.bytes.data());
  for (int64_t i = 0; i < quants.n_elements(); ++i) {
    const int64_t quant = load_int(format.quants, quants.bytes.data(), i) - format.zero;
    float value = static_cast<float>(quant) * scale[i / format.block];
    if (offset) value += offset[i / format.block];
    out[i] = value;
  }
  return values.data;
}

}  // namespace

WeightSource::~WeightSource() = default;

TensorData WeightSource::plane(std::string_view name, Plane) const {
  throw UserError(fmt::format("{}: tensor {} has no planes: its format has no quantised tensors",
                              io::quote(this->name()), io::quote(name)));
}

const TensorInfo* WeightSource::find(std::string_view name) const {
  const std::vector<TensorInfo>& all = tensors();
  const auto found = std::ranges::lower_bound(
      all, name, {}, [](const TensorInfo& info) { return std::string_view(info.name); });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

TensorData read_values(const WeightSource& source, std::string_view tensor) {
  const TensorInfo* info = source.find(tensor);
  if (info && info->dtype) return source.data(tensor).cast(DType::F32);
  const TensorData quants = source.plane(tensor, Plane::Quants);  // fails where there are no planes
  if (!info || !info->blocks) {
    throw UserError(fmt::format("{}: tensor {} has planes, but no block format",
                                io::quote(source.name()), io::quote(tensor)));
  }
  return values_of_planes(source, tensor, *info->blocks, quants);
}

}  // namespace luminal
