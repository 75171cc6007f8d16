// TraceRecorder: watches one run and adds its steps to a trace.
#pragma once

#include <chrono>
#include <vector>

#include "luminal/driver/report/step_notes.h"
#include "luminal/driver/trace.h"
#include "luminal/runtime/program.h"

namespace luminal {

class TraceRecorder : public runtime::StepObserver {
 public:
  // `notes` may be null: then only the run itself is recorded. The run ends with the recorder.
  TraceRecorder(Trace& trace, const Graph& graph, const StepNotes* notes, const Bindings& bindings);
  ~TraceRecorder() override;

  void before(const runtime::StepView& view) override;
  void after(const runtime::StepView& view) override;

 private:
  using Clock = std::chrono::steady_clock;

  struct TimedStep {
    int step;
    int threads;
    Clock::time_point start, end;
  };

  TraceEvent described(int at) const;  // a step of the plan, or one of StepView's own
  void describe_own_kernel(NodeId id, TraceEvent& event) const;
  double us_since_start(Clock::time_point time) const;

  Trace& trace_;
  const Graph& graph_;
  const StepNotes* notes_;
  const Bindings& bindings_;
  size_t run_event_;  // its place in the trace
  Clock::time_point step_start_;
  std::vector<TimedStep> steps_;  // of this run
};

}  // namespace luminal
