#include "luminal/driver/execute/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

#include "luminal/base/errors.h"
#include "luminal/base/text/printable.h"
#include "luminal/driver/check/elements.h"
#include "luminal/driver/npy.h"

namespace luminal {
namespace {

constexpr size_t kShown = 5;
constexpr size_t kWorst = 10;

std::string values_text(const std::vector<double>& values, size_t first, size_t count) {
  std::string out;
  for (size_t i = first; i < first + count; ++i) {
    out += fmt::format("{}{:.6g}", i == first ? "" : ", ", values[i]);
  }
  return out;
}

std::string header(const TensorData& value) {
  return fmt::format("{}[{}]", name(value.dtype), fmt::join(value.dims, ", "));
}

void show_values(const Probe& probe, const TensorData& value, std::ostream& out) {
  const std::vector<double> values = value.to_doubles();
  out << fmt::format("{}: {} elements, {}\n", base::printable(probe.label), values.size(),
                     header(value));
  if (values.size() <= 3 * kShown) {
    out << "  " << values_text(values, 0, values.size()) << "\n";
    return;
  }
  const size_t middle = (values.size() - kShown) / 2;
  out << "  first   " << values_text(values, 0, kShown) << "\n"
      << "  middle  " << values_text(values, middle, kShown) << "\n"
      << "  last    " << values_text(values, values.size() - kShown, kShown) << "\n";
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

void show_diff(const Probe& probe, const std::string& tensor, const TensorData& value,
               std::ostream& out) {
  const std::vector<double> ours = value.to_doubles();
  const std::vector<double> theirs = read_elements(probe.label, value).to_doubles();
  out << fmt::format("diff {} {} against {}\n", tensor, header(value),
                     base::printable(probe.label));
  if (ours.empty()) {
    out << "  no elements\n";
    return;
  }
  std::vector<double> differences(ours.size());
  size_t nans = 0;
  size_t expected_nans = 0;
  size_t outside = 0;
  double sum_of_squares = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    differences[i] = difference(ours[i], theirs[i]);
    nans += std::isnan(ours[i]);
    expected_nans += std::isnan(theirs[i]);
    // Written so that a NaN on either side counts as outside.
    const bool inside =
        differences[i] == 0 || differences[i] <= probe.atol + probe.rtol * std::fabs(theirs[i]);
    outside += !inside;
    sum_of_squares += differences[i] * differences[i];
  }
  std::vector<size_t> worst(ours.size());
  std::iota(worst.begin(), worst.end(), size_t{0});
  std::sort(worst.begin(), worst.end(), [&](size_t a, size_t b) {
    return differences[a] != differences[b] ? differences[a] > differences[b] : a < b;
  });
  std::vector<double> sorted = differences;
  std::sort(sorted.begin(), sorted.end());
  const double mean =
      std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  out << fmt::format("  {}: {} of {} elements outside atol {} + rtol {}\n",
                     outside == 0 ? "equal within tolerance" : "DIFFERENT", outside, ours.size(),
                     probe.atol, probe.rtol)
      << fmt::format("  NaN: {} here, {} in the file\n", nans, expected_nans)
      << fmt::format(
             "  |difference|: mean {:.3g}, max {:.3g}, SSE {:.3g}, p50 {:.3g}, p95 {:.3g}, "
             "p99 {:.3g}\n",
             mean, sorted.back(), sum_of_squares, percentile(sorted, 0.5), percentile(sorted, 0.95),
             percentile(sorted, 0.99));
  for (size_t i = 0; i < std::min(kWorst, worst.size()) && differences[worst[i]] > 0; ++i) {
    out << fmt::format("  {}  here {:.9g}  file {:.9g}  difference {:.3g}\n",
                       position_text(worst[i], value.dims), ours[worst[i]], theirs[worst[i]],
                       differences[worst[i]]);
  }
}

}  // namespace

void show_probe(const Probe& probe, const std::string& tensor, const TensorData& value,
                std::ostream& out) {
  switch (probe.kind) {
    case Probe::Kind::Print:
      show_values(probe, value, out);
      return;
    case Probe::Kind::Diff:
      show_diff(probe, tensor, value, out);
      return;
  }
}

}  // namespace luminal
