#include "luminal/nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace luminal::nn {
namespace {

double llama3(double frequency, const RopeScaling& scaling) {
  const auto context = static_cast<double>(scaling.original_context);
  const double turns = context * frequency / (2 * std::numbers::pi);  // in the context
  if (turns < scaling.low_frequency_factor) return frequency / scaling.factor;
  if (turns > scaling.high_frequency_factor) return frequency;
  const double kept = (turns - scaling.low_frequency_factor) /
                      (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - kept) * frequency / scaling.factor + kept * frequency;
}

// The (fractional) index of the pair that makes this many rotations within the context.
double pair_with_turns(double turns, int64_t head_size, double theta, const RopeScaling& scaling) {
  const auto context = static_cast<double>(scaling.original_context);
  return static_cast<double>(head_size) * std::log(context / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(theta));
}

void yarn(std::vector<double>& frequencies, int64_t head_size, double theta,
          const RopeScaling& scaling) {
  const double last = static_cast<double>(head_size) - 1;
  const double low =
      std::max(std::floor(pair_with_turns(scaling.beta_fast, head_size, theta, scaling)), 0.0);
  double high =
      std::min(std::ceil(pair_with_turns(scaling.beta_slow, head_size, theta, scaling)), last);
  if (low == high) high += 0.001;  // avoids a division by zero
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double slow = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] = frequencies[i] / scaling.factor * slow + frequencies[i] * (1 - slow);
  }
}

}  // namespace

std::vector<float> rope_frequencies(int64_t head_size, double theta, const RopeScaling& scaling) {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < head_size / 2; ++i) {
    frequencies.push_back(
        std::pow(theta, -2 * static_cast<double>(i) / static_cast<double>(head_size)));
  }
  switch (scaling.kind) {
    case RopeKind::Plain:
      break;
    case RopeKind::Linear:
      for (double& frequency : frequencies) frequency /= scaling.factor;
      break;
    case RopeKind::Llama3:
      for (double& frequency : frequencies) frequency = llama3(frequency, scaling);
      break;
    case RopeKind::Yarn:
      yarn(frequencies, head_size, theta, scaling);
      break;
  }
  return {frequencies.begin(), frequencies.end()};
}

double rope_magnitude(const RopeScaling& scaling) {
  if (scaling.kind != RopeKind::Yarn) return 1;
  if (scaling.attention_factor > 0) return scaling.attention_factor;
  return scaling.factor > 1 ? 0.1 * std::log(scaling.factor) + 1 : 1;
}

}  // namespace luminal::nn
