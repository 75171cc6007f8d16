#include "apps/bench/search/measured_plans.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "apps/bench/harness/timed_runs.h"
#include "luminal/driver/compile/compilation.h"

namespace luminal {
namespace {

// Short runs are repeated, so that a turn is long beside the clock's resolution.
constexpr double kTurnSeconds = 2e-3;
constexpr int kMostRepeats = 200;

uint64_t seed_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

// Of names such as x, x#1 and x#2 the same.
void set_leaf(const Tensor& leaf, const std::string& name) {
  std::vector<int64_t> dims;
  for (Expr dim : leaf.dims()) dims.push_back(*dim.to_int());
  TensorData::Writable data = TensorData::zeros(DType::F32, std::move(dims));
  std::mt19937_64 engine(seed_of(name.substr(0, name.find('#'))));
  auto* values = reinterpret_cast<float*>(data.bytes.data());
  for (size_t i = 0; i < data.bytes.size() / sizeof(float); ++i) {
    values[i] = static_cast<float>(static_cast<double>(engine() >> 11) * 0x1p-53 - 0.5);
  }
  leaf.set(data.data);
}

// Elements of the largest of some types, as "f32[8, 64], f32[8]".
int64_t largest_of(const std::string& types) {
  int64_t largest = 1, count = 1, number = 0;
  bool in_dims = false;
  for (char c : types) {
    if (c == '[') {
      in_dims = true;
      count = 1;
    }
    if (in_dims && c >= '0' && c <= '9') number = number * 10 + (c - '0');
    if (in_dims && (c == ',' || c == ']')) {
      count *= std::max<int64_t>(number, 1);
      number = 0;
    }
    if (c == ']') {
      in_dims = false;
      largest = std::max(largest, count);
    }
  }
  return largest;
}

}  // namespace

std::unique_ptr<MeasuredPlan> measured_plan(
    std::string name, Graph& graph, CompileOptions options,
    const std::function<void(kernel::KernelStep&)>& change) {
  for (NodeId id : graph.leaves()) {
    set_leaf(graph.tensor(id), graph.node(id).as<InputAttr>().name);
  }
  auto plan = std::make_unique<MeasuredPlan>();
  plan->name = std::move(name);
  options.report = &plan->report;
  Compilation compilation(graph, options);
  compilation.verify();
  compilation.plan();
  compilation.choose(0, [&](kernel::KernelStep& step) {
    if (change) change(step);
    plan->form += kernel::text(step.lowered.kernel) +
                  kernel::text(kernel::StepChoice{step.strategy, step.schedule}) + "\n";
  });
  compilation.generate_code();
  plan->executable = std::make_unique<Executable>(compilation.executable());
  return plan;
}

bench::TurnTimes run_in_turns(const std::vector<MeasuredPlan*>& plans, double seconds) {
  std::vector<std::function<double(int)>> sides;
  for (MeasuredPlan* plan : plans) {
    for (int warm_up = 0; warm_up < 2; ++warm_up) plan->executable->run();
    const double once = bench::timed([&] { plan->executable->run(); });
    const int repeats =
        static_cast<int>(std::clamp(kTurnSeconds / once, 1.0, double{kMostRepeats}));
    sides.emplace_back([plan, repeats](int) {
      const double all = bench::timed([&] {
        for (int i = 0; i < repeats; ++i) plan->executable->run();
      });
      return all / repeats;
    });
  }
  return bench::take_turns(sides, {.least = 15, .most = 2001, .seconds = seconds});
}

double difference(MeasuredPlan& a, MeasuredPlan& b) {
  std::vector<std::vector<float>> results;
  for (MeasuredPlan* plan : {&a, &b}) {
    plan->executable->run();
    results.push_back(plan->executable->get<float>("y"));
  }
  if (results[0].size() != results[1].size()) throw UserError("the two ways differ in size");
  float largest = 0, apart = 0;
  for (size_t i = 0; i < results[0].size(); ++i) {
    largest = std::max(largest, std::abs(results[0][i]));
    apart = std::max(apart, std::abs(results[0][i] - results[1][i]));
  }
  return apart / largest;
}

bench::Json facts_of(const MeasuredPlan& plan) {
  double flops = 0;
  int kernels = 0;
  int64_t largest = 0;
  for (const KernelReport& kernel : plan.report.kernels) {
    if (kernel.launch < 0) continue;  // runs once, when weights are set
    ++kernels;
    flops += kernel.model_flops;
    largest = std::max(largest, largest_of(kernel.result));
  }
  return {{"kernels", kernels}, {"mflops", flops / 1e6}, {"largest_stored", largest}};
}

}  // namespace luminal
