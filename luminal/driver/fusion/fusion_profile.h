// FusionProfile: measured fusion decisions, as a JSON file.
#pragma once

#include <compare>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "luminal/driver/fusion/should_fuse.h"

namespace luminal {

// Whether an answer's interval is so wide that the machine must have been busy.
bool is_noisy(const FusionAnswer& answer);
// The decision that follows from an answer's figures.
bool is_fusing_better(const FusionAnswer& answer);
// A note on a measured answer; mostly empty.
std::string note_on(const FusionAnswer& answer);

// The conditions that answers are valid for; others are ignored.
struct FusionConditions {
  std::string device;       // a fingerprint of records/device.h
  std::string description;  // in words
  std::string compiler;     // base/source_fingerprint.h
  std::string options;      // those of compile() that change kernels: "library never, …"

  // Describes which of them differ; empty if none does.
  std::string differ_from(const FusionConditions& other) const;
};

FusionConditions fusion_conditions(const BackendOptions& backend, Numerics numerics);

class FusionProfile {
 public:
  explicit FusionProfile(FusionConditions conditions) : conditions_(std::move(conditions)) {}

  // UserError that names the file, what is wrong with it and the way out.
  static FusionProfile read(const std::filesystem::path& file);
  static FusionProfile parse(const std::string& json, const std::string& name);
  // Written atomically; processes that write at the same time may lose each other's last answers.
  void write(const std::filesystem::path& file) const;
  std::string json() const;

  const FusionConditions& conditions() const { return conditions_; }
  size_t size() const { return answers_.size(); }
  void add(FusionPattern pattern, const FusionShape& shape, const FusionAnswer& answer);

  // The answer for exactly this shape; else that of its nearest neighbours in tokens below and
  // above, if these agree and lie within a factor of four of each other.
  std::optional<FusionAnswer> find(FusionPattern pattern, const FusionShape& shape) const;

 private:
  // Pattern, dtype, hidden, intermediate; then by tokens.
  using Family = std::tuple<FusionPattern, DType, int64_t, int64_t>;
  using Key = std::pair<Family, int64_t>;
  static Key key_of(FusionPattern pattern, const FusionShape& shape);
  std::optional<FusionAnswer> between(const Key& key) const;

  FusionConditions conditions_;
  std::map<Key, FusionAnswer> answers_;
};

}  // namespace luminal
