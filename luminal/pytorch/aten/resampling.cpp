// Resampling, and padding with elements of the tensor itself.
#include <cmath>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/neural/interpolate.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

enum class Method { Nearest, NearestExact, Linear, Cubic };

struct Target {
  Dims sizes;
  std::vector<std::optional<double>> scales;  // in / out, where the user gave out / in
};

Tensor resampled(const Tensor& x, const Target& to, Method method, bool align_corners) {
  const size_t axes = to.sizes.size();
  if (x.rank() != static_cast<int>(axes) + 2) throw UserError("its tensor isn't [n, channels, …]");
  const bool nearest = method == Method::Nearest || method == Method::NearestExact;
  if (!nearest) composite::check_float("resampling", x);
  const auto all = [&](const Tensor& of) {
    Tensor y = of;
    for (size_t i = 0; i < axes; ++i) {
      const int axis = static_cast<int>(i) + 2;
      const ResampleOptions options{.scale = to.scales[i], .align_corners = align_corners};
      if (nearest) {
        y = resample_nearest(y, axis, to.sizes[i], options, method == Method::NearestExact);
      } else if (method == Method::Linear) {
        y = resample_linear(y, axis, to.sizes[i], options);
      } else {
        y = resample_cubic(y, axis, to.sizes[i], options);
      }
    }
    return y;
  };
  return nearest ? all(x) : composite::in_compute_dtype(x, all);
}

std::optional<double> inverse(std::optional<double> scale) {
  if (!scale || !(*scale > 0)) return std::nullopt;
  return 1 / *scale;
}

// (self, output_size, [align_corners,] scales…)
template <size_t kAxes, Method kMethod>
Values by_sizes(const Arguments& of) {
  constexpr bool kAligns = kMethod == Method::Linear || kMethod == Method::Cubic;
  Target to{.sizes = of.sizes(1), .scales = {}};
  if (to.sizes.size() != kAxes) throw UserError("its output size has other axes than its tensor");
  for (size_t i = 0; i < kAxes; ++i)
    to.scales.push_back(inverse(of.maybe_real(i + (kAligns ? 3 : 2))));
  return {resampled(of.tensor(0), to, kMethod, kAligns && of.flag(2))};
}

// (input, output_size or None, [align_corners,] scale_factors or None)
template <size_t kAxes, Method kMethod>
Values by_factors(const Arguments& of) {
  constexpr bool kAligns = kMethod == Method::Linear || kMethod == Method::Cubic;
  const Tensor x = of.tensor(0);
  if (x.rank() != static_cast<int>(kAxes) + 2) throw UserError("its tensor isn't [n, channels, …]");
  Target to;
  if (!of.is_none(1)) {
    to.sizes = of.sizes(1);
    to.scales.resize(kAxes);
  } else {
    const Value::List& factors = of.list(kAligns ? 3 : 2);
    for (const Value& each : factors) {
      const auto* factor = std::get_if<double>(&each.value);
      if (factor == nullptr || !(*factor > 0)) throw UserError("its scale factors aren't numbers");
      const auto size = x.dim(static_cast<int>(to.sizes.size()) + 2).to_int();
      if (!size) {
        if (*factor != std::trunc(*factor)) {
          throw UserError("its scale factor is a fraction of a size that each run chooses");
        }
        to.sizes.push_back(x.dim(static_cast<int>(to.sizes.size()) + 2) *
                           static_cast<int64_t>(*factor));
      } else {
        to.sizes.push_back(static_cast<int64_t>(static_cast<double>(*size) * *factor));
      }
      to.scales.push_back(inverse(*factor));
    }
  }
  if (to.sizes.size() != kAxes) throw UserError("its output size has other axes than its tensor");
  return {resampled(x, to, kMethod, kAligns && of.flag(2))};
}

using PadAxis = Tensor(const Tensor&, int, Expr, Expr);

// Pairs of paddings from the last axis on.
template <PadAxis* kPad>
Tensor padded_by(const Tensor& x, const Dims& pads) {
  if (pads.size() % 2 != 0 || static_cast<int>(pads.size() / 2) > x.rank()) {
    throw UserError("it pads more axes than there are");
  }
  Tensor y = x;
  for (size_t i = 0; i + 1 < pads.size(); i += 2) {
    y = kPad(y, -1 - static_cast<int>(i / 2), pads[i], pads[i + 1]);
  }
  return y;
}

template <PadAxis* kPad>
Values padded_ends(const Arguments& of) {
  return {padded_by<kPad>(of.tensor(0), of.sizes(1))};
}

// (self, pad, mode, value)
Values padded_by_mode(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Dims pads = of.sizes(1);
  const std::string mode = of.word(2);
  if (mode == "reflect") return {padded_by<pad_reflected>(x, pads)};
  if (mode == "replicate") return {padded_by<pad_replicated>(x, pads)};
  if (mode == "circular") return {padded_by<pad_circular>(x, pads)};
  if (mode != "constant") throw UserError("its mode is '" + mode + "', which isn't known");
  if (pads.size() % 2 != 0 || pads.size() > 2 * static_cast<size_t>(x.rank())) {
    throw UserError("it pads more axes than there are");
  }
  std::vector<Padding> paddings(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i + 1 < pads.size(); i += 2) {
    paddings[paddings.size() - 1 - i / 2] = {.before = pads[i], .after = pads[i + 1]};
  }
  return {pad(x, paddings, of.is_none(3) ? Scalar(0) : of.scalar(3))};
}

// A coordinate from [-1, 1] to places of an axis, and back inside by the padding mode.
Tensor place_of(const Tensor& coordinate, Expr size, int padding, bool align_corners) {
  const Scalar n(size);
  const Tensor place = align_corners ? (coordinate + 1.0) * 0.5 * Scalar(size - 1)
                                     : ((coordinate + 1.0) * n - 1.0) * 0.5;
  if (padding == 0) return place;
  if (padding == 1) return clamp(place, 0.0, Scalar(size - 1));
  // Mirrored at the first and last elements, or at their outer edges.
  const Tensor from = align_corners ? place : place + 0.5;
  const Scalar span = align_corners ? Scalar(size - 1) : n;
  if (align_corners && size.is(1)) return place * 0.0;
  const Tensor distance = abs(from);
  const Tensor width = full(place.graph(), {}, span, place.dtype());
  const Tensor rest = fmod(distance, width);
  const Tensor turns = floor(distance / width);
  const Tensor even = eq(fmod(turns, 2.0), 0.0);
  const Tensor inside = where(even, rest, width - rest);
  return clamp(align_corners ? inside : inside - 0.5, 0.0, Scalar(size - 1));
}

// (input [n, c, h, w], grid [n, h', w', 2], interpolation, padding, align_corners)
Values grid_sampled(const Arguments& of) {
  const Tensor x = of.tensor(0), grid = of.tensor(1);
  const int mode = of.integer(2), padding = of.integer(3);
  if (mode > 1) throw UserError("its interpolation is bicubic, which isn't supported");
  if (x.rank() != 4 || grid.rank() != 4) throw UserError("its tensor isn't [n, c, h, w]");
  const DType compute = composite::compute_dtype(x.dtype());
  const Expr h = x.dim(2), w = x.dim(3);
  const Tensor at = grid.cast(compute);
  const Tensor across = place_of(at.select(3, 0), w, padding, of.flag(4));
  const Tensor down = place_of(at.select(3, 1), h, padding, of.flag(4));
  const Tensor image = x.cast(compute).flatten(2);  // [n, c, h·w]
  const Dims places = across.dims();
  const auto element = [&](const Tensor& row, const Tensor& column) {
    const Tensor inside = logical_and(logical_and(row >= 0.0, row < Scalar(h)),
                                      logical_and(column >= 0.0, column < Scalar(w)));
    const Tensor index = row.cast(DType::I64) * Scalar(w) + column.cast(DType::I64);
    const Tensor safe = where(inside, index, 0).flatten(1).unsqueeze(1);
    const Tensor index_of_all = safe.expand({x.dim(0), x.dim(1), safe.dim(2)});
    const Tensor found =
        gather(image, 2, index_of_all).reshape({x.dim(0), x.dim(1), places[1], places[2]});
    return where(inside.unsqueeze(1), found, 0.0);
  };
  if (mode == 1) return {element(round(down), round(across)).cast(x.dtype())};
  const Tensor top = floor(down), left = floor(across);
  const Tensor v = (down - top).unsqueeze(1), u = (across - left).unsqueeze(1);
  const Tensor upper = element(top, left) * (1.0 - u) + element(top, left + 1.0) * u;
  const Tensor lower = element(top + 1.0, left) * (1.0 - u) + element(top + 1.0, left + 1.0) * u;
  return {(upper * (1.0 - v) + lower * v).cast(x.dtype())};
}

constexpr OpEntry kResamplingOps[] = {
    {"aten.upsample_nearest1d.default", "self, output_size, scales=None",
     by_sizes<1, Method::Nearest>},
    {"aten.upsample_nearest2d.default", "self, output_size, scales_h=None, scales_w=None",
     by_sizes<2, Method::Nearest>},
    {"aten.upsample_nearest3d.default",
     "self, output_size, scales_d=None, scales_h=None, scales_w=None",
     by_sizes<3, Method::Nearest>},
    {"aten._upsample_nearest_exact1d.default", "self, output_size, scales=None",
     by_sizes<1, Method::NearestExact>},
    {"aten._upsample_nearest_exact2d.default", "self, output_size, scales_h=None, scales_w=None",
     by_sizes<2, Method::NearestExact>},
    {"aten._upsample_nearest_exact3d.default",
     "self, output_size, scales_d=None, scales_h=None, scales_w=None",
     by_sizes<3, Method::NearestExact>},
    {"aten.upsample_linear1d.default", "self, output_size, align_corners, scales=None",
     by_sizes<1, Method::Linear>},
    {"aten.upsample_bilinear2d.default",
     "self, output_size, align_corners, scales_h=None, scales_w=None", by_sizes<2, Method::Linear>},
    {"aten.upsample_trilinear3d.default",
     "self, output_size, align_corners, scales_d=None, scales_h=None, scales_w=None",
     by_sizes<3, Method::Linear>},
    {"aten.upsample_bicubic2d.default",
     "self, output_size, align_corners, scales_h=None, scales_w=None", by_sizes<2, Method::Cubic>},
    {"aten.upsample_nearest1d.vec", "input, output_size, scale_factors",
     by_factors<1, Method::Nearest>},
    {"aten.upsample_nearest2d.vec", "input, output_size, scale_factors",
     by_factors<2, Method::Nearest>},
    {"aten.upsample_nearest3d.vec", "input, output_size, scale_factors",
     by_factors<3, Method::Nearest>},
    {"aten._upsample_nearest_exact1d.vec", "input, output_size, scale_factors",
     by_factors<1, Method::NearestExact>},
    {"aten._upsample_nearest_exact2d.vec", "input, output_size, scale_factors",
     by_factors<2, Method::NearestExact>},
    {"aten._upsample_nearest_exact3d.vec", "input, output_size, scale_factors",
     by_factors<3, Method::NearestExact>},
    {"aten.upsample_linear1d.vec", "input, output_size, align_corners, scale_factors",
     by_factors<1, Method::Linear>},
    {"aten.upsample_bilinear2d.vec", "input, output_size, align_corners, scale_factors",
     by_factors<2, Method::Linear>},
    {"aten.upsample_trilinear3d.vec", "input, output_size, align_corners, scale_factors",
     by_factors<3, Method::Linear>},
    {"aten.upsample_bicubic2d.vec", "input, output_size, align_corners, scale_factors",
     by_factors<2, Method::Cubic>},
    {"aten.reflection_pad1d.default", "self, padding", padded_ends<pad_reflected>},
    {"aten.reflection_pad2d.default", "self, padding", padded_ends<pad_reflected>},
    {"aten.reflection_pad3d.default", "self, padding", padded_ends<pad_reflected>},
    {"aten.replication_pad1d.default", "self, padding", padded_ends<pad_replicated>},
    {"aten.replication_pad2d.default", "self, padding", padded_ends<pad_replicated>},
    {"aten.replication_pad3d.default", "self, padding", padded_ends<pad_replicated>},
    {"aten.pad.default", "self, pad, mode='constant', value=None", padded_by_mode},
    {"aten.grid_sampler.default", "input, grid, interpolation_mode, padding_mode, align_corners",
     grid_sampled},
    {"aten.grid_sampler_2d.default", "input, grid, interpolation_mode, padding_mode, align_corners",
     grid_sampled},
};

}  // namespace

std::span<const OpEntry> resampling_ops() { return kResamplingOps; }

}  // namespace luminal::pytorch
