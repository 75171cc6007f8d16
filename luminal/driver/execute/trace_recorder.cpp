#include "luminal/driver/execute/trace_recorder.h"

#include <fmt/format.h>

#include "luminal/search/cost/cost_model.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal {
namespace {

using Clock = std::chrono::steady_clock;

// All traces of a process share one origin of time, so that several can be compared.
Clock::time_point first_moment() {
  static const Clock::time_point moment = Clock::now();
  return moment;
}

int next_run(const Trace& trace) { return trace.events.empty() ? 0 : trace.events.back().run + 1; }

}  // namespace

double TraceRecorder::us_since_start(Clock::time_point time) const {
  return std::chrono::duration<double, std::micro>(time - first_moment()).count();
}

TraceRecorder::TraceRecorder(Trace& trace, const Graph& graph, const StepNotes* notes,
                             const Bindings& bindings)
    : trace_(trace),
      graph_(graph),
      notes_(notes),
      bindings_(bindings),
      run_event_(trace.events.size()) {
  const int run = next_run(trace);
  first_moment();
  trace_.events.push_back({.kind = "run",
                           .name = fmt::format("run {}", run),
                           .run = run,
                           .start_us = us_since_start(Clock::now())});
}

// Steps are described after the run, so that this doesn't add to its time.
TraceRecorder::~TraceRecorder() {
  TraceEvent& run = trace_.events[run_event_];
  run.us = us_since_start(Clock::now()) - run.start_us;
  const int number = run.run;
  for (const TimedStep& step : steps_) {
    TraceEvent event = described(step.step);
    event.run = number;
    event.start_us = us_since_start(step.start);
    event.us = us_since_start(step.end) - event.start_us;
    event.threads = step.threads;
    trace_.events.push_back(std::move(event));
  }
}

void TraceRecorder::before(const runtime::StepView&) { step_start_ = Clock::now(); }

void TraceRecorder::after(const runtime::StepView& view) {
  steps_.push_back({view.step, view.threads, step_start_, Clock::now()});
}

TraceEvent TraceRecorder::described(int at) const {
  if (at == runtime::StepView::kFinish) {
    return {.kind = "copy", .name = "copy results and states"};
  }
  if (at == runtime::StepView::kPacking) {
    return {.kind = "copy", .name = "pack a weight for a library"};
  }
  const auto id = kernel::StepId::at(at);
  const StepNote& note = notes_->steps[id];
  const auto& step = notes_->planned->plan.at(id);
  TraceEvent event{
      .kind = "host", .name = note.name, .title = note.title, .ops = note.ops, .rules = note.rules};
  if (const auto own = own_kernel_at(graph_, *notes_->planned, id)) {
    describe_own_kernel(*own, event);
    return event;
  }
  if (const auto* host = std::get_if<kernel::HostStep>(&step)) {
    const auto& source = notes_->planned->terms.sources[host->source];
    event.writes.push_back(type_text(source.dtype, source.dims, bindings_));
    return event;
  }
  event.kind = "kernel";
  event.library = note.library;
  const kernel::Kernel& kernel = std::get<kernel::KernelStep>(step).lowered.kernel;
  for (const kernel::Param& param : kernel.params) {
    auto& types = param.output ? event.writes : event.reads;
    types.push_back(type_text(param.dtype, param.dims, bindings_));
  }
  const search::LeastWork work = search::least_work(kernel, bindings_);
  event.bytes = work.bytes;
  event.flops = work.flops();
  return event;
}

// Assumes that it reads and writes its tensors once; its arithmetic isn't known.
void TraceRecorder::describe_own_kernel(NodeId id, TraceEvent& event) const {
  event.kind = "kernel";
  auto add = [&](NodeId tensor, std::vector<std::string>& types) {
    const Node& node = graph_.node(tensor);
    types.push_back(type_text(node.dtype, node.dims, bindings_));
    const Result<ResolvedDims> dims = resolve_dims(node.dims, bindings_);
    if (dims) event.bytes += static_cast<double>(dims->bytes(node.dtype));
  };
  for (NodeId input : graph_.node(id).inputs) add(input, event.reads);
  add(id, event.writes);
}

}  // namespace luminal
