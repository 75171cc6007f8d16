#include "tests/random_graphs/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/shape/scalar.h"
#include "tests/support/bounded_values.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_loop.h"

namespace luminal::tests {
namespace {

const InputAttr& leaf_of(const Graph& graph, NodeId id) { return graph.node(id).as<InputAttr>(); }

std::vector<int64_t> resolve(const Dims& dims, const Bindings& bindings) {
  std::vector<int64_t> sizes;
  for (Expr dim : dims) sizes.push_back(dim.evaluate(bindings).value.value());
  return sizes;
}

std::string describe(const Bindings& bindings) {
  std::string text;
  for (const auto& [name, value] : bindings.items()) text += fmt::format(" {} = {}", name, value);
  return text;
}

// Those of a graph's own variables: a smaller graph has fewer.
Bindings of_graph(const Graph& graph, const Bindings& bindings) {
  Bindings own;
  for (Expr variable : variables(graph)) {
    own.set(variable.name(), bindings.find(variable.name()).value());
  }
  return own;
}

// Every second state starts a run with what the last one left in it, if its size allows that.
bool keeps_state(const Trial& trial, NodeId leaf, const Bindings& bindings, RandomSource& random) {
  if (leaf_of(*trial.graph, leaf).role != Role::State || trial.runs.empty()) return false;
  const Dims& dims = trial.graph->node(leaf).dims;
  return resolve(dims, bindings) == resolve(dims, trial.runs.back().bindings) && random.chance(0.5);
}

// The executables under test, and the interpreter in the declared dtypes: a failure of that one is
// a bound that promises too much.
class Judge {
 public:
  explicit Judge(Trial& trial)
      : trial_(trial),
        tested_(build("cpu", trial.threads, &report_)),
        interpreter_(build("interp", 1, nullptr)) {
    if (trial.threads > 1) one_thread_.emplace(build("cpu", 1, nullptr));
    if (trial.rolling == Rolling::Always) {
      trial.rolling = Rolling::Off;
      unrolled_.emplace(build("cpu", trial.threads, nullptr));
      trial.rolling = Rolling::Always;
    }
  }

  Verdict run() {
    Verdict verdict{.kernels = report_.kernels.size()};
    for (const StageReport& stage : report_.stages) {
      if (stage.name == "rolled") verdict.rolled = stage.summary;
    }
    for (size_t k = 0; k < trial_.runs.size() && !verdict.failure; ++k) run(k, verdict);
    return verdict;
  }

 private:
  Executable build(const char* backend, int threads, CompileReport* report) const {
    return compile(
        *trial_.graph,
        {.backend = {.name = backend,
                     .target = backend == std::string("cpu") ? trial_.target : "",
                     .threads = threads},
         .plan = {.fusion = trial_.fusion, .numerics = trial_.numerics, .rolling = trial_.rolling},
         .storage = {.cache_folder = "none"},
         .report = report});
  }

  // What the interpreter reads, and what all executables are given.
  void set_leaves(TrialRun& run) {
    for (NodeId id : trial_.graph->leaves()) {
      const Tensor leaf = trial_.graph->tensor(id);
      const std::string& name = leaf_of(*trial_.graph, id).name;
      if (!run.leaves.contains(name)) run.leaves[name] = tested_.get_data(leaf);
      tested_.set(leaf, run.leaves[name]);
      interpreter_.set(leaf, run.leaves[name]);
      if (one_thread_) one_thread_->set(leaf, run.leaves[name]);
      if (unrolled_) unrolled_->set(leaf, run.leaves[name]);
    }
  }

  void run(size_t number, Verdict& verdict) {
    TrialRun& run = trial_.runs[number];
    run.bindings = of_graph(*trial_.graph, run.bindings);
    set_leaves(run);
    // What is read after the run, and the node whose value it then is.
    std::vector<NodeId> read, wanted;
    for (const StateUpdate& update : trial_.graph->updates()) {
      read.push_back(update.state);
      wanted.push_back(update.value);
    }
    for (const Output& output : trial_.graph->outputs()) {
      if (std::find(read.begin(), read.end(), output.node) != read.end()) continue;
      read.push_back(output.node);
      wanted.push_back(output.node);
    }
    const auto data = [&](NodeId id) { return run.leaves.at(leaf_of(*trial_.graph, id).name); };
    const std::vector<BoundedTensor> bounds =
        bounded_values(*trial_.graph, run.bindings, data, wanted);
    tested_.run(run.bindings, {.check_kernels = trial_.check});
    interpreter_.run(run.bindings);
    if (one_thread_) one_thread_->run(run.bindings);
    if (unrolled_) unrolled_->run(run.bindings);
    for (size_t i = 0; i < wanted.size() && !verdict.failure; ++i) {
      verdict.failure = compare(trial_.graph->tensor(read[i]), bounds[i]);
      if (verdict.failure) {
        *verdict.failure = fmt::format("run {}{}: {}: {}", number, describe(run.bindings),
                                       trial_.graph->describe(read[i]), *verdict.failure);
      }
      if (verdict.failure && !promises_anything(run)) {
        verdict.failure.reset();
        verdict.unknown += bounds[i].size() - bounds[i].unknown();
      }
      verdict.elements += bounds[i].size();
      verdict.unknown += bounds[i].unknown();
    }
  }

  // Rules of class finite do where nothing is NaN or infinite.
  bool promises_anything(const TrialRun& run) const {
    if (trial_.numerics < Numerics::Finite) return true;
    const auto data = [&](NodeId id) { return run.leaves.at(leaf_of(*trial_.graph, id).name); };
    const std::vector<NodeId> nodes = topological_order(*trial_.graph, roots(*trial_.graph));
    return std::ranges::all_of(
        bounded_values(*trial_.graph, run.bindings, data, nodes), [](const BoundedTensor& value) {
          return std::ranges::all_of(
              value.reals, [&](double real) { return std::isfinite(round_to(value.dtype, real)); });
        });
  }

  std::optional<std::string> compare(const Tensor& read, const BoundedTensor& bound) const {
    if (auto wrong = outside(bound, interpreter_.get_data(read))) {
      return "a bound doesn't hold for the interpreter: " + *wrong;
    }
    const TensorData got = tested_.get_data(read);
    if (auto wrong = outside(bound, got)) return wrong;
    if (unrolled_) {
      if (auto wrong = outside(bound, unrolled_->get_data(read))) return "unrolled: " + *wrong;
    }
    if (one_thread_) {
      const TensorData same = one_thread_->get_data(read);
      if (same.bytes.size() > 0 &&
          std::memcmp(same.bytes.data(), got.bytes.data(), got.bytes.size()) != 0) {
        return fmt::format("other bits with {} threads than with one", trial_.threads);
      }
    }
    return std::nullopt;
  }

  Trial& trial_;
  CompileReport report_;
  Executable tested_, interpreter_;
  std::optional<Executable> one_thread_, unrolled_;
};

void add_runs(Trial& trial, const std::vector<Expr>& variables, RandomSource& random) {
  for (int k = 0; k < 3; ++k) {
    TrialRun run{.bindings = random_bindings(variables, random)};
    for (NodeId id : trial.graph->leaves()) {
      if (keeps_state(trial, id, run.bindings, random)) continue;
      const Node& node = trial.graph->node(id);
      run.leaves[leaf_of(*trial.graph, id).name] =
          random_data(node.dtype, resolve(node.dims, run.bindings), random);
    }
    trial.runs.push_back(std::move(run));
  }
}

}  // namespace

Trial random_trial(uint64_t seed) {
  RandomSource random(seed);
  RandomGraphOptions options;
  // One in eight is large enough for two threads to share a kernel.
  const bool large = random.chance(0.125);
  if (large) options = {.least_nodes = 5, .most_nodes = 16, .most_elements = 40000};
  if (!large && random.chance(0.5)) options.most_nodes = 20;
  RandomGraph made = random_graph(random, options);
  Trial trial{.graph = std::move(made.graph)};
  const double policy = random.uniform();
  trial.fusion = policy < 0.5    ? FusionPolicy::Always
                 : policy < 0.85 ? FusionPolicy::Modelled
                 : policy < 0.95 ? FusionPolicy::Fixed
                                 : FusionPolicy::Never;
  trial.threads = large || random.chance(0.1) ? 2 : 1;
  // Whatever repeats in one in four is rolled: mostly by chance, and rarely a layer.
  if (seed % 4 == 3) trial.rolling = Rolling::Always;
  add_runs(trial, made.variables, random);
  return trial;
}

Trial random_loop_trial(uint64_t seed) {
  RandomSource random(seed);
  RandomLoop loop = random_loop(random);
  Trial trial{.graph = std::move(loop.made.graph), .rolling = Rolling::Always};
  const double policy = random.uniform();
  if (policy < 0.3) trial.fusion = policy < 0.1 ? FusionPolicy::Never : FusionPolicy::Always;
  add_runs(trial, loop.made.variables, random);
  return trial;
}

Verdict judge(Trial& trial) {
  try {
    return Judge(trial).run();
  } catch (const std::exception& error) {
    return {.failure = fmt::format("threw: {}", error.what())};
  }
}

}  // namespace luminal::tests
