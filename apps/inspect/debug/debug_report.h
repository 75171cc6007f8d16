// DebugReport: observations from each stage of one compile and run, and the causes of faults.
// Deterministic: equal subjects give equal bytes, without times and addresses.
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
  std::string plan;  // the variant: "s = 2 … 16"; empty if there is only one
  Status status = Status::Ok;
  std::string summary;          // one line; for a skipped stage, the reason
  std::vector<Finding> seen;    // all observations: tensors, classes, kernels, steps
  std::vector<Finding> causes;  // of faults, in order

  // Adds a cause to this stage; the field `cause` is its stable name.
  Finding& blame(const std::string& cause);
};

// In execution order.
inline constexpr const char* kStages[] = {"graph", "data", "rolled", "terms",
                                          "plan",  "code", "run"};

struct DebugReport {
  std::string name;               // of the graph or model
  std::string target;             // of the code
  std::string sizes;              // "s = 4"
  std::deque<DebugStage> stages;  // a deque: references stay valid as it grows

  DebugStage& begin(const std::string& name, const std::string& plan = {});
  DebugStage& skip(const std::string& name, const std::string& plan, const std::string& why);
  size_t n_causes() const;
  // Over all stages.
  const Finding* first_cause() const;
};

// `name`, `target`, `sizes`, `stages` (`stage`, `plan`, `status`, `summary`, `seen`), and `causes`
// of all stages, each with its `stage` and `plan`.
std::string json(const DebugReport& report);
// One line per stage, with causes, remarks and notes in full; with `all`, also all observations.
std::string text(const DebugReport& report, bool all);

}  // namespace luminal::debug
