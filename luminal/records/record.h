// Records of measurements as plain values, independent of tensors and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace luminal::records {

// The device of a measurement. Times of one device say nothing about another's.
struct Device {
  std::string fingerprint;  // the digest of the description
  std::string description;  // processor, instruction sets in use, threads
  std::string peaks = {};   // machine::Peaks as JSON, the date before the figures; or empty
  bool operator==(const Device&) const = default;
};

// Everything that a kernel's time depends on. Texts may be any bytes.
struct KernelKey {
  std::string kernel;    // its canonical text with sizes and schedule
  std::string device;    // a fingerprint
  std::string compiler;  // identifies the build that generated its code
  bool operator==(const KernelKey&) const = default;
};

struct KernelRecord {
  double seconds = 0;
  double low = 0, high = 0;  // the 95 % interval of seconds
  int samples = 0;
  bool checked = false;  // its results were compared with the interpreter's
  std::string note = {};
  bool operator==(const KernelRecord&) const = default;
};

// A question that a search answered: the serialised graph, planning options and target.
struct PlanKey {
  std::string question;
  std::string device;
  std::string compiler;
  bool operator==(const PlanKey&) const = default;
};

// Two plans timed against each other in alternating runs.
struct Comparison {
  std::string champion, challenger;  // digests of the plans
  double ratio = 0;                  // the challenger's time divided by the champion's
  double low = 0, high = 0;          // the 95 % interval of ratio
  int rounds = 0;
  bool operator==(const Comparison&) const = default;
};

// The winning plan; `rank` counts the previous winners that it replaced.
struct Champion {
  std::string bytes;
  int64_t rank = 0;
  bool operator==(const Champion&) const = default;
};

struct KernelEntry {
  KernelKey key;
  KernelRecord record;
};
// All records of one question.
struct PlanEntry {
  PlanKey key;
  std::optional<Champion> champion = {};
  std::vector<Comparison> comparisons = {};
};
using Entry = std::variant<Device, KernelEntry, PlanEntry>;

// A record that was rejected.
struct Refusal {
  std::string what;  // "line 12", "kernel 0123456789ab…"
  std::string why;
};

inline constexpr size_t kMostTextBytes = size_t{64} << 20;  // of a key's text, and of a plan
inline constexpr size_t kMostNoteBytes = 4096;  // of notes, descriptions, names of plans
inline constexpr int64_t kMostRank = 1'000'000'000;

// Why a value can't come from a measurement: a time that is negative or NaN, a value outside of its
// interval, a text beyond the limits. Empty if it can.
std::string why_refused(const Device& device);
std::string why_refused(const KernelKey& key);
std::string why_refused(const KernelRecord& record);
std::string why_refused(const PlanKey& key);
std::string why_refused(const Comparison& comparison);
std::string why_refused(const Champion& champion);

// Which of two records with the same key is kept. A total order of their content, so that merging
// files in any order has the same result: a checked record wins over an unchecked one, then more
// samples (rounds, rank), then the narrower interval, then the smaller values.
bool supersedes(const KernelRecord& a, const KernelRecord& b);
bool supersedes(const Comparison& a, const Comparison& b);
bool supersedes(const Champion& a, const Champion& b);

}  // namespace luminal::records
