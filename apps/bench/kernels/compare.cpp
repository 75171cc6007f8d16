#include "apps/bench/kernels/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "apps/bench/harness/busy_work.h"
#include "apps/bench/harness/turns.h"
#include "apps/bench/kernels/inputs.h"
#include "luminal/base/errors.h"
#include "luminal/base/seconds_since.h"
#include "luminal/driver/bundle.h"

namespace luminal::bench {
namespace {

// A side is timed in a few intervals of this length, of which the best counts: other load on the
// machine can only add time.
constexpr double kStretchSeconds = 400e-6;
constexpr int kStretches = 3;
constexpr double kLongRun = 4e-3;  // a longer run is an interval of its own, and two are enough
// The placement of code and results in memory changes a kernel's time by some percent. So each side
// has several copies, made anew for each look; a single one if they are large.
constexpr int kCopies = 3;
constexpr double kLargeBytes = 64e6;
constexpr int64_t kMostChecked = 1 << 21;  // elements compared of a result

// One copy of one side.
class Side {
 public:
  Side(const std::string& bundle, const Inputs& inputs) : loaded_(load_bundle(bundle)) {
    set_inputs(loaded_.executable, *loaded_.graph, inputs);
    loaded_.executable.run();
  }

  void plant(BusyWork work) { planted_ = work; }

  double seconds_of_one() {
    double best = 1e9;
    for (int i = 0; i < kStretches; ++i) best = std::min(best, stretch(1));
    return best;
  }

  // The best of several intervals of `runs` runs, after one warm-up run that refills the caches.
  double seconds(int64_t runs, int stretches) {
    run();
    double best = stretch(runs);
    for (int i = 1; i < stretches; ++i) best = std::min(best, stretch(runs));
    return best;
  }

  TensorData result() {
    Graph& graph = *loaded_.graph;
    return loaded_.executable.get_data(graph.tensor(graph.outputs().front().node));
  }
  const Graph& graph() const { return *loaded_.graph; }

 private:
  void run() {
    loaded_.executable.run();
    planted_.run();
  }
  double stretch(int64_t runs) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < runs; ++i) run();
    return base::seconds_since(start) / static_cast<double>(runs);
  }

  LoadedBundle loaded_;
  BusyWork planted_;
};

// Compares the results for equal inputs, up to rounding in another order.
bool differ(const TensorData& then, const TensorData& now) {
  if (then.dtype != now.dtype || then.dims != now.dims) return true;
  if (then.n_elements() > kMostChecked) return false;
  const std::vector<double> a = then.to_doubles(), b = now.to_doubles();
  double squares = 0;
  for (double value : a) squares += std::isfinite(value) ? value * value : 0;
  const double usual = std::sqrt(squares / static_cast<double>(std::max<size_t>(a.size(), 1)));
  const double tolerance = is_half(then.dtype) ? 0.05 : 1e-3;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;
    if (!(std::abs(a[i] - b[i]) <= tolerance * (std::abs(a[i]) + usual))) return true;
  }
  return false;
}

// A case with both bundles and the samples so far.
struct Contest {
  const BaselineCase* then = nullptr;
  const Case* of = nullptr;
  std::string bundle_now;
  std::vector<double> seconds_then, seconds_now;
  Compared outcome;
};

const Case* find_case(Level level, const std::string& task) {
  for (const Case& of : cases(level)) {
    if (task.starts_with(of.name() + "/")) return &of;
  }
  return nullptr;
}

std::vector<Contest> contests(const Baseline& baseline, const std::string& filter) {
  std::vector<Contest> list;
  for (const BaselineCase& of : baseline.cases) {
    if (!name_matches(of.name, filter)) continue;
    Contest contest;
    contest.then = &of;
    contest.of = find_case(baseline.level, of.name);
    contest.outcome.name = of.name;
    if (contest.of == nullptr) contest.outcome.why_not = "this build has no such case";
    list.push_back(std::move(contest));
  }
  if (list.empty()) {
    throw UserError(fmt::format("--compare {}: none of its {} cases is left under --filter {}",
                                baseline.folder.string(), baseline.cases.size(), filter));
  }
  return list;
}

void run_rounds(Contest& contest, const std::string& bundle_then, int rounds, double planted) {
  Graph graph;
  contest.of->build(graph);
  const Inputs inputs = make_inputs(*contest.of, graph);
  const int copies = moved_bytes(graph) < kLargeBytes ? kCopies : 1;
  std::vector<Side> then, now;
  for (int i = 0; i < copies; ++i) {
    // Alternates which side allocates first.
    if (i % 2 == 0) then.emplace_back(bundle_then, inputs);
    now.emplace_back(contest.bundle_now, inputs);
    if (i % 2 == 1) then.emplace_back(bundle_then, inputs);
  }
  const double once = std::min(then.front().seconds_of_one(), now.front().seconds_of_one());
  if (planted > 0) {
    const BusyWork work(planted * once);
    for (Side& side : now) side.plant(work);
  }
  if (contest.seconds_now.empty()) {
    contest.outcome.results_differ = differ(then.front().result(), now.front().result());
  }
  const bool is_long = once >= kLongRun;
  const int64_t runs = is_long ? 1 : std::max<int64_t>(1, std::llround(kStretchSeconds / once));
  const int stretches = is_long ? 2 : kStretches;
  const auto side = [=](std::vector<Side>& of) {
    return [=, &of](int round) {
      return of[static_cast<size_t>(round / 2 % copies)].seconds(runs, stretches);
    };
  };
  const TurnTimes times = take_turns({side(then), side(now)}, {.least = rounds, .most = rounds});
  contest.seconds_then.insert(contest.seconds_then.end(), times[0].begin(), times[0].end());
  contest.seconds_now.insert(contest.seconds_now.end(), times[1].begin(), times[1].end());
  contest.outcome.ratios = ratios_of(contest.seconds_now, contest.seconds_then);
  contest.outcome.seconds_then = median(contest.seconds_then);
  contest.outcome.seconds_now = median(contest.seconds_now);
}

}  // namespace

std::vector<Compared> compare(const Baseline& baseline, const std::string& filter,
                              const CompareSettings& settings, const Progress& progress) {
  std::vector<Contest> list = contests(baseline, filter);
  const auto is_planted = [&](const Contest& contest) {
    return settings.planted_share > 0 && contest.outcome.name == settings.planted_case;
  };
  if (settings.planted_share > 0 && std::ranges::none_of(list, is_planted)) {
    throw UserError(fmt::format("--plant-slowdown: '{}' isn't one of the compared cases",
                                settings.planted_case));
  }
  const double confidence =
      shared_confidence(settings.confidence, static_cast<int64_t>(list.size()) * kLooks);
  for (int look = 0; look < kLooks; ++look) {
    const int rounds = settings.rounds << look;
    for (size_t i = 0; i < list.size(); ++i) {
      Contest& contest = list[i];
      Compared& outcome = contest.outcome;
      if (!outcome.why_not.empty() || outcome.judgement.verdict != Verdict::NotDecided) continue;
      progress({fmt::format("compare, look {} of {}", look + 1, kLooks), outcome.name,
                static_cast<int64_t>(i), std::ssize(list)});
      if (contest.bundle_now.empty()) {
        Graph graph;
        contest.of->build(graph);
        CompileOptions options;
        options.backend.threads = contest.then->threads;
        options.storage.cache_folder = "none";
        contest.bundle_now = make_bundle(graph, options);
      }
      run_rounds(contest, read_bundle(baseline, *contest.then), rounds,
                 is_planted(contest) ? settings.planted_share : 0);
      outcome.judgement = judge(outcome.ratios, confidence, settings.margin);
    }
  }
  std::vector<Compared> outcomes;
  for (Contest& contest : list) outcomes.push_back(std::move(contest.outcome));
  return outcomes;
}

}  // namespace luminal::bench
