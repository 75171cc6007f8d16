// A run with an observer: traced, checked, or both.
#include <optional>

#include "luminal/base/errors.h"
#include "luminal/driver/check/check_steps.h"
#include "luminal/driver/execute/executable_impl.h"
#include "luminal/driver/execute/trace_recorder.h"

namespace luminal {
namespace {

// The first is the outer one: what it does around a step isn't seen by the second.
class Nested : public runtime::StepObserver {
 public:
  Nested(runtime::StepObserver* outer, runtime::StepObserver* inner)
      : outer_(outer), inner_(inner) {}

  void before(const runtime::StepView& view) override {
    if (outer_ != nullptr) outer_->before(view);
    if (inner_ != nullptr) inner_->before(view);
  }
  void after(const runtime::StepView& view) override {
    if (inner_ != nullptr) inner_->after(view);
    if (outer_ != nullptr) outer_->after(view);
  }

 private:
  runtime::StepObserver* outer_;
  runtime::StepObserver* inner_;
};

}  // namespace

void Executable::Impl::run_watched(const Bindings& bindings, const RunOptions& options,
                                   runtime::StepOptions steps) {
  const StepNotes* about = notes.empty() ? nullptr : notes[current].get();
  if (options.check_kernels && about == nullptr) {
    throw UserError(
        "run: check_kernels compares kernels with the interpreter, and this backend has "
        "none; compile with backend \"cpu\"");
  }
  const interpret::LeafData leaf = leaf_data();
  std::optional<StepChecker> checker;
  if (options.check_kernels) checker.emplace(*graph, *about, bindings, leaf);
  std::optional<TraceRecorder> recorder;
  if (options.trace != nullptr) recorder.emplace(*options.trace, *graph, about, bindings);
  Nested both(checker ? &*checker : nullptr, recorder ? &*recorder : nullptr);
  steps.observer = &both;
  programs[current]->run(bindings, buffers, steps);
}

}  // namespace luminal
