// Instances: the values that one launch needs, each a class at an index. Lowering walks down from a
// kernel's root with index expressions; a view becomes no instance, it only changes the index. For
// example c = transpose(a) + expand(sum(b)), with root loops i0 and i1:
//
//   0: c   at [i0, i1]   Add of instances 1 and 2
//   1: a   at [i1, i0]   load; the transpose has permuted the index
//   2: sum at [i0]       the expand has dropped i1; the Reduce adds loop i2
//   3: b   at [i0, i2]   load
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "luminal/base/result.h"
#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/lower/term_graph.h"

namespace luminal::kernel {

// A kernel, by what it stores, and a value that it needs.
struct Use {
  ClassId root;
  ClassId value;
  friend auto operator<=>(const Use&, const Use&) = default;
};

// What search decides, by class: whether it is cut (materialised in memory), and which term
// computes it. A kernel may compute a cut value again instead of reading it.
struct Choice {
  std::vector<bool> cut;
  std::vector<int> term;
  std::set<Use> again = {};

  // Whether the kernel that stores `root` reads a value from memory.
  bool reads(ClassId root, ClassId value) const {
    if (!cut[value.index()] || value == root) return false;
    return again.empty() || !again.contains({root, value});
  }
};

struct InstanceTag;
using InstanceId = Id<InstanceTag>;  // a position in Instances::list

struct Instance {
  ClassId value;
  int term = 0;                  // of the class: the one that computes it
  std::vector<Expr> index = {};  // over loops; a gathered one is dynamic_index()
  bool load = false;             // read from memory: a source, or a cut class
  SourceId source = {};          // of a load: the source; without one, the cut class `value`
  // Instances: of a Reduce its body; of a Gather its data; of a StoreAt dest, index and values. A
  // Scan is two: one computes a whole row along its loop from its body, the other reads an element.
  std::vector<InstanceId> operands = {};
  LoopId reduce_loop = {};  // of a Reduce, and of a Scan's row
};

// A data-dependent index, computed by another instance: an Index node numbered past all loops.
constexpr int kDynamicAxis = 1 << 16;
inline Expr dynamic_index(InstanceId instance, Expr extent) {
  return Expr::index(kDynamicAxis + static_cast<int>(instance.value), extent);
}
// The instance behind an Index node that dynamic_index() made.
inline InstanceId dynamic_instance(Expr index) {
  return InstanceId::at(index.axis() - kDynamicAxis);
}
// The instances whose values an expression uses as indices.
std::vector<InstanceId> dynamic_instances(Expr expr);

// The loops of a StoreAt root: over the rows of dest, to copy them; over the index, to update them.
struct StoreAtLoops {
  LoopId rows;
  std::vector<LoopId> index;
};

struct Instances {
  // The root's loops, one or more per dim, then one per Reduce and per row of a Scan. Only the
  // root's loops may become outer loops; a StoreAt has one per dim after the first.
  IdVector<LoopId, Loop> loops;
  int n_root_loops = 0;
  std::vector<Expr> root_index;  // of the root's dims, over its loops
  std::optional<StoreAtLoops> store_at;
  IdVector<InstanceId, Instance> list;
  InstanceId root{0};
};

struct WalkLimits {
  int most_instances = 600;
};

// The instances under `root`. Its dim d becomes one loop per factor in `factors[d]`; the dims are
// nested as `order` lists them, or in their own order if it is empty. A failure is a reason to cut:
// too many instances, or an index that can't be followed.
Result<Instances> walk(const TermGraph& graph, const Choice& choice, ClassId root,
                       const std::vector<std::vector<Expr>>& factors, const WalkLimits& limits = {},
                       const std::vector<int>& order = {});

// The order of the root's dims in which a scan under it runs along the last one; empty if their own
// order will do. `instances` come from a walk in their own order.
std::vector<int> loop_order(const TermGraph& graph, const Instances& instances, ClassId root);

// How to split the root's dims into loops so that divisions and remainders vanish from index
// expressions: the factors of each dim, a single one where nothing is gained.
std::vector<std::vector<Expr>> refine(const TermGraph& graph, const Instances& instances,
                                      ClassId root);

}  // namespace luminal::kernel
