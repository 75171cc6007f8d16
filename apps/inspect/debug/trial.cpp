#include "apps/inspect/debug/trial.h"

#include <algorithm>
#include <exception>

#include "luminal/base/check.h"
#include "luminal/driver/check/check_steps.h"
#include "luminal/driver/options/load_options.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::debug {
namespace {

using runtime::Buffer;

// The first observer is the outer one: the second doesn't see what it does around a step.
class Both : public runtime::StepObserver {
 public:
  Both(runtime::StepObserver* outer, runtime::StepObserver& inner) : outer_(outer), inner_(inner) {}

  void before(const runtime::StepView& view) override {
    if (outer_ != nullptr) outer_->before(view);
    inner_.before(view);
  }
  void after(const runtime::StepView& view) override {
    inner_.after(view);
    if (outer_ != nullptr) outer_->after(view);
  }

 private:
  runtime::StepObserver* outer_;
  runtime::StepObserver& inner_;
};

// The options, with a report attached.
CompileOptions reporting_to(CompileReport& report, CompileOptions options) {
  options.report = &report;
  return options;
}

}  // namespace

Trial::Trial(const Subject& subject, const TrialOptions& options)
    : subject_(subject),
      results_(run_results(*subject.graph)),
      options_(reporting_to(report_, subject.options)),
      compilation_(*subject.graph, options_) {
  if (!options.packing) compilation_.leave_weights_unpacked();
}

bool Trial::plan() {
  try {
    compilation_.verify();
    compilation_.plan();
    notes_ = compilation_.step_notes(0);
    return true;
  } catch (const std::exception& error) {
    error_ = error.what();
    return false;
  }
}

bool Trial::load() {
  try {
    compilation_.generate_code();
    return true;
  } catch (const std::exception& error) {
    error_ = error.what();
    return false;
  }
}

// Fresh buffers for each run: a run updates states, and stray writes must not persist.
std::vector<Buffer> Trial::buffers() const {
  const runtime::Program& program = compilation_.program(0);
  std::vector<Buffer> buffers;
  for (const runtime::Port& port : program.ports()) {
    const size_t at = buffers.size();
    if (at < subject_.graph->leaves().size()) {
      const TensorData data = leaf_data(subject_, subject_.graph->leaves()[at]);
      const Buffer given = Buffer::borrow(data.bytes, data.owner);
      buffers.push_back(port.role == runtime::PortRole::State ? given.copy() : given);
      continue;
    }
    const Result<ResolvedDims> dims = resolve_dims(port.dims, subject_.sizes);
    LUMINAL_CHECK(dims, dims.why());
    buffers.push_back(Buffer::allocate(dims->bytes(port.dtype)));
  }
  return buffers;
}

TrialRun Trial::run(Watch watch) {
  TrialRun result;
  runtime::Program& program = compilation_.program(0);
  const std::vector<Buffer> memory = buffers();
  program.weights_changed();  // recomputes folded weights under observation
  StepRecord record(subject_, planned());
  const interpret::LeafData leaf = leaf_data(subject_);
  StepFault fault;
  bool done = false;
  try {
    std::optional<StepChecker> checker;
    if (watch == Watch::Checked) {
      const bool small = interpreted_elements(subject_) <= subject_.most_operations;
      checker.emplace(*subject_.graph, *notes_, subject_.sizes, leaf,
                      StepChecks{.most_operations = subject_.most_operations,
                                 .against_graph = small,
                                 .fault = &fault});
    }
    Both both(checker ? &*checker : nullptr, record);
    runtime::StepOptions steps;
    if (watch != Watch::No) steps.observer = &both;
    program.run(subject_.sizes, memory, steps);
    done = true;
  } catch (const std::exception& error) {
    if (watch == Watch::Checked && fault.step.valid() && !fault.detail.empty()) {
      result.fault = std::move(fault);
    } else {
      result.error = error.what();
    }
  }
  result.steps = record.steps();
  result.overwritten = record.overwritten();
  for (size_t r = 0; done && r < results_.size(); ++r) {
    const runtime::Port& port = program.ports()[subject_.graph->leaves().size() + r];
    const Buffer& bytes = memory[subject_.graph->leaves().size() + r];
    result.results.push_back({.dtype = port.dtype,
                              .dims = resolve_dims(port.dims, subject_.sizes)->sizes,
                              .bytes = bytes.bytes(),
                              .owner = bytes.owner()});
  }
  return result;
}

Outcome outcome_of(const Subject& subject, const TrialOptions& options) {
  Trial trial(subject, options);
  if (!trial.plan() || !trial.load()) return {.wrong = true, .fault = {}, .ops = {}};
  TrialRun run = trial.run(Trial::Watch::Checked);
  Outcome outcome{.wrong = run.fault || !run.error.empty(), .fault = run.fault, .ops = {}};
  if (run.fault) outcome.ops = trial.notes().steps[run.fault->step].ops;
  return outcome;
}

}  // namespace luminal::debug
