// What is remembered of measurements, as plain values: nothing here knows tensors, or files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace luminal::records {

// Where something was measured. Times of one device say nothing about another's.
struct Device {
  std::string fingerprint;  // the digest of the description
  std::string description;  // processor, instruction sets in use, threads
  std::string peaks =
      {};  // what it does at most, as JSON with the day before the figures, or empty
  bool operator==(const Device&) const = default;
};

// All that a kernel's time depends on. Texts may be any bytes.
struct KernelKey {
  std::string kernel;    // its canonical text with sizes and schedule
  std::string device;    // a fingerprint
  std::string compiler;  // what made machine code of it
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

// A question that a search answered: the bytes of what was asked and of how.
struct PlanKey {
  std::string question;
  std::string device;
  std::string compiler;
  bool operator==(const PlanKey&) const = default;
};

// Two plans timed against each other, in turns.
struct Comparison {
  std::string champion, challenger;  // digests of the plans
  double ratio = 0;                  // the challenger's time by the champion's
  double low = 0, high = 0;          // the 95 % interval of ratio
  int rounds = 0;
  bool operator==(const Comparison&) const = default;
};

// The plan that won, and how many winners it followed.
struct Champion {
  std::string bytes;
  int64_t rank = 0;
  bool operator==(const Champion&) const = default;
};

struct KernelEntry {
  KernelKey key;
  KernelRecord record;
};
// All that is remembered of a question.
struct PlanEntry {
  PlanKey key;
  std::optional<Champion> champion = {};
  std::vector<Comparison> comparisons = {};
};
using Entry = std::variant<Device, KernelEntry, PlanEntry>;

// A record that was not trusted.
struct Refusal {
  std::string what;  // "line 12", "kernel 0123456789ab…"
  std::string why;
};

inline constexpr size_t kMostTextBytes = size_t{64} << 20;  // of a key's text, and of a plan
inline constexpr size_t kMostNoteBytes = 4096;  // of notes, descriptions, names of plans
inline constexpr int64_t kMostRank = 1'000'000'000;

// Why these can't be what a measurement wrote: a time that is negative or not a number, a value
// outside of its interval, a text beyond the limits. Empty where they can.
std::string why_refused(const Device& device);
std::string why_refused(const KernelKey& key);
std::string why_refused(const KernelRecord& record);
std::string why_refused(const PlanKey& key);
std::string why_refused(const Comparison& comparison);
std::string why_refused(const Champion& champion);

// The rule by which two records of one key become one. It is a total order of their content, so
// that whoever merges whatever in whichever order ends with the same: a checked record before one
// that isn't, then more samples (rounds, rank), then the narrower interval, then the smaller
// values.
bool supersedes(const KernelRecord& a, const KernelRecord& b);
bool supersedes(const Comparison& a, const Comparison& b);
bool supersedes(const Champion& a, const Champion& b);

}  // namespace luminal::records
