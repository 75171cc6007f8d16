#include "luminal/search/rolling/find_loops.h"

#include <algorithm>
#include <tuple>

#include "luminal/graph/traverse.h"
#include "luminal/search/rolling/match_trips.h"
#include "luminal/search/rolling/node_symbols.h"
#include "luminal/search/rolling/periodic_runs.h"

namespace luminal::search {
namespace {

constexpr size_t kLeastNodes = 24;  // of a trip, with Rolling::Auto: a small layer's
// Smaller layers are rolled several at a time where there are very many: rules and fusion see
// through those of a trip, and planning a thousand takes as long as planning a few.
constexpr size_t kManyNodes = 512;    // of all such layers together
constexpr size_t kGroupedNodes = 48;  // minimum of a trip of several layers
constexpr size_t kMostRotations = 3;
constexpr size_t kMostTried = 24;   // starts tried in a run before it is given up
constexpr double kAsNarrow = 1.05;  // a rotation may hand over this many times the fewest bytes
constexpr size_t kMostRuns = 64;

struct Range {
  size_t begin, end;  // positions in order_
};

class LoopFinder {
 public:
  LoopFinder(const Graph& graph, const std::vector<NodeId>& roots, Rolling roll,
             const Bindings& sizes)
      : graph_(graph),
        roll_(roll),
        all_(topological_order(graph, roots)),
        symbols_(graph.size(), UINT32_MAX),
        readers_(consumers(graph)),
        matcher_(graph, symbols_, readers_) {
    NodeSymbols symbols(graph);
    for (NodeId id : all_) {
      symbols_[id.index()] = symbols.of(id);
      if (graph.node(id).op != Op::Input) order_.push_back(id);
    }
    weigh_boundaries(sizes);
  }

  std::vector<std::vector<Loop>> run() {
    std::vector<uint32_t> sequence;
    for (NodeId id : order_) sequence.push_back(symbols_[id.index()]);
    std::vector<PeriodicRun> runs = periodic_runs(sequence);
    if (roll_ == Rolling::Auto) {
      std::erase_if(runs, [](const PeriodicRun& run) {
        return run.period < kLeastNodes && run.length < kManyNodes;
      });
    }
    if (runs.size() > kMostRuns) runs.resize(kMostRuns);
    std::vector<std::vector<Loop>> ways;
    for (size_t r = 0; r < runs.size() && ways.empty(); ++r) {
      for (Loop& loop : rotations(runs[r], {}, kMostRotations)) {
        ways.push_back({std::move(loop)});
        add_others({runs.begin() + static_cast<ptrdiff_t>(r), runs.end()}, ways.back());
      }
    }
    return ways;
  }

 private:
  // By boundary between two nodes of the order: the bytes of values that are live across it.
  void weigh_boundaries(const Bindings& sizes) {
    std::vector<size_t> last_read(graph_.size(), 0);
    for (size_t i = 0; i < order_.size(); ++i) {
      for (NodeId input : graph_.node(order_[i]).inputs) last_read[input.index()] = i;
    }
    std::vector<double> change(order_.size() + 2, 0);
    for (size_t i = 0; i < order_.size(); ++i) {
      const size_t last = last_read[order_[i].index()];
      if (last <= i) continue;
      const Node& node = graph_.node(order_[i]);
      double bytes = bits(node.dtype) / 8.0;
      for (Expr dim : node.dims) {
        bytes *= static_cast<double>(dim.evaluate(sizes).value.value_or(128));
      }
      change[i + 1] += bytes;
      change[last + 1] -= bytes;
    }
    double across = 0;
    for (size_t c = 0; c <= order_.size(); ++c) boundary_.push_back(across += change[c]);
  }

  // Adds smaller loops next to the ones that were found.
  void add_others(std::span<const PeriodicRun> runs, std::vector<Loop>& loops) {
    for (const PeriodicRun& run : runs) {
      for (Loop& loop : rotations(run, loops, 1)) loops.push_back(std::move(loop));
    }
  }

  // Loops in a run, disjoint from `others`, each with another start of its trips. Of small layers,
  // several to a trip, only the first that is found: any boundary between two of them is as good.
  std::vector<Loop> rotations(PeriodicRun run, const std::vector<Loop>& others, size_t most) {
    const bool grouped = roll_ == Rolling::Auto && run.period < kLeastNodes;
    if (grouped) run.period *= (kGroupedNodes + run.period - 1) / run.period;
    for (const Range& range : free_ranges(run, others)) {
      std::vector<Loop> found = rotations(range, run.period, others, grouped ? 1 : most, grouped);
      if (!found.empty()) return found;
    }
    return {};
  }

  std::vector<Range> free_ranges(const PeriodicRun& run, const std::vector<Loop>& others) const {
    std::vector<bool> taken(graph_.size(), false);
    for (const Loop& loop : others) {
      for (const auto& trip : loop.trips) {
        for (NodeId id : trip) taken[id.index()] = true;
      }
    }
    std::vector<Range> ranges;
    size_t begin = run.start;
    for (size_t i = run.start; i <= run.start + run.length; ++i) {
      if (i < run.start + run.length && !taken[order_[i].index()]) continue;
      if (i - begin >= 2 * run.period) ranges.push_back({begin, i});
      begin = i + 1;
    }
    return ranges;
  }

  std::vector<Loop> rotations(const Range& range, size_t period, const std::vector<Loop>& others,
                              size_t most, bool take_first) {
    using Start = std::tuple<double, ptrdiff_t, size_t>;  // bytes handed over, −trips, start
    std::vector<Start> starts;
    for (size_t start = range.begin; start < range.begin + period; ++start) {
      const size_t trips = (range.end - start) / period;
      if (trips < 2) continue;
      double across = 0;
      for (size_t t = 1; t < trips; ++t) across += boundary_[start + t * period];
      starts.emplace_back(across / static_cast<double>(trips - 1), -static_cast<ptrdiff_t>(trips),
                          start);
    }
    std::ranges::sort(starts);
    if (starts.size() > kMostTried) starts.resize(kMostTried);
    std::vector<std::pair<size_t, Loop>> found;  // with their start, fewest bytes first
    double narrowest = 0;
    for (const auto& [across, trips, start] : starts) {
      if (!found.empty() && across > narrowest * kAsNarrow) break;
      std::optional<Loop> loop = loop_at(start, period, static_cast<size_t>(-trips), others);
      if (!loop) continue;
      if (found.empty()) narrowest = across;
      found.emplace_back(start, std::move(*loop));
      if (take_first) break;
    }
    return furthest_apart(std::move(found), period, most);
  }

  // Of loops that hand over about as few bytes, those with the most trips, then those with the
  // fewest bytes; no two start near each other.
  static std::vector<Loop> furthest_apart(std::vector<std::pair<size_t, Loop>> found, size_t period,
                                          size_t most) {
    size_t longest = 0;
    for (const auto& [start, loop] : found) longest = std::max(longest, loop.n_trips());
    std::vector<Loop> chosen;
    std::vector<size_t> used;
    for (size_t trips = longest; trips >= 2 && chosen.size() < most; --trips) {
      for (auto& [start, loop] : found) {
        if (loop.n_trips() != trips || chosen.size() == most) continue;
        const auto near = [&, at = start](size_t u) { return is_near(u, at, period); };
        if (std::ranges::any_of(used, near)) continue;
        used.push_back(start);
        chosen.push_back(std::move(loop));
      }
    }
    return chosen;
  }

  // Starts a few nodes apart count as the same rotation.
  static bool is_near(size_t a, size_t b, size_t period) {
    const size_t apart = (a > b ? a - b : b - a) % period;
    return std::min(apart, period - apart) * 8 < period;
  }

  std::optional<Loop> loop_at(size_t start, size_t period, size_t trips,
                              const std::vector<Loop>& others) {
    std::vector<std::vector<NodeId>> nodes(trips);
    for (size_t t = 0; t < trips; ++t) {
      const auto first = order_.begin() + static_cast<ptrdiff_t>(start + t * period);
      nodes[t].assign(first, first + static_cast<ptrdiff_t>(period));
    }
    std::optional<Loop> loop = matcher_.loop_of(std::move(nodes));
    if (!loop || !is_wanted(*loop) || !stays_acyclic(others, *loop)) return std::nullopt;
    while (const auto before = matcher_.trip_before(*loop)) {
      std::vector<std::vector<NodeId>> longer = {*before};
      longer.insert(longer.end(), loop->trips.begin(), loop->trips.end());
      std::optional<Loop> extended = matcher_.loop_of(std::move(longer));
      if (!extended || !stays_acyclic(others, *extended)) break;
      loop = std::move(extended);
    }
    return loop;
  }

  bool is_wanted(const Loop& loop) const { return roll_ == Rolling::Always || loop.is_chain(); }

  // Whether the graph stays acyclic with each loop contracted to one vertex, and no node is in two
  // loops.
  bool stays_acyclic(const std::vector<Loop>& others, const Loop& loop) const {
    std::vector<uint32_t> vertex(graph_.size(), UINT32_MAX);
    uint32_t next = 0;
    auto contract = [&](const Loop& one) {
      for (const auto& trip : one.trips) {
        for (NodeId id : trip) {
          if (vertex[id.index()] != UINT32_MAX) return false;
          vertex[id.index()] = next;
        }
      }
      ++next;
      return true;
    };
    for (const Loop& other : others) contract(other);
    if (!contract(loop)) return false;
    for (NodeId id : all_) {
      if (vertex[id.index()] == UINT32_MAX) vertex[id.index()] = next++;
    }
    std::vector<std::vector<uint32_t>> readers(next);
    std::vector<uint32_t> missing(next, 0);
    for (NodeId id : all_) {
      const uint32_t to = vertex[id.index()];
      for (NodeId input : graph_.node(id).inputs) {
        if (vertex[input.index()] == to) continue;
        readers[vertex[input.index()]].push_back(to);
        ++missing[to];
      }
    }
    std::vector<uint32_t> ready;
    for (uint32_t v = 0; v < next; ++v) {
      if (missing[v] == 0) ready.push_back(v);
    }
    uint32_t done = 0;
    while (!ready.empty()) {
      const uint32_t v = ready.back();
      ready.pop_back();
      ++done;
      for (uint32_t reader : readers[v]) {
        if (--missing[reader] == 0) ready.push_back(reader);
      }
    }
    return done == next;
  }

  const Graph& graph_;
  const Rolling roll_;
  const std::vector<NodeId> all_;  // what the roots need, each after its inputs
  std::vector<NodeId> order_;      // without leaves
  std::vector<uint32_t> symbols_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<double> boundary_;
  TripMatcher matcher_;
};

}  // namespace

std::vector<std::vector<Loop>> find_loops(const Graph& graph, const std::vector<NodeId>& roots,
                                          Rolling roll, const Bindings& sizes) {
  if (roll == Rolling::Off) return {};
  return LoopFinder(graph, roots, roll, sizes).run();
}

}  // namespace luminal::search
