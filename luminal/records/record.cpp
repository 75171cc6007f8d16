#include "luminal/records/record.h"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "luminal/base/digest.h"

namespace luminal::records {
namespace {

std::string why_too_long(std::string_view what, const std::string& text, size_t most) {
  if (text.size() <= most) return {};
  return fmt::format("{} has {} bytes, at most {} are kept", what, text.size(), most);
}

// A measured value must be positive and lie within its interval; empty if so, else why not.
std::string why_no_interval(std::string_view what, double value, double low, double high) {
  if (!std::isfinite(value) || !std::isfinite(low) || !std::isfinite(high)) {
    return fmt::format("{} {} with interval {} … {} isn't finite", what, value, low, high);
  }
  if (value <= 0 || low < 0) return fmt::format("{} {} (from {}) isn't positive", what, value, low);
  if (value < low || value > high) {
    return fmt::format("{} {} is outside of its interval {} … {}", what, value, low, high);
  }
  return {};
}

std::string first_of(std::initializer_list<std::string> reasons) {
  for (const std::string& why : reasons) {
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace

std::string why_refused(const Device& device) {
  if (base::digest(device.description) != device.fingerprint) {
    return "its fingerprint isn't that of its description";
  }
  return first_of({why_too_long("its description", device.description, kMostNoteBytes),
                   why_too_long("its peaks", device.peaks, kMostNoteBytes)});
}

std::string why_refused(const KernelKey& key) {
  return first_of({why_too_long("the kernel's text", key.kernel, kMostTextBytes),
                   why_too_long("the device", key.device, kMostNoteBytes),
                   why_too_long("the compiler", key.compiler, kMostNoteBytes)});
}

std::string why_refused(const KernelRecord& record) {
  if (record.samples < 1) return fmt::format("it has {} samples", record.samples);
  return first_of({why_no_interval("time", record.seconds, record.low, record.high),
                   why_too_long("its note", record.note, kMostNoteBytes)});
}

std::string why_refused(const PlanKey& key) {
  return first_of({why_too_long("the question", key.question, kMostTextBytes),
                   why_too_long("the device", key.device, kMostNoteBytes),
                   why_too_long("the compiler", key.compiler, kMostNoteBytes)});
}

std::string why_refused(const Comparison& comparison) {
  if (comparison.rounds < 1) return fmt::format("it has {} rounds", comparison.rounds);
  if (comparison.champion.empty() || comparison.challenger.empty()) {
    return "it doesn't name both plans";
  }
  return first_of({why_no_interval("ratio", comparison.ratio, comparison.low, comparison.high),
                   why_too_long("the champion's name", comparison.champion, kMostNoteBytes),
                   why_too_long("the challenger's name", comparison.challenger, kMostNoteBytes)});
}

std::string why_refused(const Champion& champion) {
  if (champion.rank < 0 || champion.rank > kMostRank) {
    return fmt::format("its rank {} isn't between 0 and {}", champion.rank, kMostRank);
  }
  return why_too_long("the plan", champion.bytes, kMostTextBytes);
}

bool supersedes(const KernelRecord& a, const KernelRecord& b) {
  const auto order = [](const KernelRecord& of) {
    return std::tuple(!of.checked, -of.samples, of.high - of.low, of.seconds, of.low, of.high,
                      of.note);
  };
  return order(a) < order(b);
}

bool supersedes(const Comparison& a, const Comparison& b) {
  const auto order = [](const Comparison& of) {
    return std::tuple(-of.rounds, of.high - of.low, of.ratio, of.low, of.high);
  };
  return order(a) < order(b);
}

bool supersedes(const Champion& a, const Champion& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.bytes < b.bytes;
}

}  // namespace luminal::records
