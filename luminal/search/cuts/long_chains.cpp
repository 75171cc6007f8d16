#include "luminal/search/cuts/long_chains.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::Term;

constexpr uint32_t kNone = UINT32_MAX;

class Splitting {
 public:
  Splitting(const kernel::TermGraph& graph, const ChosenTerms& chosen,
            const std::vector<bool>& needed, const std::vector<bool>& stored, size_t most_ops)
      : graph_(graph),
        chosen_(chosen),
        needed_(needed),
        stored_(stored),
        most_ops_(most_ops),
        level_(needed.size(), 0),
        computes_(needed.size(), false),
        run_(needed.size()),
        position_(needed.size(), kNone) {
    std::iota(run_.begin(), run_.end(), 0);
  }

  ChainPieces run() {
    order_classes();
    for (uint32_t id : order_) place(id);
    std::vector<uint32_t> size(needed_.size(), 0);
    for (uint32_t id : order_) size[run_of(id)] += is_op(id);
    const bool any = std::ranges::any_of(size, [&](uint32_t n) { return n > most_ops_; });
    if (!any) return {};
    find_readers();
    for (size_t k = order_.size(); k-- > 0;) {
      const uint32_t id = order_[k];
      if (!is_op(id) || position_[id] != kNone || size[run_of(id)] <= most_ops_) continue;
      walk_from(id);
    }
    // Walks from several ends of a run may interleave with other runs: values are grouped by run,
    // then split.
    for (uint32_t i = 0; i < walked_.size(); ++i) position_[walked_[i]] = i;
    std::ranges::sort(walked_, {},
                      [&](uint32_t id) { return std::pair(run_of(id), position_[id]); });
    for (size_t begin = 0, end = 0; begin < walked_.size(); begin = end) {
      while (end < walked_.size() && run_of(walked_[end]) == run_of(walked_[begin])) ++end;
      split({walked_.begin() + static_cast<ptrdiff_t>(begin), end - begin});
    }
    std::ranges::sort(out_.ends);
    std::ranges::sort(out_.inside);
    return std::move(out_);
  }

 private:
  const Term& term_of(uint32_t id) const {
    return graph_.classes[id].terms[static_cast<size_t>(chosen_.term[id])];
  }
  bool is_op(uint32_t id) const { return std::holds_alternative<kernel::OpTerm>(term_of(id)); }

  // Classes in topological order.
  void order_classes() {
    for (uint32_t id = 0; id < needed_.size(); ++id) {
      if (needed_[id] && chosen_.term[id] >= 0) order_.push_back(id);
    }
    std::ranges::sort(order_, {}, [&](uint32_t id) { return chosen_.position[id]; });
  }

  uint32_t run_of(uint32_t id) {
    while (run_[id] != id) id = run_[id] = run_[run_[id]];
    return id;
  }

  // A value's level is the maximum number of views, reductions and the like on a path to it. Ops of
  // one level that read each other are one run: every path between them has only ops.
  void place(uint32_t id) {
    const std::vector<ClassId> reads = kernel::operands(term_of(id));
    bool of_ops = false;
    for (ClassId read : reads) {
      level_[id] = std::max(level_[id], level_[read.index()]);
      of_ops |= computes_[read.index()];
    }
    computes_[id] = of_ops || is_op(id);
    if (!is_op(id)) {
      level_[id] += of_ops;
      return;
    }
    for (ClassId read : reads) {
      if (is_op(read.value) && level_[read.index()] == level_[id]) {
        run_[run_of(read.value)] = run_of(id);
      }
    }
  }

  void find_readers() {
    readers_.resize(needed_.size());
    for (uint32_t id : order_) {
      const auto& terms = graph_.classes[id].terms;
      // For a class with only views, which one is read depends on what is stored.
      const bool flexible = std::ranges::all_of(terms, is_view);
      for (size_t t = 0; t < terms.size(); ++t) {
        if (!flexible && static_cast<int>(t) != chosen_.term[id]) continue;
        for (ClassId read : kernel::operands(terms[t])) readers_[read.index()].push_back(id);
      }
    }
  }

  // Adds what `last` needs of its run, depth first: a tree's branches then follow one another.
  void walk_from(uint32_t last) {
    struct Open {
      uint32_t id;
      std::vector<ClassId> reads;
      size_t next;
    };
    constexpr uint32_t kOpen = kNone - 1;
    std::vector<Open> open;
    auto enter = [&](uint32_t id) {
      position_[id] = kOpen;
      open.push_back({id, kernel::operands(term_of(id)), 0});
    };
    enter(last);
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.reads.size()) {
        walked_.push_back(top.id);
        open.pop_back();
        continue;
      }
      const uint32_t read = top.reads[top.next++].value;
      if (is_op(read) && run_of(read) == run_of(last) && position_[read] == kNone) enter(read);
    }
  }

  // `values` is a run, in topological order.
  void split(std::span<const uint32_t> values) {
    for (uint32_t i = 0; i < values.size(); ++i) position_[values[i]] = i;
    // By position between two values: how many are live across it.
    std::vector<int> across(values.size() + 1, 0);
    for (uint32_t i = 0; i < values.size(); ++i) {
      uint32_t last = i;
      for (uint32_t reader : readers_[values[i]]) {
        if (is_op(reader) && run_of(reader) == run_of(values[i])) {
          last = std::max(last, position_[reader]);
        }
      }
      ++across[i + 1];
      if (last + 1 < across.size()) --across[last + 1];
    }
    std::partial_sum(across.begin(), across.end(), across.begin());
    for (size_t begin = 0; begin < values.size();) {
      size_t end = values.size();
      if (end - begin > most_ops_) {
        end = begin + most_ops_;
        for (size_t at = end; at > begin + most_ops_ / 2; --at) {
          if (across[at] < across[end]) end = at;
        }
      }
      finish_piece(values, begin, end);
      begin = end;
    }
  }

  // A value that only one stored value of the piece needs is inside of that one's kernel.
  void finish_piece(std::span<const uint32_t> values, size_t begin, size_t end) {
    std::vector<uint32_t> needed_by(end - begin);
    for (size_t i = end; i-- > begin;) {
      const uint32_t id = values[i];
      uint32_t by = kNone;
      bool one = !stored_[id], later = false;
      for (uint32_t reader : readers_[id]) {
        const bool in_run = is_op(reader) && run_of(reader) == run_of(id);
        const bool in_piece = in_run && position_[reader] < end;
        later |= in_run && !in_piece;
        if (!in_piece) one = false;
        if (!one) continue;
        const uint32_t root = needed_by[position_[reader] - begin];
        one = by == kNone || by == root;
        by = root;
      }
      one = one && by != kNone;
      needed_by[i - begin] = one ? by : id;
      if (one) {
        out_.inside.push_back(ClassId{id});
        out_.roots.push_back(ClassId{by});
      }
      if (later) out_.ends.push_back(ClassId{id});
    }
  }

  const kernel::TermGraph& graph_;
  const ChosenTerms& chosen_;
  const std::vector<bool>& needed_;
  const std::vector<bool>& stored_;
  const size_t most_ops_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> level_;  // by class
  std::vector<bool> computes_;   // by class: whether it is an op, or computed from one
  std::vector<uint32_t> run_;    // by class: its parent in a union-find of runs
  std::vector<std::vector<uint32_t>> readers_;
  std::vector<uint32_t> position_;  // by class: in its run
  std::vector<uint32_t> walked_;
  ChainPieces out_;
};

}  // namespace

ChainPieces split_long_chains(const kernel::TermGraph& graph, const ChosenTerms& chosen,
                              const std::vector<bool>& needed, const std::vector<bool>& stored,
                              size_t most_ops) {
  return Splitting(graph, chosen, needed, stored, most_ops).run();
}

}  // namespace luminal::search
