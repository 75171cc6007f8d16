// Plans that are run beside each other: compiled programs with what tells them apart.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/harness/protocol.h"
#include "apps/bench/harness/turns.h"
#include "luminal/kernel/plan/plan.h"
#include "luminal/luminal.h"

namespace luminal {

struct MeasuredPlan {
  std::string name;
  CompileReport report;
  std::unique_ptr<Executable> executable;
  std::string form;  // kernels with strategies and schedules: equal plans have the same
};

// `change`, if given, gets each step between planning and code. Pseudo-random values by name and
// shape are set in all leaves, so graphs with the same leaves compute the same.
std::unique_ptr<MeasuredPlan> measured_plan(std::string name, Graph& graph, CompileOptions options,
                                            const std::function<void(kernel::KernelStep&)>& change);

// Seconds of one run, by plan and round.
bench::TurnTimes run_in_turns(const std::vector<MeasuredPlan*>& plans, double seconds);

// The largest difference of an element of output "y", relative to the largest of them.
double difference(MeasuredPlan& a, MeasuredPlan& b);

// What a plan does in a run: {"kernels", "mflops", "largest_stored" in elements}.
bench::Json facts_of(const MeasuredPlan& plan);

}  // namespace luminal
