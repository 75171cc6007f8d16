// Calibration: what the cost model learnt from measured kernels. By kind of kernel it has a factor
// for each part of the modelled time.
//
//   a kernel:     gather, 80 µs from L2, 40 µs for rows by index, 2 µs to launch
//   calibration:  of gathers: L2 × 0.8, rows × 2.5, launch × 0.5, waiting 0
//   its time:     max(80 × 0.8, 40 × 2.5) + 2 × 0.5 = 101 µs
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::search {

// Kernels of one kind run the same code paths, so that the model is off in the same way.
enum class KernelKind : uint8_t {
  ElementWise,
  Reduction,          // sums, maxima, scans, norms, softmax
  Indexed,            // gathers, and updates of rows
  Untiled,            // products outside of tiles, as of convolutions
  Gemm,               // of f32
  HalfGemm,           // with a factor of 16 bits
  QuantisedGemm,      // with a factor made of small integers
  Windowed,           // whose factor is read through windows, as by a convolution
  Streamed,           // GEMV: few rows
  StreamedQuantised,  // GEMV with a factor made of small integers
  StreamedWindowed,   // few rows of a convolution, as of each channel alone
  RowBlocks,          // products in blocks of rows
  Attention,          // with a softmax between them (flash-attention blocking)
  SplitAttention,     // flash decoding
};
inline constexpr size_t kKernelKinds = 14;
std::string_view name(KernelKind kind);  // "element-wise"

enum class CostPart : uint8_t {
  // Bytes, at the bandwidth of what holds the graph's data.
  Memory,
  L3,
  L2,
  // Arithmetic, at the rates of the peaks.
  Products,
  Arithmetic,
  Divisions,        // of untiled kernels, apart from Arithmetic: divisions, roots
  Transcendentals,  // and exp2, log2, sin
  Reordered,        // weights, or what row blocks share, copied in every run
  Widened,          // 16-bit weights
  Computed,         // rows of a GEMM's prologue
  Entering,         // loops of stages
  // Counted by a calibration alone.
  Converted,  // 16-bit elements that are loaded or computed
  Strided,    // elements that lie apart from their neighbours, as in windows
  Rows,       // elements found by an index
  Functions,  // transcendental functions and divisions of f16
  Sums,       // accumulators of GEMMs that are begun and written
  // Added to the longer one of bytes and arithmetic.
  Copied,       // rows that a scatter leaves as they are
  Launch,       // on all threads
  LaunchAlone,  // on one
};
inline constexpr size_t kCostParts = 19;
std::string_view name(CostPart part);  // "memory"

// The modelled time of a kernel, part by part, at factors of 1.
struct CostParts {
  KernelKind kind = KernelKind::ElementWise;
  std::array<double, kCostParts> seconds{};

  double& of(CostPart part) { return seconds[static_cast<size_t>(part)]; }
  double of(CostPart part) const { return seconds[static_cast<size_t>(part)]; }
  bool operator==(const CostParts&) const = default;
};

struct KindFactors {
  std::array<double, kCostParts> factors{};
  // The share of the shorter one of bytes and arithmetic that adds to the longer one.
  double waiting = 0;
  int samples = 0;

  double of(CostPart part) const { return factors[static_cast<size_t>(part)]; }
};

// How far a model is off on measured kernels.
struct ModelError {
  int kernels = 0;
  double median_ratio = 1;      // of the longer to the shorter of modelled and measured time
  double rank_correlation = 1;  // Spearman's
};

struct Calibration {
  std::array<KindFactors, kKernelKinds> kinds{};
  int samples = 0;
  ModelError before, after;  // on kernels that were held out

  const KindFactors& of(KernelKind kind) const { return kinds[static_cast<size_t>(kind)]; }
};

// The model without measurements: what only a calibration counts has the factor 0, all else 1.
const Calibration& no_calibration();

// Finite and above 0 for every kernel that has a launch.
double seconds(const CostParts& parts, const Calibration& calibration);

// A measured run of one or several kernels.
struct CostSample {
  std::string name;
  std::vector<CostParts> kernels;
  double seconds = 0;
};
double seconds(const CostSample& sample, const Calibration& calibration);

// The same samples give the same calibration, in any order. Factors stay near those of
// no_calibration() where samples are few, and within [1/32, 32] anyway.
Calibration fit(std::span<const CostSample> samples);
// fit() to all samples; `before` and `after` are from fits that hold out every fifth sample, in
// turns.
Calibration fit_validated(std::span<const CostSample> samples);

// Each with the modelled time beside the measured one.
struct TimePair {
  double modelled = 0, measured = 0;
};
ModelError error_of(std::span<const TimePair> times);
// By sample: its time by a fit to the samples of the other folds.
std::vector<double> held_out_seconds(std::span<const CostSample> samples);

}  // namespace luminal::search
