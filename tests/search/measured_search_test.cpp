// The measured search with a clock that is made up: what it times, what it remembers, when it
// changes its champion, and why it stops.
#include "luminal/search/measured/measured_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/luminal.h"
#include "tests/search/planned.h"

namespace luminal::search {
namespace {

using testing::HasSubstr;

class Memory : public SearchMemory {
 public:
  std::optional<records::KernelRecord> kernel(const std::string& key) override {
    const auto found = kernels.find(key);
    return found == kernels.end() ? std::nullopt : std::optional(found->second);
  }
  void remember(const std::string& key, const records::KernelRecord& record) override {
    kernels[key] = record;
  }
  std::optional<records::Comparison> comparison(const std::string& champion,
                                                const std::string& challenger) override {
    const auto found = comparisons.find({champion, challenger});
    return found == comparisons.end() ? std::nullopt : std::optional(found->second);
  }
  void remember(const records::Comparison& comparison) override {
    comparisons[{comparison.champion, comparison.challenger}] = comparison;
  }

  std::map<std::string, records::KernelRecord> kernels;
  std::map<std::pair<std::string, std::string>, records::Comparison> comparisons;
};

// Says what `seconds` says of each kernel, and of a plan the sum.
class Clock : public PlanTimer {
 public:
  using Seconds = std::function<double(const kernel::KernelStep&)>;
  explicit Clock(Seconds seconds) : seconds_(std::move(seconds)) {}

  std::vector<std::optional<records::KernelRecord>> time_kernels(const kernel::Plan& plan,
                                                                 const std::vector<bool>& wanted,
                                                                 double) override {
    std::vector<std::optional<records::KernelRecord>> records;
    for (const auto& step : plan.steps) {
      const auto* kernel = std::get_if<kernel::KernelStep>(&step);
      if (kernel == nullptr) continue;
      const bool asked = wanted[records.size()];
      records.emplace_back();
      if (!asked) continue;
      const double taken = seconds_(*kernel);
      timed.push_back(kernel::text(kernel->lowered.kernel) + text(kernel->schedule));
      records.back() = {
          .seconds = taken, .low = taken, .high = taken, .samples = 9, .checked = true};
    }
    return records;
  }

  records::Comparison compare(const kernel::Plan& champion, const kernel::Plan& challenger,
                              double) override {
    ++compared;
    const double ratio = total(challenger) / total(champion);
    return {.champion = {},
            .challenger = {},
            .ratio = ratio,
            .low = ratio * (1 - noise),
            .high = ratio * (1 + noise),
            .rounds = 9};
  }

  double total(const kernel::Plan& plan) const {
    double sum = 0;
    for (const auto& step : plan.steps) {
      if (const auto* kernel = std::get_if<kernel::KernelStep>(&step)) sum += seconds_(*kernel);
    }
    return sum;
  }

  std::vector<std::string> timed;
  int compared = 0;
  double noise = 0.001;

 private:
  Seconds seconds_;
};

double modelled(const kernel::KernelStep& step) {
  return seconds(step.lowered.kernel, MachineModel{}, {});
}

// Fused loops are as dear as can be: each kernel takes the square of its stages.
double fusing_is_dear(const kernel::KernelStep& step) {
  const auto stages = static_cast<double>(step.lowered.kernel.stages.size());
  return 1e-6 * stages * stages * stages;
}

void norm_and_softmax(Graph& graph) {
  Tensor x = graph.input("x", {64, 256});
  const Tensor w = graph.weight("w", {256, 256});
  softmax(matmul(rms_norm(x, {256}), w) + x, -1).output("y");
}

struct Question {
  explicit Question(const std::function<void(Graph&)>& build = norm_and_softmax,
                    const std::function<void(Planned&)>& change = nullptr) {
    build(graph);
    planned = prepare(graph);
    if (change) change(planned);
    roots = luminal::roots(graph);
    terms.extracted = planned.extracted;
    terms.sources = planned.lowered.sources;
    terms.chosen = choose_terms(planned.extracted.graph, planned.options.sizes).term;
    terms.host_steps = planned.request.host_steps;
    first = find_plan(planned.extracted.graph, planned.request, planned.options);
  }

  MeasuredPlan run(PlanTimer* timer, SearchMemory& memory, const MeasuredOptions& options) {
    const SearchedTerms searched{.graph = graph,
                                 .roots = roots,
                                 .rolled = nullptr,
                                 .terms = terms,
                                 .request = planned.request,
                                 .options = planned.options,
                                 .whole = [&](const kernel::Plan& plan) -> Result<PlannedTerms> {
                                   PlannedTerms whole = terms;
                                   whole.plan = plan;
                                   return whole;
                                 }};
    return measured_search(searched, first, options, timer, memory);
  }

  Graph graph;
  Planned planned;
  std::vector<NodeId> roots;
  PlannedTerms terms;
  FoundPlan first;
};

MeasuredOptions budget(double seconds, int candidates) {
  MeasuredOptions options;
  options.seconds = seconds;
  options.candidates = candidates;
  options.choices = [](const kernel::KernelStep& step) {
    std::vector<kernel::StepChoice> choices;
    for (const int64_t unroll : {1, 2, 8}) {
      choices.push_back({.strategy = step.strategy, .schedule = {{kernel::Knob::Unroll, unroll}}});
    }
    return choices;
  };
  return options;
}
const MeasuredOptions kEnough = budget(30, 40);

TEST(MeasuredSearch, KeepsTheModelsChoiceWhereTheModelIsRight) {
  Question question;
  Memory memory;
  Clock clock(modelled);
  const MeasuredPlan found = question.run(&clock, memory, kEnough);
  EXPECT_EQ(found.report.trail.champion, plan_digest(question.first.plan));
  EXPECT_GT(found.report.timed, 0);
  EXPECT_FALSE(found.report.stopped.empty());
}

TEST(MeasuredSearch, FollowsTheClockWhereTheModelIsWrong) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  const MeasuredPlan found = question.run(&clock, memory, kEnough);
  EXPECT_NE(found.report.trail.champion, plan_digest(question.first.plan));
  EXPECT_LT(clock.total(found.plan.found.plan), 0.8 * clock.total(question.first.plan));
  EXPECT_GT(found.plan.found.plan.n_kernels(), question.first.plan.n_kernels());
  EXPECT_GT(found.report.compared, 0);
}

// y by either of two terms: the model can't tell them apart, and takes the one with fewer flops.
TEST(MeasuredSearch, TheClockMayPreferAnotherTerm) {
  Question question([](Graph& graph) { exp2(graph.input("x", {2048, 2048})).output("y"); },
                    [](Planned& planned) {
                      const kernel::ClassId y = planned.request.stored.front();
                      auto& terms = planned.extracted.graph.classes[y.index()].terms;
                      const auto& first = std::get<kernel::OpTerm>(terms.front());
                      terms.emplace_back(kernel::OpTerm{Op::Sin, first.operands});
                    });
  const size_t y = question.planned.request.stored.front().index();
  EXPECT_EQ(question.first.plan.term[y], 0);
  const auto is_sin = [](const kernel::KernelStep& step) {
    return kernel::text(step.lowered.kernel).find("sin") != std::string::npos;
  };
  for (const bool sin_is_fast : {true, false}) {
    Memory memory;
    Clock clock([&](const kernel::KernelStep& step) {
      return modelled(step) * (is_sin(step) == sin_is_fast ? 1 : 3);
    });
    const MeasuredPlan found = question.run(&clock, memory, kEnough);
    EXPECT_EQ(found.plan.found.plan.term[y], sin_is_fast ? 1 : 0);
    MeasuredOptions options = kEnough;
    options.replay = found.report.trail;
    const MeasuredPlan replayed = question.run(nullptr, memory, options);
    EXPECT_EQ(replayed.plan.found.plan.term, found.plan.found.plan.term);
  }
}

// A matrix product instead of an exponential: the model takes it for far slower than it is.
TEST(MeasuredSearch, ATermThatTheModelTakesForFarSlowerIsTimedToo) {
  constexpr int64_t kSide = 256;
  Question question(
      [](Graph& graph) { exp2(graph.input("x", {kSide, kSide})).output("y"); },
      [](Planned& planned) {
        kernel::TermGraph& graph = planned.extracted.graph;
        const Dims cube = {kSide, kSide, kSide}, square = {kSide, kSide};
        const auto add = [&](kernel::Term term) {
          graph.classes.push_back({cube, DType::F32, {std::move(term)}});
          planned.extracted.rules.emplace_back();
          return kernel::ClassId{static_cast<uint32_t>(graph.classes.size() - 1)};
        };
        const size_t y = planned.request.stored.front().index();
        const kernel::ClassId x =
            std::get<kernel::OpTerm>(graph.classes[y].terms.front()).operands[0];
        const Expr i = Expr::index(0, kSide), j = Expr::index(1, kSide), k = Expr::index(2, kSide);
        const auto left = add(kernel::ReindexTerm{IndexMap(cube, square, {i, k}), x});
        const auto right = add(kernel::ReindexTerm{IndexMap(cube, square, {k, j}), x});
        const auto product = add(kernel::OpTerm{Op::Mul, {left, right}});
        graph.classes[y].terms.emplace_back(kernel::ReduceTerm{Reducer::Sum, product});
      });
  const size_t y = question.planned.request.stored.front().index();
  EXPECT_EQ(question.first.plan.term[y], 0);
  Memory memory;
  Clock clock([&](const kernel::KernelStep& step) {
    const bool sums = kernel::text(step.lowered.kernel).find("sum") != std::string::npos;
    return sums ? 1e-6 : 1e-4;
  });
  const double exp2_seconds = question.first.plan.model_seconds;
  const MeasuredPlan found = question.run(&clock, memory, kEnough);
  EXPECT_EQ(found.plan.found.plan.term[y], 1);
  EXPECT_GT(clock.timed.size(), 1u);
  EXPECT_LT(exp2_seconds, 1e-4);
}

TEST(MeasuredSearch, TimesEachDistinctKernelOnce) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  question.run(&clock, memory, kEnough);
  std::vector<std::string> sorted = clock.timed;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
}

TEST(MeasuredSearch, AChallengerMustBeClearlyFaster) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  clock.noise = 10;  // every interval holds 1
  const MeasuredPlan found = question.run(&clock, memory, kEnough);
  EXPECT_EQ(found.report.trail.champion, plan_digest(question.first.plan));
  EXPECT_GT(found.report.compared, 0);
}

TEST(MeasuredSearch, WhatIsRememberedIsNotTimedAgain) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear), unused([](const kernel::KernelStep&) { return 1.0; });
  const MeasuredPlan once = question.run(&clock, memory, kEnough);
  const MeasuredPlan again = question.run(&unused, memory, kEnough);
  EXPECT_EQ(again.report.timed, 0);
  EXPECT_EQ(again.report.compared, 0);
  EXPECT_EQ(unused.timed.size(), 0u);
  EXPECT_EQ(again.report.trail.champion, once.report.trail.champion);
}

TEST(MeasuredSearch, AReplayNeedsNoClock) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  for (int candidates : {1, 2, 3, 5, 40}) {
    MeasuredOptions options = kEnough;
    options.candidates = candidates;
    const MeasuredPlan once = question.run(&clock, memory, options);
    options.replay = once.report.trail;
    const MeasuredPlan replayed = question.run(nullptr, memory, options);
    EXPECT_EQ(plan_digest(replayed.plan.found.plan), plan_digest(once.plan.found.plan));
    EXPECT_EQ(replayed.report.timed, 0);
  }
}

TEST(MeasuredSearch, AReplayNamesWhatItMisses) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  MeasuredOptions options = kEnough;
  options.replay = question.run(&clock, memory, kEnough).report.trail;
  Memory without_comparisons = memory;
  without_comparisons.comparisons.clear();
  Memory without_kernels = memory;
  without_kernels.kernels.clear();
  const auto message = [&](Memory& of) {
    try {
      question.run(nullptr, of, options);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message(without_comparisons), HasSubstr("no comparison"));
  EXPECT_THAT(message(without_kernels), HasSubstr("were never timed on this device"));
  EXPECT_EQ(message(memory), "no error");
}

TEST(MeasuredSearch, ASecondRunWithMoreBudgetGoesOnWhereTheFirstStopped) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  double before = clock.total(question.first.plan);
  for (int candidates : {1, 2, 4, 8, 16, 32}) {
    MeasuredOptions options = kEnough;
    options.candidates = candidates;
    const MeasuredPlan found = question.run(&clock, memory, options);
    const double now = clock.total(found.plan.found.plan);
    EXPECT_LE(now, before) << candidates;
    before = now;
  }
}

TEST(MeasuredSearch, StopsWhenToldAndKeepsAPlan) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  MeasuredOptions options = kEnough;
  options.stop = [] { return true; };
  const MeasuredPlan found = question.run(&clock, memory, options);
  EXPECT_EQ(found.report.stopped, "it was interrupted");
  EXPECT_EQ(found.report.candidates, 1);
  EXPECT_EQ(found.report.trail.champion, plan_digest(question.first.plan));
}

TEST(MeasuredSearch, BudgetsAreNamedWhenTheyAreOver) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  EXPECT_EQ(question.run(&clock, memory, budget(0, 40)).report.stopped,
            "the time limit of 0 s was reached");
  EXPECT_THAT(question.run(&clock, memory, budget(30, 2)).report.stopped,
              HasSubstr("2 candidates were tried"));
}

TEST(MeasuredSearch, SchedulesAreTunedKernelByKernel) {
  Question question;
  Memory memory;
  // The first kernel likes little unrolling, others don't care.
  const std::string liked =
      kernel::text(std::get<kernel::KernelStep>(question.first.plan.steps.front()).lowered.kernel);
  Clock clock([&](const kernel::KernelStep& step) {
    const bool fast = kernel::text(step.lowered.kernel) == liked &&
                      step.schedule.get(kernel::Knob::Unroll, 0) == 2;
    return modelled(step) * (fast ? 0.5 : 1);
  });
  const MeasuredPlan found = question.run(&clock, memory, kEnough);
  int tuned = 0;
  for (const auto& step : found.plan.found.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr || kernel->schedule.empty()) continue;
    EXPECT_EQ(kernel::text(kernel->schedule), "unroll 2");
    ++tuned;
  }
  EXPECT_EQ(tuned, 1);
}

// Four rows are the fastest of a strategy that isn't the default.
TEST(MeasuredSearch, AStrategyThatIsTakenIsTunedToo) {
  Question question([](Graph& graph) { exp2(graph.input("x", {64, 64})).output("y"); });
  MeasuredOptions options = kEnough;
  options.choices = [](const kernel::KernelStep& step) {
    std::vector<kernel::StepChoice> choices;
    if (step.strategy == kernel::Strategy::Matmul) {
      for (const int64_t rows : {2, 4, 8}) {
        choices.push_back(
            {.strategy = step.strategy, .schedule = {{kernel::Knob::TileRows, rows}}});
      }
    } else {
      choices.push_back({.strategy = step.strategy, .schedule = {{kernel::Knob::Unroll, 4}}});
      choices.push_back({.strategy = kernel::Strategy::Matmul, .schedule = {}});
    }
    return choices;
  };
  Clock clock([&](const kernel::KernelStep& step) {
    if (step.strategy != kernel::Strategy::Matmul) return 3e-6;
    return step.schedule.get(kernel::Knob::TileRows, 0) == 4 ? 1e-6 : 2e-6;
  });
  Memory memory;
  const MeasuredPlan found = question.run(&clock, memory, options);
  const auto& step = std::get<kernel::KernelStep>(found.plan.found.plan.steps.front());
  EXPECT_EQ(step.strategy, kernel::Strategy::Matmul);
  EXPECT_EQ(kernel::text(step.schedule), "tile_rows 4");
  EXPECT_EQ(found.report.trail.tuned, 5);
  options.replay = found.report.trail;
  const MeasuredPlan replayed = question.run(nullptr, memory, options);
  EXPECT_EQ(replayed.report.trail.champion, found.report.trail.champion);
}

TEST(MeasuredSearch, EventsTellHowItWent) {
  Question question;
  Memory memory;
  Clock clock(fusing_is_dear);
  std::vector<std::string> kinds;
  MeasuredOptions options = kEnough;
  options.event = [&](const SearchEvent& event) {
    kinds.push_back(event.kind);
    EXPECT_GT(event.candidates, 0);
    EXPECT_GT(event.best_seconds, 0);
  };
  question.run(&clock, memory, options);
  EXPECT_EQ(kinds.front(), "candidate");
  EXPECT_EQ(kinds.back(), "stopped");
  EXPECT_THAT(kinds, testing::Contains("champion"));
}

// Convolutions of convolutions, fused: every tap computes those before it again.
TEST(MeasuredSearch, WhatIsExpectedToTakeManyTimesLongerIsNotRun) {
  Question question([](Graph& graph) {
    Tensor x = graph.input("x", {1, 16, 32, 32});
    for (const char* name : {"a", "b", "c"}) {
      x = conv2d(x, graph.weight(name, {16, 16, 3, 3}), std::nullopt, {.padding = 1});
    }
    x.output("y");
  });
  SearchOptions fused = question.planned.options;
  fused.fusion = FusionPolicy::Always;
  const FoundPlan slow =
      find_plan(question.planned.extracted.graph, question.planned.request, fused);
  Memory memory;
  Clock clock(modelled);
  ASSERT_GT(clock.total(slow.plan), 100 * clock.total(question.first.plan));
  std::vector<std::string> passed_over;
  MeasuredOptions options = kEnough;
  options.event = [&](const SearchEvent& event) {
    if (event.kind == "passed over") passed_over.push_back(event.text);
  };
  const MeasuredPlan found = question.run(&clock, memory, options);
  EXPECT_THAT(passed_over, testing::Contains(HasSubstr("times the best plan's")));
  for (const auto& step : slow.plan.steps) {
    const auto& kernel = std::get<kernel::KernelStep>(step);
    EXPECT_THAT(clock.timed,
                testing::Not(testing::Contains(HasSubstr(kernel::text(kernel.lowered.kernel)))));
  }
  options.replay = found.report.trail;
  EXPECT_EQ(question.run(nullptr, memory, options).report.trail.champion,
            found.report.trail.champion);
}

TEST(MeasuredSearch, APolicyThatLeavesOnePlanIsKept) {
  Question question;
  question.planned.options.fusion = FusionPolicy::Never;
  question.first = find_plan(question.planned.extracted.graph, question.planned.request,
                             question.planned.options);
  Memory memory;
  Clock clock(modelled);
  const MeasuredPlan found = question.run(&clock, memory, kEnough);
  EXPECT_EQ(found.plan.found.plan.n_kernels(), question.first.plan.n_kernels());
}

}  // namespace
}  // namespace luminal::search
