#include "luminal/llm/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "luminal/base/errors.h"

namespace luminal::llm {
namespace {

struct Candidate {
  float logit;
  TokenId id;
};

bool better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

bool worse(const Candidate& a, const Candidate& b) { return better(b, a); }

std::vector<Candidate> candidates_of(std::span<const float> logits) {
  std::vector<Candidate> all;
  all.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    // What isn't a number or has no chance is no candidate.
    if (logits[i] > -HUGE_VALF) all.push_back({logits[i], static_cast<TokenId>(i)});
  }
  if (all.empty()) {
    throw UserError(
        "sampling: the model gave no logit that is a number; its weights may be damaged");
  }
  return all;
}

void check_range(const char* what, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw UserError(
      fmt::format("sampling: {} is {}; it must be from {} to {}", what, value, low, high));
}

}  // namespace

void check(const SamplingOptions& options) {
  check_range("the temperature", options.temperature, 0, 100);
  check_range("top-p", options.top_p, 0, 1);
  check_range("min-p", options.min_p, 0, 1);
  check_range("the repetition penalty", options.repeat_penalty, 0.01, 100);
  if (options.top_k < 0) {
    throw UserError(fmt::format("sampling: top-k is {}; it must be positive, or 0 for all tokens",
                                options.top_k));
  }
}

Sampler::Sampler(const SamplingOptions& options) : options_(options), state_(options.seed) {
  check(options);
}

void Sampler::see(std::span<const TokenId> ids) {
  for (TokenId id : ids) {
    const auto at = static_cast<size_t>(id);
    if (at >= seen_.size()) seen_.resize(at + 1);
    seen_[at] = true;
  }
}

// SplitMix64 (Steele, Lea and Flood, 2014): one word of state, and any seed is a good one.
double Sampler::uniform() {
  state_ += 0x9E3779B97F4A7C15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

TokenId Sampler::next(std::span<const float> logits) {
  if (options_.repeat_penalty != 1) {
    const auto penalty = static_cast<float>(options_.repeat_penalty);
    penalised_.assign(logits.begin(), logits.end());
    for (size_t i = 0; i < std::min(seen_.size(), penalised_.size()); ++i) {
      float& logit = penalised_[i];
      if (seen_[i]) logit = logit > 0 ? logit / penalty : logit * penalty;
    }
    logits = penalised_;
  }
  const TokenId id = draw(logits);
  see({&id, 1});
  return id;
}

TokenId Sampler::draw(std::span<const float> logits) {
  std::vector<Candidate> heap = candidates_of(logits);
  const Candidate best = *std::min_element(heap.begin(), heap.end(), better);
  if (options_.temperature == 0) return best.id;
  if (options_.top_k > 0 && static_cast<size_t>(options_.top_k) < heap.size()) {
    std::nth_element(heap.begin(), heap.begin() + options_.top_k, heap.end(), better);
    heap.resize(static_cast<size_t>(options_.top_k));
    // The order of ids again: what sums round to depends on it.
    std::sort(heap.begin(), heap.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  }
  // Relative to the best one, which has 1. An infinite logit leaves no chance to finite ones.
  const auto chance = [&](const Candidate& candidate) {
    if (candidate.logit == best.logit) return 1.0;
    return std::exp((static_cast<double>(candidate.logit) - best.logit) / options_.temperature);
  };
  double total = 0;
  for (const Candidate& candidate : heap) total += chance(candidate);

  // The best come first, as many as are needed: a vocabulary is never sorted.
  std::make_heap(heap.begin(), heap.end(), worse);
  const double target = uniform();
  const bool filtered = options_.top_p < 1 || options_.min_p > 0;
  std::vector<std::pair<Candidate, double>> kept;
  double sum = 0;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), worse);
    const double weight = chance(heap.back());
    if (!kept.empty() && (sum >= options_.top_p * total || weight < options_.min_p)) break;
    sum += weight;
    kept.push_back({heap.back(), weight});
    heap.pop_back();
    if (!filtered && sum > target * total) return kept.back().first.id;
  }
  double below = 0;
  for (const auto& [candidate, weight] : kept) {
    below += weight;
    if (below > target * sum) return candidate.id;
  }
  return kept.back().first.id;
}

}  // namespace luminal::llm
