// Trial: a subject planned, compiled and run under some options, with errors as values: the stages
// examine it, and experiments vary it.
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
  bool packing = true;  // pack weights into panels, as compile() does
};

// One run: what each step did, and the errors.
struct TrialRun {
  std::vector<SeenStep> steps;
  std::optional<Overwritten> overwritten;
  std::optional<StepFault> fault;   // of a checked run
  std::string error;                // any other failure
  std::vector<TensorData> results;  // as Trial::results(), unless it ended early
};

class Trial {
 public:
  enum class Watch : uint8_t {
    No,       // the normal run: kernels of a launch run concurrently
    Steps,    // one by one, in the planned memory
    Checked,  // one by one, each result in the checker's own memory
  };

  // The subject must outlive the trial.
  explicit Trial(const Subject& subject, const TrialOptions& options = {});

  // Call in this order; each returns false on error.
  bool plan();
  bool load();
  TrialRun run(Watch watch);

  const std::string& error() const { return error_; }
  const CompileReport& report() const { return report_; }
  const kernel::PlannedGraph& planned() const { return compilation_.planned(0); }
  const StepNotes& notes() const { return *notes_; }
  const std::vector<NodeId>& results() const { return results_; }
  // "kernel 3"
  const std::string& step_name(kernel::StepId step) const { return notes_->steps[step].name; }

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

// The fault of a checked run of the subject under these options, if any; an error counts as a fault
// without fields.
struct Outcome {
  bool wrong = false;
  std::optional<StepFault> fault;
  std::vector<std::string> ops;  // of the kernel
};
Outcome outcome_of(const Subject& subject, const TrialOptions& options = {});

}  // namespace luminal::debug
