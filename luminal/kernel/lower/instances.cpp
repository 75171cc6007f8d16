#include "luminal/kernel/lower/instances.h"

#include <algorithm>
#include <numeric>

#include "luminal/base/hash.h"

namespace luminal::kernel {
namespace {

struct Key {
  ClassId value;
  std::vector<Expr> index;
  friend bool operator==(const Key&, const Key&) = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = key.value.value;
    for (Expr e : key.index) hash = base::combine(hash, e.id());
    return hash;
  }
};

// Placeholder for a scan's own loop in the key of a scan's row.
constexpr int kScanAxis = 1 << 18;

class Walker {
 public:
  Walker(const TermGraph& graph, const Choice& choice, ClassId root, const WalkLimits& limits)
      : graph_(graph), choice_(choice), root_(root), limits_(limits) {}

  Result<Instances> run(const std::vector<std::vector<Expr>>& factors,
                        const std::vector<int>& order) {
    const Dims& dims = graph_.at(root_).dims;
    if (const auto* store_at = std::get_if<StoreAtTerm>(&term_of(root_))) {
      visit_store_at(*store_at);
    } else {
      out_.root_index.resize(dims.size());
      for (size_t k = 0; k < dims.size(); ++k) {
        const size_t d = order.empty() ? k : static_cast<size_t>(order[k]);
        out_.root_index[d] = add_root_loops(factors[d]);
      }
      out_.n_root_loops = static_cast<int>(out_.loops.size());
      out_.root = visit(root_, out_.root_index);
    }
    if (!why_.empty()) return Result<Instances>::failure(why_);
    return std::move(out_);
  }

 private:
  // One loop per factor; the dim's index is their row-major combination.
  Expr add_root_loops(const std::vector<Expr>& factors) {
    Expr index = 0;
    for (Expr factor : factors) {
      const LoopId loop = add_loop(factor);
      index = index * factor + index_of(loop, factor);
    }
    return index;
  }

  LoopId add_loop(Expr extent) { return out_.loops.push_back({extent}); }

  const Term& term_of(ClassId id) const {
    return graph_.at(id).terms[static_cast<size_t>(choice_.term[id.index()])];
  }

  InstanceId fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return InstanceId{0};
  }

  InstanceId visit(ClassId id, const std::vector<Expr>& index) {
    if (!why_.empty()) return InstanceId{0};
    const Term& term = term_of(id);
    const bool in_memory = choice_.reads(root_, id);
    if (const auto* reindex = std::get_if<ReindexTerm>(&term); reindex && !in_memory) {
      std::vector<Expr> below;
      for (Expr e : reindex->map.exprs()) below.push_back(e.substitute_indices(index));
      return visit(reindex->operand, below);
    }
    auto [it, added] = seen_.try_emplace(Key{id, index}, out_.list.next());
    const InstanceId at = it->second;
    if (!added) return at;
    if (at.index() >= static_cast<size_t>(limits_.most_instances))
      return fail("too many instances");
    out_.list.push_back({.value = id, .term = choice_.term[id.index()], .index = index});
    if (in_memory) {
      out_.list.back().load = true;
      return at;
    }
    if (const auto* load = std::get_if<LoadTerm>(&term)) {
      out_.list.back().load = true;
      out_.list.back().source = load->source;
    } else if (const auto* reduce = std::get_if<ReduceTerm>(&term)) {
      visit_reduce(at, *reduce, index);
    } else if (const auto* scan = std::get_if<ScanTerm>(&term)) {
      visit_scan(at, *scan, index);
    } else if (const auto* gather = std::get_if<GatherTerm>(&term)) {
      visit_gather(at, *gather, index);
    } else if (std::holds_alternative<StoreAtTerm>(term)) {
      fail("a scatter must be stored");
    } else if (const auto* op = std::get_if<OpTerm>(&term)) {
      std::vector<InstanceId> operands;
      for (ClassId operand : op->operands) operands.push_back(visit(operand, index));
      out_.list[at].operands = std::move(operands);
    }
    return at;
  }

  bool is_gathered(const std::vector<Expr>& index, const char* what) {
    for (Expr e : index) {
      if (dynamic_instances(e).empty()) continue;
      fail(std::string(what) + " under a gathered index must be stored");
      return true;
    }
    return false;
  }

  void visit_reduce(InstanceId at, const ReduceTerm& reduce, std::vector<Expr> index) {
    if (is_gathered(index, "a reduction")) return;
    const Expr extent = graph_.at(reduce.operand).dims.back();
    const LoopId loop = add_loop(extent);
    out_.list[at].reduce_loop = loop;
    index.push_back(index_of(loop, extent));
    const InstanceId body = visit(reduce.operand, index);
    out_.list[at].operands = {body};
  }

  LoopId last_root_loop() const { return LoopId::at(out_.n_root_loops - 1); }

  bool runs_along_last_root_loop(const std::vector<Expr>& index, Expr extent) const {
    if (out_.n_root_loops == 0 || index.back() != index_of(last_root_loop(), extent)) return false;
    return std::none_of(index.begin(), index.end() - 1,
                        [&](Expr e) { return uses_loop(e, last_root_loop()); });
  }

  // A scan at the root, or under nothing but views, runs along the root's last loop. Any other scan
  // computes a whole row along a loop of its own, whichever elements are read; all reads of a row
  // share it.
  void visit_scan(InstanceId at, const ScanTerm& scan, std::vector<Expr> index) {
    const Expr extent = graph_.at(scan.operand).dims.back();
    // A row of at most one element is its operand. It must not become a row instance: an index
    // below 1 simplifies to 0, so row and element would have the same form and each would be
    // computed from the other.
    if (extent.upper_bound() <= 1) {
      const InstanceId element = visit(scan.operand, index);
      out_.list[at].operands = {element};
      return;
    }
    const ClassId id = out_.list[at].value;
    if (at == InstanceId{0} && runs_along_last_root_loop(index, extent)) {
      out_.list[at].reduce_loop = last_root_loop();
      const InstanceId body = visit(scan.operand, index);
      out_.list[at].operands = {body};
      return;
    }
    if (is_gathered(index, "a scan")) return;
    index.back() = Expr::index(kScanAxis, extent);
    auto [it, added] = seen_.try_emplace(Key{id, index}, out_.list.next());
    const InstanceId row = it->second;
    out_.list[at].operands = {row};
    if (!added) return;
    const LoopId loop = add_loop(extent);
    index.back() = index_of(loop, extent);
    out_.list.push_back(
        {.value = id, .term = choice_.term[id.index()], .index = index, .reduce_loop = loop});
    const InstanceId body = visit(scan.operand, index);
    out_.list[row].operands = {body};
  }

  void visit_store_at(const StoreAtTerm& term) {
    const Dims& dims = graph_.at(root_).dims;
    std::vector<Expr> rest, index_index;
    for (size_t d = 1; d < dims.size(); ++d) rest.push_back(index_of(add_loop(dims[d]), dims[d]));
    out_.n_root_loops = static_cast<int>(out_.loops.size());
    StoreAtLoops& loops = out_.store_at.emplace(StoreAtLoops{add_loop(dims[0]), {}});
    out_.root_index = {index_of(loops.rows, dims[0])};
    out_.root_index.insert(out_.root_index.end(), rest.begin(), rest.end());
    for (Expr dim : graph_.at(term.index).dims) {
      loops.index.push_back(add_loop(dim));
      index_index.push_back(index_of(loops.index.back(), dim));
    }
    std::vector<Expr> values_index = index_index;
    values_index.insert(values_index.end(), rest.begin(), rest.end());
    out_.list.push_back(
        {.value = root_, .term = choice_.term[root_.index()], .index = out_.root_index});
    const InstanceId dest = visit(term.dest, out_.root_index);
    const InstanceId row = visit(term.index, index_index);
    const InstanceId values = visit(term.values, values_index);
    out_.list[InstanceId{0}].operands = {dest, row, values};
  }

  // A gather becomes the instance of its data, at an index that another instance computes.
  void visit_gather(InstanceId at, const GatherTerm& gather, const std::vector<Expr>& index) {
    const size_t rank = graph_.at(gather.index).dims.size();
    const std::vector<Expr> index_index(index.begin(), index.begin() + static_cast<long>(rank));
    const InstanceId row = visit(gather.index, index_index);
    const Expr rows = graph_.at(gather.data).dims.front();
    std::vector<Expr> data_index = {rows.is(1) ? Expr(0) : dynamic_index(row, rows)};
    data_index.insert(data_index.end(), index.begin() + static_cast<long>(rank), index.end());
    const InstanceId data = visit(gather.data, data_index);
    out_.list[at].operands = {data};
  }

  const TermGraph& graph_;
  const Choice& choice_;
  const ClassId root_;
  const WalkLimits limits_;
  Instances out_;
  std::unordered_map<Key, InstanceId, KeyHash> seen_;
  std::string why_;
};

void collect_dynamic(Expr expr, std::vector<InstanceId>& out) {
  if (expr.kind() == ExprKind::Index) {
    if (expr.axis() >= kDynamicAxis) out.push_back(dynamic_instance(expr));
    return;
  }
  for (Expr operand : expr.operands()) collect_dynamic(operand, out);
}

// Finds divisions and remainders of (loop + constant) by a constant; collects, by loop, the gcd of
// those divisors and constants.
void collect_divisors(Expr expr, std::vector<int64_t>& gcds, size_t n_root_loops) {
  if (expr.kind() == ExprKind::Index) return;
  if (expr.kind() == ExprKind::FloorDiv || expr.kind() == ExprKind::Mod) {
    const Expr top = expr.operands()[0];
    const std::optional<int64_t> by = expr.operands()[1].to_int();
    Expr loop = top;
    int64_t shift = 0;
    if (top.kind() == ExprKind::Sum && top.operands().size() == 1 && top.coefficients()[0] == 1) {
      loop = top.operands()[0];
      shift = top.constant_term();
    }
    if (by && loop.kind() == ExprKind::Index && static_cast<size_t>(loop.axis()) < n_root_loops) {
      int64_t& gcd = gcds[static_cast<size_t>(loop.axis())];
      gcd = std::gcd(gcd, std::gcd(*by, shift));
    }
  }
  for (Expr operand : expr.operands()) collect_divisors(operand, gcds, n_root_loops);
}

}  // namespace

std::vector<InstanceId> dynamic_instances(Expr expr) {
  std::vector<InstanceId> out;
  collect_dynamic(expr, out);
  return out;
}

Result<Instances> walk(const TermGraph& graph, const Choice& choice, ClassId root,
                       const std::vector<std::vector<Expr>>& factors, const WalkLimits& limits,
                       const std::vector<int>& order) {
  return Walker(graph, choice, root, limits).run(factors, order);
}

std::vector<int> loop_order(const TermGraph& graph, const Instances& instances, ClassId root) {
  if (instances.store_at) return {};
  const auto rank = static_cast<int>(graph.at(root).dims.size());
  for (const Instance& instance : instances.list) {
    const Term& term = graph.at(instance.value).terms[static_cast<size_t>(instance.term)];
    if (instance.load || !std::holds_alternative<ScanTerm>(term)) continue;
    const Expr along = instance.index.back();
    if (along.kind() != ExprKind::Index || along.axis() >= rank - 1) continue;
    std::vector<int> order;
    for (int d = 0; d < rank; ++d) {
      if (d != along.axis()) order.push_back(d);
    }
    order.push_back(along.axis());
    return order;
  }
  return {};
}

std::vector<std::vector<Expr>> refine(const TermGraph& graph, const Instances& instances,
                                      ClassId root) {
  const Dims& dims = graph.at(root).dims;
  std::vector<int64_t> gcds(dims.size(), 0);
  // The loops of a scatter aren't its dims: nothing to split.
  for (const Instance& instance : instances.list) {
    if (instances.store_at) break;
    for (Expr e : instance.index) collect_divisors(e, gcds, dims.size());
  }
  // A scan's loop runs in order, so it isn't split.
  const LoopId scan_loop = instances.list[instances.root].reduce_loop;
  if (scan_loop.index() < static_cast<size_t>(instances.n_root_loops)) gcds.back() = 0;
  std::vector<std::vector<Expr>> factors;
  for (size_t d = 0; d < dims.size(); ++d) {
    const std::optional<int64_t> size = dims[d].to_int();
    const int64_t by = gcds[d];
    const bool splits = size && by > 1 && by < *size && *size % by == 0;
    if (splits) {
      factors.push_back({*size / by, by});
    } else {
      factors.push_back({dims[d]});
    }
  }
  return factors;
}

}  // namespace luminal::kernel
