// DebugReport: what was seen in each stage of one compile and run, and the causes of what is wrong.
// The same subject gives the same report, byte for byte: no times, no addresses.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "luminal/search/inspect/finding.h"

namespace luminal::debug {

using search::Finding;

struct DebugStage {
  enum class Status : uint8_t { Ok, Fault, Skipped };
  std::string name;  // one of kStages
  std::string plan;  // of which variant: "s = 2 … 16"; empty where there is only one
  Status status = Status::Ok;
  std::string summary;          // one line; of a skipped one, why
  std::vector<Finding> seen;    // what there is, one by one: tensors, classes, kernels, steps
  std::vector<Finding> causes;  // of what is wrong, the first first

  // A cause of this stage; the field `cause` is its name, which doesn't change.
  Finding& blame(const std::string& cause);
};

// In the order they are gone through.
inline constexpr const char* kStages[] = {"graph", "data", "rolled", "terms",
                                          "plan",  "code", "run"};

struct DebugReport {
  std::string name;               // of what was looked at
  std::string target;             // that code is for
  std::string sizes;              // "s = 4"
  std::deque<DebugStage> stages;  // whose places stay as it grows

  DebugStage& begin(const std::string& name, const std::string& plan = {});
  DebugStage& skip(const std::string& name, const std::string& plan, const std::string& why);
  size_t n_causes() const;
  // Of all stages.
  const Finding* first_cause() const;
};

// `name`, `target`, `sizes`, `stages` (`stage`, `plan`, `status`, `summary`, `seen`), and `causes`
// of all stages, each with its `stage` and `plan`.
std::string json(const DebugReport& report);
// A line per stage, with causes, remarks and notes in full; with `all`, whatever was seen too.
std::string text(const DebugReport& report, bool all);

}  // namespace luminal::debug
