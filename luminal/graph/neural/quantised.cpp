#include "luminal/graph/composite/quantised.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"

namespace luminal {
namespace {

[[noreturn]] void fail(const std::string& message) { throw UserError("dequantise: " + message); }

void check_plane(const char* what, const Tensor& plane, DType dtype, const Dims& dims) {
  if (plane.dtype() == dtype && same_dims(plane.dims(), dims)) return;
  fail(fmt::format("{} must be {} {}, but {} is {} {}", what, name(dtype), text(dims),
                   plane.describe(), name(plane.dtype()), text(plane.dims())));
}

// Checks the tensors; returns the dims of the scales.
Dims check(const Quantised& weight) {
  const BlockFormat& format = weight.format;
  if (format.quants != DType::I8 && format.quants != DType::U4) {
    fail(fmt::format("quants must be i8 or u4, not {}", name(format.quants)));
  }
  if (!is_float(format.scales) || format.block < 1) {
    fail(fmt::format(
        "scales must be floats, and blocks must have at least one element, not {} and {}",
        name(format.scales), format.block));
  }
  if (weight.offsets.has_value() != format.offsets) {
    fail(format.offsets ? "the format has offsets, but none are given"
                        : "offsets are given, but the format has none");
  }
  Dims blocks = weight.quants.dims();
  if (blocks.empty() || !(blocks.back() % format.block).is(0)) {
    fail(fmt::format("blocks of {} don't divide the last axis of {}, which is {}", format.block,
                     weight.quants.describe(), text(blocks)));
  }
  blocks.back() = blocks.back() / format.block;
  check_plane("quants", weight.quants, format.quants, weight.quants.dims());
  check_plane("scales", weight.scales, format.scales, blocks);
  if (weight.offsets) check_plane("offsets", *weight.offsets, format.scales, blocks);
  return blocks;
}

}  // namespace

double bits_per_element(const BlockFormat& format) {
  const int per_block = bits(format.scales) * (format.offsets ? 2 : 1);
  return bits(format.quants) + static_cast<double>(per_block) / static_cast<double>(format.block);
}

Tensor dequantise(const Quantised& weight) {
  Dims blocks = check(weight);
  blocks.push_back(weight.format.block);
  const auto for_each_element = [&](const Tensor& plane) {
    const Tensor values = plane.cast(DType::F32);
    if (weight.format.block == 1) return values;
    return values.unsqueeze(-1).expand(blocks).reshape(weight.quants.dims());
  };
  Tensor values = weight.quants.cast(DType::F32);
  if (weight.format.zero != 0) values -= weight.format.zero;
  values *= for_each_element(weight.scales);
  if (weight.offsets) values += for_each_element(*weight.offsets);
  return values;
}

Tensor embedding(const Quantised& weight, const Tensor& index) {
  check(weight);
  Quantised rows{.format = weight.format,
                 .quants = embedding(weight.quants, index),
                 .scales = embedding(weight.scales, index)};
  if (weight.offsets) rows.offsets = embedding(*weight.offsets, index);
  return dequantise(rows);
}

}  // namespace luminal
