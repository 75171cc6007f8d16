// FusionProfile: answers to the fusion question that were measured, as a file of JSON.
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

// Whether an answer's interval is so wide that the machine was busy with other things.
bool is_noisy(const FusionAnswer& answer);
// What is to be known of an answer that was measured; mostly nothing.
std::string note_on(const FusionAnswer& answer);

// What answers hold for. Those of other conditions are of no use.
struct FusionConditions {
  std::string device;       // a fingerprint of records/device.h
  std::string description;  // in words
  std::string compiler;     // base/source_fingerprint.h
  std::string options;      // those of compile() that change kernels: "library never, …"

  // Which of them differ, in words; empty where none does.
  std::string differ_from(const FusionConditions& other) const;
};

FusionConditions fusion_conditions(const CompileOptions& options);

class FusionProfile {
 public:
  explicit FusionProfile(FusionConditions conditions) : conditions_(std::move(conditions)) {}

  // UserError that names the file, what is wrong with it and the way out.
  static FusionProfile read(const std::filesystem::path& file);
  static FusionProfile parse(const std::string& json, const std::string& name);
  // Appears whole or not at all; processes that write at once may lose each other's last answers.
  void write(const std::filesystem::path& file) const;
  std::string json() const;

  const FusionConditions& conditions() const { return conditions_; }
  size_t size() const { return answers_.size(); }
  void add(FusionPattern pattern, const FusionShape& shape, const FusionAnswer& answer);

  // Of exactly this shape; or else of its nearest neighbours in tokens below and above, where these
  // say the same and lie within a factor of four of each other.
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
