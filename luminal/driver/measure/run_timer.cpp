#include "luminal/driver/measure/run_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>

#include "luminal/base/check.h"
#include "luminal/base/os/cpu.h"
#include "luminal/base/seconds_since.h"
#include "luminal/driver/check/check_steps.h"
#include "luminal/driver/measure/leaf_values.h"
#include "luminal/driver/measure/median.h"
#include "luminal/driver/plan/planned_terms.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/ir/interpret_kernel.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal {
namespace {

using base::seconds_since;
using Clock = std::chrono::steady_clock;

// Up to this many scalar operations results are compared with the interpreter in full, else at
// samples.
constexpr double kCheckedWhole = 1e7;
constexpr int kFewestTrials = 5;
// A plan this many times slower than the first plan, if also over its time budget, is timed by one
// run.
constexpr double kSaidEnough = 4;
constexpr int kMostRounds = 61;
constexpr int kFewestRounds = 7;
// A turn repeats a short plan for this long. One run of 20 µs right after another plan's finds
// caches, branch predictors and helper threads as that one left them, which a model that runs again
// and again never does.
constexpr double kTurnSeconds = 5e-4;
constexpr double kMostRepeats = 100;

// Of a plan whose run takes so long; caches that are flushed before each run are left by none.
int repeats_of(double run_seconds, const CacheEviction& eviction) {
  if (eviction.evicts()) return 1;
  return static_cast<int>(std::clamp(kTurnSeconds / run_seconds, 1.0, kMostRepeats));
}

// Runs a plan `repeats` times. Returns the seconds of one run.
double turn(LoadedPlans& loaded, size_t plan, int repeats, CacheEviction& eviction,
            runtime::StepObserver* observer = nullptr) {
  double seconds = 0;
  for (int i = 0; i < repeats; ++i) {
    eviction.run();
    seconds += loaded.run(plan, observer);
  }
  return seconds / repeats;
}

// The time of every step of a run.
class StepTimes : public runtime::StepObserver {
 public:
  explicit StepTimes(size_t n_steps) : seconds_(n_steps, 0) {}
  void before(const runtime::StepView&) override { start_ = Clock::now(); }
  void after(const runtime::StepView& view) override {
    const kernel::StepId step = step_of(view);
    if (step.valid()) seconds_[step] += seconds_since(start_);
  }
  double seconds(kernel::StepId step) const { return seconds_[step]; }

 private:
  IdVector<kernel::StepId, double> seconds_;
  Clock::time_point start_;
};

// The steps of a packed plan that are kernels of the original plan.
std::vector<kernel::StepId> kernel_steps(const kernel::PlannedGraph& planned) {
  std::vector<kernel::StepId> steps;
  for (kernel::StepId s : planned.plan.step_ids()) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&planned.plan.at(s));
    if (kernel != nullptr && kernel->packs.empty()) steps.push_back(s);
  }
  return steps;
}

std::vector<NodeId> results_of(const Graph& graph, const std::vector<NodeId>& roots) {
  std::set<NodeId> updated;
  for (const StateUpdate& update : graph.updates()) updated.insert(update.value);
  for (const Output& output : graph.outputs()) updated.erase(output.node);
  std::vector<NodeId> results;
  for (NodeId root : roots) {
    if (!updated.contains(root)) results.push_back(root);
  }
  return results;
}

// What interpreting the graph as it is written takes, which may be far more than its plan does.
double interpreted_elements(const Graph& graph, const Bindings& sizes) {
  double elements = 0;
  for (NodeId id : topological_order(graph)) {
    const Node& node = graph.node(id);
    if (node.op == Op::View || node.inputs.empty()) continue;
    const auto count = n_elements(node.dims).evaluate(sizes).value;
    elements += static_cast<double>(count.value_or(std::numeric_limits<int64_t>::max()));
  }
  return elements;
}

uint64_t weight_bytes(const Graph& graph, const Bindings& sizes) {
  uint64_t bytes = 0;
  for (NodeId leaf : graph.leaves()) {
    const Node& node = graph.node(leaf);
    if (node.as<InputAttr>().role != Role::Weight) continue;
    const Result<ResolvedDims> dims = resolve_dims(node.dims, sizes);
    if (dims) bytes += dims->bytes(node.dtype);
  }
  return bytes;
}

// For each leaf of a rolled graph, the node of the whole graph whose data it takes.
std::vector<NodeId> originals(const search::SearchedTerms& terms) {
  if (terms.rolled == nullptr) return terms.graph.leaves();
  std::map<NodeId, NodeId> of_leaf;
  for (const search::LoopMarker& marker : terms.rolled->markers) {
    of_leaf.emplace(marker.leaf, marker.stands_for.front());
  }
  for (uint32_t id = 0; id < terms.rolled->places.size(); ++id) {
    const NodeId node = terms.rolled->places[id].node;
    if (node.valid()) of_leaf.emplace(node, NodeId{id});
  }
  std::vector<NodeId> nodes;
  for (NodeId leaf : terms.graph.leaves()) {
    const auto found = of_leaf.find(leaf);
    nodes.push_back(found == of_leaf.end() ? NodeId{} : found->second);
  }
  return nodes;
}

}  // namespace

RunTimer::RunTimer(const search::SearchedTerms& terms, const Graph& graph,
                   const std::vector<NodeId>& roots, const backends::Backend& backend,
                   backends::LoadOptions load, const TimerOptions& options)
    : terms_(terms),
      graph_(graph),
      roots_(roots),
      backend_(backend),
      load_(std::move(load)),
      options_(options),
      stands_for_(originals(terms)) {
  const Bindings& sizes = terms.options.sizes;
  lowered_ = {.graph = terms.graph.clone(),
              .results = results_of(terms.graph, terms.roots),
              .leaves = leaf_values(terms.graph, sizes, graph, stands_for_, options.seed),
              .sizes = sizes};
  graph_elements_ = interpreted_elements(*lowered_.graph, sizes);
  // The weights of one trip (iteration) would stay in the caches; those of all trips don't.
  const auto cache = static_cast<uint64_t>(base::cpu_info().caches.l3);
  if (weight_bytes(graph, sizes) > cache && weight_bytes(terms.graph, sizes) <= cache) {
    eviction_ = CacheEviction(cache);
  }
}

search::PlannedTerms RunTimer::with_plan(const kernel::Plan& plan) const {
  search::PlannedTerms terms = terms_.terms;
  terms.plan = plan;
  return terms;
}

std::shared_ptr<const kernel::PlannedGraph> RunTimer::prepared(
    search::PlannedTerms& terms, const Graph& graph, const std::vector<NodeId>& roots) const {
  std::shared_ptr<kernel::PlannedGraph> planned = planned_graph(terms);
  if (const auto packing = backend_.packing(load_)) {
    kernel::pack_weights(*planned, pack_request(graph, roots, terms, *planned, *packing, 0));
  }
  return planned;
}

void RunTimer::check(LoadedPlans& loaded,
                     const std::shared_ptr<const kernel::PlannedGraph>& planned,
                     const search::PlannedTerms& terms, const std::vector<bool>& wanted) {
  CompileReport report;
  report_kernels(*planned, terms, terms_.options, report);
  const std::shared_ptr<const StepNotes> notes =
      step_notes(*lowered_.graph, planned, report.kernels);
  StepChecks checks{.most_operations = kCheckedWhole,
                    .against_graph = true,
                    .of_steps = IdVector<kernel::StepId, bool>(planned->plan.steps.size())};
  double operations = 0;
  const std::vector<kernel::StepId> steps = kernel_steps(*planned);
  for (size_t k = 0; k < steps.size(); ++k) {
    if (wanted[k]) checks.of_steps[steps[k]] = true;
    const auto& step = std::get<kernel::KernelStep>(planned->plan.at(steps[k]));
    operations += kernel::interpreted_work(step.lowered.kernel, lowered_.sizes).operations;
  }
  checks.against_graph = std::max(operations, graph_elements_) <= kCheckedWhole;
  const interpret::LeafData leaf = leaf_data(lowered_);
  StepChecker checker(*lowered_.graph, *notes, lowered_.sizes, leaf, std::move(checks));
  loaded.run(0, &checker);
}

// The slowdown of the machine since the first plan was first timed.
double RunTimer::base_drift(const std::vector<double>& base_runs) {
  const double now = median_of(base_runs).value;
  if (base_seconds_ == 0) base_seconds_ = now;
  return now / base_seconds_;
}

std::vector<std::optional<records::KernelRecord>> RunTimer::time_kernels(
    const kernel::Plan& plan, const std::vector<bool>& wanted, double seconds) {
  search::PlannedTerms terms = with_plan(plan);
  const auto planned = prepared(terms, *lowered_.graph, terms_.roots);
  auto loaded = std::make_unique<LoadedPlans>(lowered_, backend_, load_, std::span(&planned, 1));
  check(*loaded, planned, terms, wanted);
  const size_t n_steps = planned->plan.steps.size();
  IdVector<kernel::StepId, std::vector<double>> samples(n_steps);
  std::vector<double> base_runs;
  bool says_enough = false;
  int repeats = 1;
  for (int i = 0; i < options_.warm_ups && !says_enough; ++i) {
    const double taken = loaded->run(0);
    says_enough = base_ != nullptr && taken > std::max(seconds, kSaidEnough * base_seconds_);
    repeats = repeats_of(taken, eviction_);
  }
  const int fewest = says_enough ? 1 : kFewestTrials;
  const Clock::time_point start = Clock::now();
  for (int trial = 0; trial < options_.trials; ++trial) {
    if (trial >= fewest && seconds_since(start) > seconds) break;
    if (base_ != nullptr) base_runs.push_back(turn(*base_, 0, base_repeats_, eviction_));
    StepTimes times(n_steps);
    const double whole = turn(*loaded, 0, repeats, eviction_, &times);
    if (base_ == nullptr) base_runs.push_back(whole);
    for (kernel::StepId s : samples.ids()) samples[s].push_back(times.seconds(s) / repeats);
  }
  const double drift = base_drift(base_runs);
  const std::vector<kernel::StepId> steps = kernel_steps(*planned);
  LUMINAL_CHECK(steps.size() == wanted.size(), "packing changed the number of kernels");
  std::vector<std::optional<records::KernelRecord>> records(wanted.size());
  for (size_t k = 0; k < wanted.size(); ++k) {
    if (!wanted[k]) continue;
    const Median taken = median_of(samples[steps[k]]);
    if (taken.value <= 0) continue;  // it ran once, when weights were set
    records[k] = {.seconds = taken.value / drift,
                  .low = taken.low / drift,
                  .high = taken.high / drift,
                  .samples = static_cast<int>(samples[steps[k]].size()),
                  .checked = true};
  }
  if (base_ == nullptr) {
    base_ = std::move(loaded);
    base_repeats_ = repeats;
  }
  return records;
}

bool RunTimer::whole_fits() const {
  std::vector<NodeId> own = graph_.leaves();
  const uint64_t made = leaf_bytes(graph_, terms_.options.sizes, graph_, own);
  // Besides the leaves, each plan may hold its own packed weights.
  const uint64_t folded = 2 * weight_bytes(graph_, terms_.options.sizes);
  return made + folded < base::memory_info().available / 2;
}

const RunnableGraph& RunTimer::whole() {
  if (terms_.rolled == nullptr || !whole_fits()) return lowered_;
  if (!whole_) {
    whole_ = {
        .graph = graph_.clone(),
        .results = results_of(graph_, roots_),
        .leaves = leaf_values(graph_, terms_.options.sizes, graph_, graph_.leaves(), options_.seed),
        .sizes = terms_.options.sizes};
  }
  return *whole_;
}

records::Comparison RunTimer::compare(const kernel::Plan& champion, const kernel::Plan& challenger,
                                      double seconds) {
  const Clock::time_point start = Clock::now();
  const RunnableGraph& graph = whole();
  std::vector<std::shared_ptr<const kernel::PlannedGraph>> plans;
  for (const kernel::Plan* plan : {&champion, &challenger}) {
    if (&graph == &lowered_) {
      search::PlannedTerms terms = with_plan(*plan);
      plans.push_back(prepared(terms, *graph.graph, terms_.roots));
      continue;
    }
    Result<search::PlannedTerms> unrolled = terms_.whole(*plan);
    LUMINAL_CHECK(unrolled, "a candidate can't be unrolled: " + unrolled.why());
    plans.push_back(prepared(*unrolled, *graph.graph, roots_));
  }
  base_.reset();  // frees its memory
  base_seconds_ = 0;
  LoadedPlans loaded(graph, backend_, load_, plans);
  CacheEviction nothing;
  CacheEviction& eviction = &graph == &lowered_ ? eviction_ : nothing;
  int repeats[2] = {1, 1};
  for (int i = 0; i < std::max(1, options_.warm_ups); ++i) {
    for (size_t plan : {0, 1}) repeats[plan] = repeats_of(loaded.run(plan), eviction);
  }
  std::vector<double> ratios;
  for (int round = 0; round < kMostRounds; ++round) {
    if (round >= kFewestRounds && seconds_since(start) > seconds) break;
    // The first to run in a round may find the caches as the other left them.
    const size_t first = static_cast<size_t>(round % 2);
    double taken[2];
    for (size_t plan : {first, 1 - first}) {
      taken[plan] = turn(loaded, plan, repeats[plan], eviction);
    }
    ratios.push_back(taken[1] / taken[0]);
  }
  const Median ratio = median_of(ratios);
  return {.champion = {},
          .challenger = {},
          .ratio = ratio.value,
          .low = ratio.low,
          .high = ratio.high,
          .rounds = static_cast<int>(ratios.size())};
}

}  // namespace luminal
