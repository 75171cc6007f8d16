// Instances: a class at an index. Walking down from a kernel's root with index expressions gives
// all the values one launch needs; a view costs nothing here, it only changes the index.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "luminal/base/result.h"
#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/lower/term_graph.h"

namespace luminal::kernel {

// What search decides, by class: whether it is stored in memory, and which term computes it.
struct Choice {
  std::vector<bool> cut;
  std::vector<int> term;
};

struct Instance {
  ClassId value;
  int term = 0;                  // of the class: the one that computes it
  std::vector<Expr> index = {};  // over loops; a gathered one is dynamic_index()
  bool load = false;             // read from memory: a source, or a cut class
  int source = -1;               // of a load: the source; -1 means the cut class `value`
  // Instances: of a Reduce its body; of a Gather its data; of a StoreAt dest, index and values. A
  // Scan is two: one computes a whole row along its loop from its body, the other reads an element.
  std::vector<int> operands = {};
  int reduce_loop = -1;  // of a Reduce, and of a Scan's row
};

// An index whose value another instance computes: an Index node past all loops.
constexpr int kDynamicAxis = 1 << 16;
inline Expr dynamic_index(int instance, Expr extent) {
  return Expr::index(kDynamicAxis + instance, extent);
}
// The instances that an expression takes its value from.
std::vector<int> dynamic_instances(Expr expr);

// Where a StoreAt root runs: over the rows of dest to copy them, over the index to update them.
struct StoreAtLoops {
  int rows;
  std::vector<int> index;
};

struct Instances {
  // The root's, one or more per dim, then one per Reduce and Scan's row. The root's loops are what
  // may run outside; those of a StoreAt are its dims after the first.
  std::vector<Loop> loops;
  int n_root_loops = 0;
  std::vector<Expr> root_index;  // of the root's dims, over its loops
  std::optional<StoreAtLoops> store_at;
  std::vector<Instance> list;
  int root = 0;
};

struct WalkLimits {
  int most_instances = 600;
};

// The instances under `root`, with each of its dims as one loop, or as `factors[d]` loops, nested
// as `order` lists the dims, or as they are. Failure is a reason to cut: too many instances, or an
// index that can't be followed.
Result<Instances> walk(const TermGraph& graph, const Choice& choice, ClassId root,
                       const std::vector<std::vector<Expr>>& factors, const WalkLimits& limits = {},
                       const std::vector<int>& order = {});

// The order of the root's dims that lets a scan under it run along the last one; empty: their own.
// `instances` are those of a walk in their own order.
std::vector<int> loop_order(const TermGraph& graph, const Instances& instances, ClassId root);

// How to split the root's dims into loops so that divisions and remainders in index expressions
// vanish: one factor list per dim, a single one where nothing is gained.
std::vector<std::vector<Expr>> refine(const TermGraph& graph, const Instances& instances,
                                      ClassId root);

}  // namespace luminal::kernel
