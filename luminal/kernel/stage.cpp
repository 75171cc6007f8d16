#include "luminal/kernel/stage.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "luminal/kernel/work.h"

namespace luminal::kernel {
namespace {

// Recomputing costs about a local store and load when it is this many ops.
constexpr int kWorthBuffering = 8;
constexpr int kRenamedAxis = 1 << 20;

// What one instance is up to a renaming of inner loops: instances of one form are computed once.
struct Form {
  ClassId value;
  std::vector<Expr> index;
  std::vector<int> loops;  // the inner loops it depends on, in the order they were renamed
};

class Stager {
 public:
  Stager(const TermGraph& graph, ClassId root, const Instances& instances, int n_outer,
         const StageLimits& limits)
      : graph_(graph), root_(root), in_(instances), n_outer_(n_outer), limits_(limits) {}

  Result<LoweredKernel> run() {
    const int root_reduce = at(in_.root).reduce_loop;
    if (root_reduce >= 0 && root_reduce < n_outer_) {
      return Result<LoweredKernel>::failure("a scan's own loop can't be an outer one");
    }
    for (size_t i = 0; i < in_.list.size(); ++i) forms_.push_back(form_of(in_.list[i]));
    group();
    choose_buffered();
    if (!why_.empty()) return Result<LoweredKernel>::failure(why_);
    build();
    if (!why_.empty()) return Result<LoweredKernel>::failure(why_);
    return std::move(out_);
  }

 private:
  const Instance& at(int i) const { return in_.list[static_cast<size_t>(i)]; }
  bool is_reduce(int i) const { return at(i).reduce_loop >= 0; }
  bool inner(int loop) const { return loop >= n_outer_; }

  // ---- Forms ---------------------------------------------------------------------------------

  Form form_of(const Instance& instance) const {
    // The ops of a chain have one index: what was renamed for the last holds for the next.
    if (!forms_.empty() && in_.list[forms_.size() - 1].index == instance.index) {
      return {.value = instance.value, .index = forms_.back().index, .loops = forms_.back().loops};
    }
    Form form{.value = instance.value, .index = instance.index, .loops = {}};
    for (Expr e : instance.index) {
      if (!e.uses_indices()) continue;
      for (size_t loop = static_cast<size_t>(n_outer_); loop < in_.loops.size(); ++loop) {
        const auto number = static_cast<int>(loop);
        if (!e.uses_index(number)) continue;
        const bool seen =
            std::find(form.loops.begin(), form.loops.end(), number) != form.loops.end();
        if (!seen) form.loops.push_back(number);
      }
    }
    for (size_t position = 0; position < form.loops.size(); ++position) {
      const int loop = form.loops[position];
      const Expr extent = in_.loops[static_cast<size_t>(loop)].extent;
      const Expr from = Expr::index(loop, extent);
      const Expr to = Expr::index(kRenamedAxis + static_cast<int>(position), extent);
      for (Expr& e : form.index) {
        if (e.uses_index(loop)) e = e.substitute(from, to);
      }
    }
    return form;
  }

  // group_[i]: the first instance of the same form, which stands for all of them.
  void group() {
    std::map<std::vector<uint32_t>, int> first;
    for (size_t i = 0; i < forms_.size(); ++i) {
      // An element of a scan, read along a loop, looks like the row that is computed along one.
      const uint32_t is_row = is_reduce(static_cast<int>(i)) ? 1 : 0;
      std::vector<uint32_t> key = {forms_[i].value.value, is_row};
      for (Expr e : forms_[i].index) key.push_back(e.id());
      group_.push_back(first.try_emplace(key, static_cast<int>(i)).first->second);
    }
    heads_.assign(forms_.size(), false);
    for (size_t i = 0; i < group_.size(); ++i) {
      const int g = group_[i];
      if (is_reduce(g)) heads_[static_cast<size_t>(g)] = true;
    }
    heads_[static_cast<size_t>(group_[static_cast<size_t>(in_.root)])] = true;
  }

  // ---- Buffers -------------------------------------------------------------------------------

  // The groups whose values the stage of `head` computes itself, in first-use order.
  std::vector<int> inlined_in(int head) const {
    std::vector<int> order;
    std::vector<bool> seen(group_.size(), false);
    std::vector<int> stack(at(head).operands.rbegin(), at(head).operands.rend());
    push_dynamic(head, stack);
    while (!stack.empty()) {
      const int g = group_[static_cast<size_t>(stack.back())];
      stack.pop_back();
      if (seen[static_cast<size_t>(g)] || heads_[static_cast<size_t>(g)]) continue;
      seen[static_cast<size_t>(g)] = true;
      order.push_back(g);
      const auto& operands = at(g).operands;
      stack.insert(stack.end(), operands.rbegin(), operands.rend());
      push_dynamic(g, stack);
    }
    return order;
  }

  void push_dynamic(int i, std::vector<int>& stack) const {
    for (Expr e : at(i).index) {
      for (int dynamic : dynamic_instances(e)) stack.push_back(dynamic);
    }
  }

  bool depends_on_gather(int i) const {
    std::vector<int> stack;
    push_dynamic(i, stack);
    return !stack.empty();
  }

  int cost_of(int i) const {
    if (at(i).load || at(i).operands.empty()) return 0;
    const Term& term = term_of(i);
    int cost = std::holds_alternative<OpTerm>(term) ? flops_of(std::get<OpTerm>(term).op) : 0;
    for (int operand : at(i).operands) {
      const int g = group_[static_cast<size_t>(operand)];
      if (!heads_[static_cast<size_t>(g)]) cost += cost_of(g);
      if (cost > 1000) break;
    }
    return cost;
  }

  // Values that several stages need and that are dear to compute get a stage of their own. The
  // dearest first: what is below it is then computed only there.
  void choose_buffered() {
    while (why_.empty()) {
      std::vector<int> uses(heads_.size(), 0);
      for (size_t h = 0; h < heads_.size(); ++h) {
        if (!heads_[h] || group_[h] != static_cast<int>(h)) continue;
        for (int g : inlined_in(static_cast<int>(h))) ++uses[static_cast<size_t>(g)];
      }
      int best = -1;
      int best_cost = kWorthBuffering - 1;
      for (int g = 0; g < static_cast<int>(uses.size()); ++g) {
        if (uses[static_cast<size_t>(g)] < 2 || at(g).load ||
            forms_[static_cast<size_t>(g)].loops.empty())
          continue;
        if (depends_on_gather(g)) continue;
        const int cost = cost_of(g);
        if (cost > best_cost && fits(g)) {
          best = g;
          best_cost = cost;
        }
      }
      if (best < 0) return;
      heads_[static_cast<size_t>(best)] = true;
    }
  }

  int64_t local_bytes(int head) const {
    __int128 bytes = element_bytes(graph_.at(at(head).value).dtype);
    for (int loop : forms_[static_cast<size_t>(head)].loops) {
      bytes *= std::max<int64_t>(in_.loops[static_cast<size_t>(loop)].extent.upper_bound(), 1);
      if (bytes > INT64_MAX) return INT64_MAX;
    }
    return static_cast<int64_t>(bytes);
  }

  static int64_t element_bytes(DType dtype) { return std::max(bits(dtype), 8) / 8; }

  bool fits(int head) const { return local_bytes(head) <= limits_.most_local_bytes / 2; }

  // ---- Building ------------------------------------------------------------------------------

  const Term& term_of(int i) const {
    return graph_.at(at(i).value).terms[static_cast<size_t>(at(i).term)];
  }

  void build() {
    Kernel& kernel = out_.kernel;
    kernel.loops = in_.loops;
    kernel.n_outer = n_outer_;
    const int root = group_[static_cast<size_t>(in_.root)];
    if (in_.store_at) {
      build_store_at(root);
    } else {
      build_stage(root, true);
    }
    int64_t local = 0;
    for (const auto& [head, stage] : stage_of_) {
      if (head != root) local = std::min<int64_t>(local + local_bytes(head), INT64_MAX / 2);
    }
    if (local > limits_.most_local_bytes) {
      why_ = "local buffers of " + std::to_string(local) + " bytes are over the limit of " +
             std::to_string(limits_.most_local_bytes);
    }
    finish(kernel);
    std::sort(out_.classes.begin(), out_.classes.end());
    out_.classes.erase(std::unique(out_.classes.begin(), out_.classes.end()), out_.classes.end());
  }

  // Builds what the stage reads first, then the stage; returns its number.
  int build_stage(int head, bool is_root) {
    if (auto it = stage_of_.find(head); it != stage_of_.end()) return it->second;
    Stage stage{.dtype = graph_.at(at(head).value).dtype,
                .loops = sorted_loops(head),
                .reduction = std::nullopt,
                .body = {},
                .result = {},
                .target = LocalTarget{}};
    // A root that is itself a reduction reduces into a scalar first when it loops inside.
    Body body{*this, stage, {}};
    if (is_reduce(head)) {
      stage.reduction = reduction_of(head);
      std::erase(stage.loops, stage.reduction->loop);
      stage.result = body.value(at(head).operands[0]);
    } else {
      stage.result = body.compute(head);
    }
    out_.classes.push_back(at(head).value);
    if (is_root) {
      const TermClass& root = graph_.at(root_);
      stage.loops.clear();
      for (int loop = n_outer_; loop < in_.n_root_loops; ++loop) {
        if (loop != at(head).reduce_loop) stage.loops.push_back(loop);
      }
      stage.target = OutputTarget{static_cast<int>(out_.kernel.params.size()), in_.root_index};
      out_.kernel.params.push_back({root.dtype, root.dims, true});
      out_.origins.push_back({-1, root_});
    }
    const auto number = static_cast<int>(out_.kernel.stages.size());
    out_.kernel.stages.push_back(std::move(stage));
    stage_of_[head] = number;
    return number;
  }

  Reduction reduction_of(int head) const {
    const Term& term = term_of(head);
    const int loop = at(head).reduce_loop;
    if (const auto* scan = std::get_if<ScanTerm>(&term)) return {scan->reducer, loop, true};
    return {std::get<ReduceTerm>(term).reducer, loop};
  }

  // Two stages: dest fills the output, then rows of it are updated in the order of the index.
  void build_store_at(int root) {
    const TermClass& value = graph_.at(root_);
    std::vector<int> inner;
    for (int loop = n_outer_; loop < in_.n_root_loops; ++loop) inner.push_back(loop);
    auto stage_over = [&](std::vector<int> loops) {
      loops.insert(loops.end(), inner.begin(), inner.end());
      return Stage{.dtype = value.dtype,
                   .loops = std::move(loops),
                   .reduction = std::nullopt,
                   .body = {},
                   .result = {},
                   .target = LocalTarget{}};
    };
    Stage fill = stage_over({in_.store_at->rows});
    fill.result = Body{*this, fill, {}}.value(at(root).operands[0]);
    Stage update = stage_over(in_.store_at->index);
    Body body{*this, update, {}};
    const InstId row = body.value(at(root).operands[1]);
    update.result = body.value(at(root).operands[2]);
    const auto output = static_cast<int>(out_.kernel.params.size());
    fill.target = OutputTarget{output, in_.root_index};
    update.target = UpdateTarget{output,
                                 row,
                                 {in_.root_index.begin() + 1, in_.root_index.end()},
                                 std::get<StoreAtTerm>(term_of(root)).combine};
    out_.kernel.stages.push_back(std::move(fill));
    out_.kernel.stages.push_back(std::move(update));
    out_.kernel.params.push_back({value.dtype, value.dims, true, shared_input(root)});
    out_.origins.push_back({-1, root_});
    out_.classes.push_back(root_);
  }

  // The input that only fills the output of a StoreAt, element by element; −1: there is none.
  int shared_input(int root) {
    const Instance& dest = at(at(root).operands[0]);
    if (!dest.load || dest.index != in_.root_index) return -1;
    const int param = param_of(dest);
    if (!same_dims(out_.kernel.params[static_cast<size_t>(param)].dims, graph_.at(root_).dims)) {
      return -1;
    }
    int loads = 0;
    for (const Stage& stage : out_.kernel.stages) {
      for (const Inst& inst : stage.body) {
        const auto* load = std::get_if<LoadInst>(&inst.what);
        loads += load != nullptr && load->param == param;
      }
    }
    return loads == 1 ? param : -1;
  }

  std::vector<int> sorted_loops(int head) const {
    std::vector<int> loops = forms_[static_cast<size_t>(head)].loops;
    std::sort(loops.begin(), loops.end());
    return loops;
  }

  int param_of(const Instance& instance) {
    const auto key =
        std::make_pair(instance.source, instance.source < 0 ? instance.value.value : 0u);
    auto [it, added] = params_.try_emplace(key, static_cast<int>(out_.kernel.params.size()));
    if (added) {
      if (instance.source >= 0) {
        const Source& source = graph_.sources[static_cast<size_t>(instance.source)];
        out_.kernel.params.push_back({source.dtype, source.dims, false});
      } else {
        const TermClass& value = graph_.at(instance.value);
        out_.kernel.params.push_back({value.dtype, value.dims, false});
      }
      out_.origins.push_back({instance.source, instance.value});
    }
    return it->second;
  }

  // The instructions of one stage; every instance becomes one at most once.
  struct Body {
    Stager& stager;
    Stage& stage;
    std::unordered_map<int, InstId> done;

    InstId add(DType dtype, decltype(Inst::what) what) {
      stage.body.push_back({dtype, std::move(what)});
      return InstId{static_cast<uint32_t>(stage.body.size() - 1)};
    }

    // The value of instance i: of another stage, or computed here.
    InstId value(int i) {
      if (auto it = done.find(i); it != done.end()) return it->second;
      const int g = stager.group_[static_cast<size_t>(i)];
      const bool stored = stager.heads_[static_cast<size_t>(g)];
      const InstId id = stored ? local(i, g, std::nullopt) : compute(i);
      done[i] = id;
      return id;
    }

    // With `element`, that one of a scan's row instead of the one where its loop stands.
    InstId local(int i, int g, std::optional<Expr> element) {
      const int number = stager.build_stage(g, false);
      // The loops of the buffer, in its order, as this use names them.
      const std::vector<int>& renamed = stager.forms_[static_cast<size_t>(g)].loops;
      const std::vector<int>& used = stager.forms_[static_cast<size_t>(i)].loops;
      std::vector<Expr> index;
      for (int loop : stager.sorted_loops(g)) {
        const auto position =
            static_cast<size_t>(std::find(renamed.begin(), renamed.end(), loop) - renamed.begin());
        const int mine = used[position];
        const bool along_row = element && loop == stager.at(g).reduce_loop;
        index.push_back(
            along_row ? *element
                      : Expr::index(mine, stager.in_.loops[static_cast<size_t>(mine)].extent));
      }
      return add(stager.graph_.at(stager.at(i).value).dtype, LocalInst{number, std::move(index)});
    }

    InstId compute(int i) {
      const Instance& instance = stager.at(i);
      const DType dtype = stager.graph_.at(instance.value).dtype;
      if (instance.load) {
        LoadInst load{.param = stager.param_of(instance), .index = {}};
        for (Expr e : instance.index) load.index.push_back(index_of(e));
        return add(dtype, std::move(load));
      }
      stager.out_.classes.push_back(instance.value);
      const Term& term = stager.term_of(i);
      if (const auto* constant = std::get_if<ConstTerm>(&term)) {
        return add(dtype, ConstInst{constant->real, constant->integer});
      }
      if (const auto* iota = std::get_if<IotaTerm>(&term)) {
        const Expr expr = iota->expr.substitute_indices(instance.index);
        if (dynamic_instances(expr).empty()) return add(dtype, IotaInst{expr});
        return add(dtype, OpInst{Op::Cast, {arithmetic(expr)}});
      }
      if (std::holds_alternative<GatherTerm>(term)) return value(instance.operands[0]);
      if (std::holds_alternative<ScanTerm>(term)) return scanned(instance);
      std::vector<InstId> operands;
      for (int operand : instance.operands) operands.push_back(value(operand));
      return add(dtype, OpInst{std::get<OpTerm>(term).op, std::move(operands)});
    }

    // An element of a scan's row; a row of one is its operand.
    InstId scanned(const Instance& instance) {
      const int row = instance.operands[0];
      if (stager.at(row).value != instance.value) return value(row);
      return local(row, stager.group_[static_cast<size_t>(row)], instance.index.back());
    }

    Index index_of(Expr e) {
      const std::vector<int> dynamic = dynamic_instances(e);
      if (dynamic.empty()) return {.expr = e, .value = std::nullopt};
      return {.expr = 0, .value = arithmetic(e)};
    }

    // An expression with gathered parts as integer instructions. Indices are never negative, so
    // that division toward zero is floor division.
    InstId arithmetic(Expr e) {
      if (dynamic_instances(e).empty()) return add(DType::I64, IotaInst{e});
      if (e.kind() == ExprKind::Index) {
        const InstId row = value(e.axis() - kDynamicAxis);
        if (stage.body[row.index()].dtype == DType::I64) return row;
        return add(DType::I64, OpInst{Op::Cast, {row}});
      }
      if (e.kind() == ExprKind::Sum) return sum(e);
      InstId left = arithmetic(e.operands()[0]);
      for (size_t k = 1; k < e.operands().size(); ++k) {
        const InstId right = arithmetic(e.operands()[k]);
        if (e.kind() == ExprKind::Product) {
          left = add(DType::I64, OpInst{Op::Mul, {left, right}});
        } else if (e.kind() == ExprKind::FloorDiv) {
          left = add(DType::I64, OpInst{Op::IntDiv, {left, right}});
        } else if (e.kind() == ExprKind::Mod) {
          left = add(DType::I64, OpInst{Op::Mod, {left, right}});
        } else {
          stager.why_ = "a gathered index inside " + e.text() + " can't be followed";
        }
      }
      return left;
    }

    InstId sum(Expr e) {
      InstId total = add(DType::I64, ConstInst{0, e.constant_term()});
      for (size_t k = 0; k < e.operands().size(); ++k) {
        InstId term = arithmetic(e.operands()[k]);
        if (e.coefficients()[k] != 1) {
          const InstId by = add(DType::I64, ConstInst{0, e.coefficients()[k]});
          term = add(DType::I64, OpInst{Op::Mul, {term, by}});
        }
        total = add(DType::I64, OpInst{Op::Add, {total, term}});
      }
      return total;
    }
  };

  const TermGraph& graph_;
  const ClassId root_;
  const Instances& in_;
  const int n_outer_;
  const StageLimits limits_;
  std::vector<Form> forms_;
  std::vector<int> group_;
  std::vector<bool> heads_;  // by group: it has a stage of its own
  std::map<int, int> stage_of_;
  std::map<std::pair<int, uint32_t>, int> params_;
  LoweredKernel out_;
  std::string why_;
};

}  // namespace

int flops_of(Op op) {
  switch (op) {
    case Op::Exp2:
    case Op::Log2:
    case Op::Sin:
      return 8;
    case Op::Recip:
    case Op::Sqrt:
    case Op::Mod:
    case Op::IntDiv:
      return 4;
    case Op::Input:
    case Op::Constant:
    case Op::Iota:
    case Op::Bitcast:
    case Op::View:
    case Op::Gather:
      return 0;
    case Op::Cast:
    case Op::Add:
    case Op::Mul:
    case Op::BitAnd:
    case Op::LessThan:
    case Op::Equal:
    case Op::Select:
    case Op::Reduce:
    case Op::Scan:
    case Op::Scatter:
    case Op::Custom:
      return 1;
  }
  return 1;
}

std::vector<ClassId> stored_by(const LoweredKernel& lowered) {
  std::vector<ClassId> classes;
  for (size_t k = 0; k < lowered.origins.size(); ++k) {
    if (lowered.kernel.params[k].output) classes.push_back(lowered.origins[k].value);
  }
  return classes;
}

Result<LoweredKernel> stage(const TermGraph& graph, ClassId root, const Instances& instances,
                            int n_outer, const StageLimits& limits) {
  return Stager(graph, root, instances, n_outer, limits).run();
}

}  // namespace luminal::kernel
