// Trial: a subject planned, compiled and run under some options, with whatever is wrong as a value:
// what stages look at, and what experiments vary.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/inspect/debug/step_record.h"
#include "apps/inspect/debug/subject.h"
#include "luminal/driver/check/step_fault.h"
#include "luminal/driver/compile/compilation.h"

namespace luminal::debug {

struct TrialOptions {
  bool packing = true;  // weights in panels, as compile() has them
};

// One run: what each step did, and what was wrong.
struct TrialRun {
  std::vector<SeenStep> steps;
  std::optional<Overwritten> overwritten;
  std::optional<StepFault> fault;   // of a checked run
  std::string error;                // of one that ended otherwise
  std::vector<TensorData> results;  // as Trial::results(), unless it ended early
};

class Trial {
 public:
  enum class Watch : uint8_t {
    No,       // as it runs for everybody: kernels of a launch side by side
    Steps,    // one by one, in the memory that was planned
    Checked,  // one by one, each result in memory of the checker's own
  };

  // The subject must outlive it.
  explicit Trial(const Subject& subject, const TrialOptions& options = {});

  // Each after the one before; false where there is an error.
  bool plan();
  bool load();
  TrialRun run(Watch watch);

  const std::string& error() const { return error_; }
  const CompileReport& report() const { return report_; }
  const kernel::PlannedGraph& planned() const { return compilation_.planned(0); }
  const StepNotes& notes() const { return *notes_; }
  const std::vector<NodeId>& results() const { return results_; }
  // "kernel 3"
  const std::string& step_name(int step) const {
    return notes_->steps[static_cast<size_t>(step)].name;
  }

 private:
  std::vector<runtime::Buffer> buffers() const;

  const Subject& subject_;
  std::vector<NodeId> results_;
  CompileReport report_;
  CompileOptions options_;  // the subject's, with the report
  Compilation compilation_;
  std::shared_ptr<const StepNotes> notes_;
  std::string error_;
};

// The fault that a checked run of the subject under these options has, if any; an error counts as
// one without fields.
struct Outcome {
  bool wrong = false;
  std::optional<StepFault> fault;
  std::vector<std::string> ops;  // of the kernel
};
Outcome outcome_of(const Subject& subject, const TrialOptions& options = {});

}  // namespace luminal::debug
