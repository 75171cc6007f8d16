#include "luminal/backends/cpu/schedule/shared_rows.h"

#include <algorithm>

#include "luminal/backends/cpu/schedule/lane_pattern.h"
#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::backends::cpu {
namespace {

using kernel::InstId;
using kernel::InstUses;
using kernel::OpInst;
using kernel::Stage;

// The sums of all rows must fit in registers.
constexpr int64_t kMostRows = 8;
// Limit of vectors along k, so that the left factor of all rows stays in the L1 cache.
constexpr int64_t kMostVectors = 16;

struct Factors {
  InstId left, right;
};

// Whether all loads are contiguous along a loop, so that a vector is one load.
bool is_contiguous(const ScheduledStage& stage, const kernel::Kernel& kernel, InstId id,
                   kernel::LoopId loop) {
  const std::vector<bool> needed = kernel::needed_for(*stage.source, id);
  for (size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k]) continue;
    if (!stage.access[k].gathered.empty()) return false;
    const auto* load = std::get_if<kernel::LoadInst>(&stage.source->body[k].what);
    if (load != nullptr && bits(kernel.params[load->param].dtype) < 8) {
      return false;
    }
    const Expr address = stage.access[k].address;
    if (!uses_loop(address, loop)) continue;
    const LanePattern pattern = lane_pattern(address, loop, 1);
    if (pattern.kind == LaneKind::General || !pattern.stride.is(1)) return false;
  }
  return true;
}

std::optional<Factors> factors_of(const Schedule& schedule, const ScheduledStage& stage) {
  const Stage& source = *stage.source;
  const auto& reduction = source.reduction;
  if (!reduction || reduction->running || reduction->reducer != Reducer::Sum) return {};
  if (source.dtype != DType::F32 || source.loops.empty()) return {};
  const kernel::Inst& result = source.body[source.result.index()];
  const auto* op = std::get_if<OpInst>(&result.what);
  if (op == nullptr || op->op != Op::Mul || result.dtype != DType::F32) return {};
  Factors factors{op->operands[0], op->operands[1]};
  const kernel::LoopId column = source.loops.back();
  InstUses left = kernel::uses_of(*schedule.kernel, source, factors.left);
  InstUses right = kernel::uses_of(*schedule.kernel, source, factors.right);
  if (left.loops.contains(column)) {
    std::swap(left, right);
    std::swap(factors.left, factors.right);
  }
  if (left.loops.contains(column) || !right.loops.contains(column) || !right.loads) return {};
  if (!right.loops.contains(reduction->loop) || !left.loops.contains(reduction->loop)) return {};
  int64_t rows = 1;
  for (size_t k = 0; k + 1 < source.loops.size(); ++k) {
    const auto extent = schedule.extents[source.loops[k]].to_int();
    if (!extent || right.loops.contains(source.loops[k])) return {};
    rows *= *extent;
  }
  if (rows < 1 || rows > kMostRows) return {};
  return factors;
}

}  // namespace

void find_shared_rows(Schedule& schedule, const Target& target, const EmitOptions& options) {
  const bool wanted = options.choices.get(kernel::Knob::SharedRows, 1) != 0;
  if (schedule.vector_outer || !options.contract || !wanted) return;
  const int lanes = target.vector_bytes / 4;
  for (kernel::StageId s : schedule.stages.ids()) {  // without those that are added here
    const ScheduledStage stage = schedule.stages[s];
    const auto factors = factors_of(schedule, stage);
    if (!factors) continue;
    const Stage& source = *stage.source;
    SharedRows shared{.stage = s,
                      .rows = {source.loops.begin(), source.loops.end() - 1},
                      .column = source.loops.back(),
                      .k = source.reduction->loop,
                      .lanes_along_k = stage.vector_loop == source.reduction->loop};
    if (!shared.lanes_along_k && stage.vector_loop != shared.column) continue;
    const kernel::LoopId along = stage.vector_loop;
    const auto length = schedule.extents[along].to_int();
    if (stage.lanes != lanes || !length || *length % lanes != 0 || *length == 0) continue;
    if (!is_contiguous(stage, *schedule.kernel, factors->right, along)) continue;
    if (shared.lanes_along_k) {
      // Sums of several columns (keys) are written as one contiguous vector.
      const bool local = std::holds_alternative<kernel::LocalTarget>(source.target);
      if (!local || *length / lanes > kMostVectors) continue;
    }
    auto add = [&](InstId factor) {
      schedule.factors.push_back(
          std::make_shared<const Stage>(kernel::factor_stage(source, factor)));
      ScheduledStage made = flatten(*schedule.kernel, *schedule.factors.back());
      made.vector_loop = along;
      made.lanes = lanes;
      return schedule.stages.push_back(std::move(made));
    };
    shared.left = add(factors->left);
    shared.right = add(factors->right);
    schedule.shared_rows.push_back(std::move(shared));
  }
}

}  // namespace luminal::backends::cpu
