#include "luminal/driver/compile/compilation.h"

#include <fmt/format.h>

#include <chrono>

#include "luminal/backends/registry/registry.h"
#include "luminal/base/check.h"
#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/seconds_since.h"
#include "luminal/driver/compile/given_plan.h"
#include "luminal/driver/compile/make_plan.h"
#include "luminal/driver/compile/report_code.h"
#include "luminal/driver/execute/executable_impl.h"
#include "luminal/driver/fusion/decide_fusion.h"
#include "luminal/driver/options/calibration_file.h"
#include "luminal/driver/options/load_options.h"
#include "luminal/driver/options/machine_peaks.h"
#include "luminal/driver/plan/no_plan.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/text_form.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/kernel/plan/plan_bytes.h"

namespace luminal {
namespace {

// Without a home directory nothing is cached; the report says so.
std::filesystem::path kept_in(const std::string& option, CompileReport& report) {
  try {
    return cache_folder(option);
  } catch (const UserError& error) {
    report.notes.push_back(
        fmt::format("plans and compiled kernels are not kept: {}", error.what()));
    return {};
  }
}

// Where a plan is from, of which the searches from number `n_searches` on tell.
std::string origin_text(const CompileReport& report, size_t n_searches) {
  if (report.searches.size() == n_searches) return PlanReport::kCostModel;
  const SearchReport& search = report.searches.back();
  const std::string found = fmt::format("a search of {:.3g} s", search.budget);
  if (search.mode == "remembered") return "the tuning records, found by " + found;
  return search.mode == "replay" ? "a replay of the recorded search" : found;
}

// A program's ports, with the dims of the graph instead of a variant's.
std::vector<runtime::Port> ports_of(const runtime::Program& program, const Graph& graph,
                                    const backends::PortMap& map) {
  std::vector<runtime::Port> ports = program.ports();
  for (size_t i = 0; i < ports.size(); ++i) {
    const size_t n_leaves = map.leaves.size();
    ports[i].dims = graph.node(i < n_leaves ? map.leaves[i] : map.results[i - n_leaves]).dims;
  }
  return ports;
}

}  // namespace

Compilation::Compilation(const Graph& graph, const CompileOptions& options, const PartsUse& parts)
    : source_(graph),
      options_(options),
      parts_(parts),
      report_(options.report != nullptr ? *options.report : unread_),
      backend_(backends::find_backend(options.backend.name)) {}

void Compilation::verify() {
  const auto start = std::chrono::steady_clock::now();
  luminal::verify(source_);
  graph_ = source_.clone();
  variables_ = variables(*graph_);
  variants_ = Variants(variables_, options_.plan.variants);
  ports_ = {.leaves = graph_->leaves(), .results = run_results(*graph_)};
  if (parts_.given != nullptr || parts_.made != nullptr) {
    LUMINAL_CHECK(variants_.count() == 1 && backend_.runs_plans(),
                  "only a single plan, of a backend that has plans, can be saved");
  }
  end_stage(options_.inspect, report_, "graph", base::seconds_since(start),
            fmt::format("{} nodes", graph_->size()), [&] { return print_graph(*graph_); });
}

void Compilation::read_weights() {
  // Weights are read in parallel with the other phases, unless compilation may stop early.
  const int beside = options_.inspect.stop_after.empty() ? threads_of(options_.backend) - 1 : 0;
  loading_.emplace(*graph_, ports_.leaves, beside);
}

void Compilation::plan() {
  folder_ = kept_in(options_.storage.cache_folder, report_);
  PlanCache cache(backend_.runs_plans() ? folder_ : std::filesystem::path(),
                  options_.storage.cache_bytes);
  for (size_t v = 0; v < variants_.count(); ++v) {
    of_variant_.push_back(options_of_variant(
        options_, variants_.sizes(v, options_.plan.typical_sizes), variants_.count()));
    if (variants_.count() > 1 && options_.progress) {
      of_variant_.back().progress = [this, v](CompileProgress now) {
        const std::string which =
            fmt::format("plan {} of {} ({})", v + 1, variants_.count(), variants_.text(v));
        if (!now.text.empty()) now.text = which + ", " + now.text;
        if (now.seconds_left >= 0) {
          const auto after = static_cast<double>(variants_.count() - v - 1);
          now.seconds_left += after * of_variant_[v].search.seconds;
        }
        options_.progress(now);
      };
    }
    requests_.push_back(request_for(v));
    if (backend_.runs_plans()) plan_variant(v, cache);
  }
  const std::vector<std::string> notes = cache.notes();
  report_.notes.insert(report_.notes.end(), notes.begin(), notes.end());
  report_.target = target();
  if (backend_.runs_plans()) {
    const machine::Peaks peaks = machine_peaks(options_.storage, options_.backend.target);
    const FoundCalibration found =
        find_calibration(options_.storage, peaks, options_.backend.target);
    report_.machine = machine_text(peaks);
    if (const std::string calibrated = text(found); !calibrated.empty()) {
      report_.machine += "; " + calibrated;
    }
  }
  if (options_.report != nullptr) report_.graph = base::digest(print_graph(*graph_));
}

backends::LoadRequest Compilation::request_for(size_t variant) const {
  backends::LoadRequest request;
  request.graph = variants_.narrowed(variant, graph_);
  request.ports = ports_;
  request.options =
      load_options(options_, *graph_, of_variant_[variant].plan.typical_sizes, folder_);
  request.options.float64 = options_.backend.float64;
  request.options.keep_code = parts_.made != nullptr;
  if (options_.progress) {
    request.progress = [progress = options_.progress](int done, int total) {
      progress({"kernels", done, total});
    };
  }
  return request;
}

void Compilation::plan_variant(size_t variant, PlanCache& cache) {
  backends::LoadRequest& request = requests_[variant];
  PlanReport plan{.variant = variants_.text(variant),
                  .sizes = text(request.options.typical_sizes),
                  .first_kernel = report_.kernels.size(),
                  .origin = "the bundle"};
  if (parts_.given != nullptr) {
    request.planned = read_given_plan(*parts_.given, *request.graph, options_.inspect, report_);
    request.code = std::make_shared<const std::string>(parts_.given->code);
  } else {
    // Must run before planning: the plan request carries these decisions.
    report_fusion(decide_fusion(*request.graph, of_variant_[variant]), plan.variant, report_);
    const size_t n_searches = report_.searches.size();
    request.planned = make_plan(request, backend_,
                                packs_weights_ ? backend_.packing(request.options) : std::nullopt,
                                of_variant_[variant], cache, report_);
    plan.origin = origin_text(report_, n_searches);
  }
  plan.n_kernels = report_.kernels.size() - plan.first_kernel;
  plan.model_us = request.planned->plan.model_seconds * 1e6;
  report_.plans.push_back(std::move(plan));
}

void Compilation::throw_no_plan(const std::exception& error) const {
  luminal::throw_no_plan(*requests_.back().graph, of_variant_.back(), error);
}

void Compilation::choose(size_t variant, const std::function<void(kernel::KernelStep&)>& change) {
  auto planned = std::make_shared<kernel::PlannedGraph>(*requests_[variant].planned);
  for (auto& step : planned->plan.steps) {
    if (auto* kernel = std::get_if<kernel::KernelStep>(&step)) change(*kernel);
  }
  requests_[variant].planned = std::move(planned);
}

void Compilation::generate_code() {
  const auto start = std::chrono::steady_clock::now();
  backends::LoadReport loaded;
  programs_ = backend_.load(requests_, &loaded);
  if (parts_.made != nullptr) {
    parts_.made->code = std::move(loaded.code.at(0));
    keep_plan(*parts_.made);
  }
  report_code(std::move(loaded), base::seconds_since(start), options_.inspect, report_);
  if (!backend_.runs_plans()) return;
  for (size_t v = 0; v < requests_.size(); ++v) {
    report_memory(*programs_[v], requests_[v].options.typical_sizes, report_);
  }
}

void Compilation::keep_plan(CompiledParts& parts) const {
  shape::ExprWriter plan;
  kernel::write_plan(plan, *requests_.front().planned);
  parts.plan = plan.bytes();
}

std::shared_ptr<const StepNotes> Compilation::step_notes(size_t variant) const {
  // The report lists the kernels of all variants, one after the other.
  const PlanReport& plan = report_.plans[variant];
  const auto first = report_.kernels.begin() + static_cast<std::ptrdiff_t>(plan.first_kernel);
  const auto last = first + static_cast<std::ptrdiff_t>(plan.n_kernels);
  return luminal::step_notes(*requests_[variant].graph, requests_[variant].planned, {first, last});
}

Executable Compilation::executable() {
  auto impl = std::make_unique<Executable::Impl>();
  impl->graph = graph_;
  impl->source = source_.home();
  impl->variables = variables_;
  impl->view_checks = std::make_shared<const ViewChecks>(*graph_);
  impl->variants = variants_;
  impl->memory_limit = options_.backend.memory_limit > 0 ? options_.backend.memory_limit
                                                         : base::cgroup_limits().memory.value_or(0);
  for (size_t v = 0; backend_.runs_plans() && v < requests_.size(); ++v) {
    impl->notes.push_back(step_notes(v));
  }
  impl->programs = std::move(programs_);
  impl->port_list = ports_of(*impl->programs.front(), *graph_, ports_);
  impl->slots.resize(impl->ports().size());
  impl->buffers.resize(impl->ports().size());
  if (impl->variables.empty()) impl->check_memory(*impl->programs.front(), {});
  for (size_t i = 0; i < ports_.leaves.size(); ++i) impl->leaf_port[ports_.leaves[i]] = i;
  for (size_t i = 0; i < ports_.results.size(); ++i) {
    impl->result_port[ports_.results[i]] = ports_.leaves.size() + i;
  }
  if (!loading_) read_weights();
  const auto data = loading_->finish();
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i]) impl->bind_data(i, *data[i]);
  }
  return Executable(std::move(impl));
}

}  // namespace luminal
