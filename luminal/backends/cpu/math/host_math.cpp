#include "luminal/backends/cpu/math/host_math.h"

#include <bit>
#include <cmath>

namespace luminal::backends::cpu {
namespace {

template <typename T, T (*function)(T)>
void map_lanes(T* out, const T* a, uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int k = std::countr_zero(lanes);
    out[k] = function(a[k]);
  }
}

template <typename T, T (*function)(T, T)>
void zip_lanes(T* out, const T* a, const T* b, uint64_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const int k = std::countr_zero(lanes);
    out[k] = function(a[k], b[k]);
  }
}

const HostFunction kFunctions[] = {
    {"luminal_mod_f32", reinterpret_cast<void*>(&zip_lanes<float, fmodf>)},
    {"luminal_exp2_f64", reinterpret_cast<void*>(&map_lanes<double, exp2>)},
    {"luminal_log2_f64", reinterpret_cast<void*>(&map_lanes<double, log2>)},
    {"luminal_sin_f64", reinterpret_cast<void*>(&map_lanes<double, sin>)},
    {"luminal_mod_f64", reinterpret_cast<void*>(&zip_lanes<double, fmod>)},
};

}  // namespace

std::span<const HostFunction> host_functions() { return kFunctions; }

}  // namespace luminal::backends::cpu
