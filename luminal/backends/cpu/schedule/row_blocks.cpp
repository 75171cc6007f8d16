#include "luminal/backends/cpu/schedule/row_blocks.h"

#include <algorithm>

#include "luminal/backends/cpu/schedule/lane_pattern.h"
#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::backends::cpu {
namespace {

using kernel::InstId;
using kernel::Kernel;
using kernel::LocalInst;
using kernel::LoopId;
using kernel::OpInst;
using kernel::RowContraction;
using kernel::Stage;
using kernel::StageId;

// Block size along k, so that the operands of one block stay in the L1 or L2 cache.
constexpr int64_t kRowBlockK = 256;
// Rows of a block, at least: by vectors, and by tiles (AMX), whose shape fixes it.
constexpr int64_t kVectorBlockRows = 24;
constexpr int64_t kTileBlockRows = 32;
// An f32 is exactly the sum of three bf16, except for subnormals. With two the relative error is
// 2^-16, negligible compared to rounding the result to 16 bits.
constexpr int kBf16PartsOfF32 = 3;
constexpr int kBf16PartsForHalves = 2;

// ---- Splitting contractions from their epilogues

// Hoists loop-invariant scales out of a sum: Σ (p · scale) · v = scale · Σ p · v, so that p can be
// read in place. Returns p, and appends the scale to `scales`.
InstId without_scales(const Kernel& kernel, const Stage& stage, InstId left, LoopId k,
                      std::vector<InstId>& scales) {
  while (true) {
    const auto* op = std::get_if<OpInst>(&stage.body[left.index()].what);
    if (op == nullptr || op->op != Op::Mul) return left;
    auto varies = [&](InstId id) { return kernel::uses_of(kernel, stage, id).loops.contains(k); };
    const InstId a = op->operands[0], b = op->operands[1];
    if (varies(a) == varies(b)) return left;
    scales.push_back(varies(a) ? b : a);
    left = varies(a) ? a : b;
  }
}

InstId append(Stage& stage, kernel::Inst inst) {
  stage.body.push_back(std::move(inst));
  return InstId::at(stage.body.size() - 1);
}

InstId append_product(Stage& stage, InstId a, InstId b) {
  return append(stage, {.dtype = DType::F32, .what = OpInst{.op = Op::Mul, .operands = {a, b}}});
}

// Moves the contraction to a new stage that only stores its sums to a buffer. The original stage
// becomes the epilogue, which reads the sums, scales them and stores to the original target.
void split(Kernel& kernel, const RowContraction& contraction, bool scales_apart,
           BlockedContraction& blocked) {
  const Stage stage = kernel.stages[contraction.stage];
  std::vector<InstId> scales;
  InstId left = contraction.left;
  if (scales_apart) left = without_scales(kernel, stage, left, contraction.k, scales);
  if (!scales.empty() || !std::holds_alternative<kernel::LocalTarget>(stage.target)) {
    Stage sums = stage;
    if (!scales.empty()) sums.result = append_product(sums, left, contraction.right);
    sums.target = kernel::LocalTarget{};
    blocked.stage = kernel.stages.push_back(sums);

    Stage rest = stage;  // factor_stage removes dead instructions
    const LocalInst sum{.stage = blocked.stage, .index = {index_of(kernel, contraction.column)}};
    rest.result = append(rest, {.dtype = DType::F32, .what = sum});
    for (InstId scale : scales) rest.result = append_product(rest, rest.result, scale);
    Stage pruned = kernel::factor_stage(rest, rest.result);
    pruned.dtype = stage.dtype;
    pruned.loops = stage.loops;
    pruned.target = stage.target;
    kernel.stages[contraction.stage] = std::move(pruned);
  }
  blocked.left = kernel.stages.push_back(kernel::factor_stage(stage, left));
  blocked.right = kernel.stages.push_back(kernel::factor_stage(stage, contraction.right));
}

Kernel with_steps(const Kernel& kernel, const kernel::RowBlockForm& form,
                  const EmitOptions& options, RowBlocks& blocks) {
  Kernel result = kernel;
  size_t next = 0;
  for (StageId s : kernel.stages.ids()) {
    if (next == form.contractions.size() || form.contractions[next].stage != s) {
      blocks.steps.push_back({.stage = s});
      continue;
    }
    const RowContraction& contraction = form.contractions[next];
    BlockedContraction blocked;
    blocked.stage = s;
    blocked.column = contraction.column;
    blocked.k = contraction.k;
    split(result, contraction, options.contract, blocked);
    blocks.steps.push_back({.stage = blocked.stage, .contraction = static_cast<int>(next)});
    if (blocked.stage != s) blocks.steps.push_back({.stage = s});
    blocks.contractions.push_back(std::move(blocked));
    ++next;
  }
  return result;
}

// ---- Choosing the instructions

// Whether everything after a stage is element-wise and is stored in 16 bits.
bool ends_in_halves(const RowBlocks& blocks, StageId stage) {
  bool after = false;
  for (const RowBlocks::Step& step : blocks.steps) {
    const Stage& other = blocks.kernel->stages[step.stage];
    if (after && (step.contraction >= 0 || other.reduction)) return false;
    const bool stores = std::holds_alternative<kernel::OutputTarget>(other.target);
    if (after && stores && bits(other.dtype) != 16) return false;
    after = after || step.stage == stage;
  }
  return true;
}

void choose_multiply(const RowBlocks& blocks, const Target& target,
                     BlockedContraction& contraction) {
  const Kernel& kernel = *blocks.kernel;
  const Stage& left = kernel.stages[contraction.left];
  const Stage& right = kernel.stages[contraction.right];
  if (!kernel::is_widened(right, right.result, DType::BF16)) return;
  if (kernel::is_widened(left, left.result, DType::BF16)) {
    contraction.multiply = best_multiply(target, DType::BF16);
  } else if (target.amx_bf16) {
    // Three bf16 products on AMX take a fraction of the time of one f32 product on vectors.
    contraction.multiply = Multiply::Bf16Tiles;
    contraction.parts =
        ends_in_halves(blocks, contraction.stage) ? kBf16PartsForHalves : kBf16PartsOfF32;
  }
}

void choose_shapes(const Target& target, const kernel::ScheduleChoices& choices,
                   RowBlocks& blocks) {
  const bool tiles =
      std::ranges::any_of(blocks.contractions, [](const auto& c) { return on_tiles(c.multiply); });
  const MicroShape vectors = micro_shape(target, Multiply::F32, INT64_MAX);
  int64_t rows = vectors.rows;
  while (rows < kVectorBlockRows) rows += vectors.rows;
  blocks.rows = tiles ? kTileBlockRows : choices.get(kernel::Knob::BlockRows, rows);
  for (BlockedContraction& contraction : blocks.contractions) {
    const bool here = on_tiles(contraction.multiply);
    contraction.shape =
        !tiles ? vectors
               : micro_shape(target, contraction.multiply, here ? blocks.rows : blocks.rows / 2);
    contraction.block_k = choices.get(kernel::Knob::BlockK, kRowBlockK);
  }
}

// ---- Locating the factors

Expr at_zero(const Kernel& kernel, Expr e, LoopId loop) {
  IdVector<LoopId, Expr> replacement;
  for (LoopId k : kernel.loops.ids()) {
    replacement.push_back(k == loop ? Expr(0) : index_of(kernel, k));
  }
  return e.substitute_indices(replacement.items());
}

void find_left(const Schedule& schedule, const RowBlocks& blocks, BlockedContraction& contraction) {
  const Kernel& kernel = *blocks.kernel;
  const ScheduledStage& stage = schedule.stages[contraction.left];
  InstId id = stage.source->result;
  const bool halves = contraction.multiply != Multiply::F32;
  if (contraction.parts > 1) return;
  if (halves) id = std::get<OpInst>(stage.source->body[id.index()].what).operands[0];
  const kernel::Inst& inst = stage.source->body[id.index()];
  const Expr address = stage.access[id.index()].address;
  const auto k_step = step_along(address, contraction.k);
  const auto row_step = step_along(address, blocks.row_loop);
  if (!k_step || !row_step) return;
  if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
    if (halves || inst.dtype != DType::F32 || address != index_of(kernel, contraction.k)) return;
    contraction.place = RowPlace::Local;
    contraction.local = local->stage;
  } else if (const auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
    if (!stage.access[id.index()].gathered.empty() || (halves && !k_step->is(1))) return;
    contraction.place = RowPlace::Param;
    contraction.param = load->param;
    contraction.address = at_zero(kernel, address, contraction.k);
    contraction.row_step = *row_step;
    contraction.k_step = *k_step;
  }
}

// An odd number of cache lines, so that rows don't map to the same cache sets.
Expr odd_lines(Expr bytes) { return ceil_div(bytes, 128) * Expr(128) + Expr(64); }

// The stage whose buffer stage `number` may reuse in place: `number` reads it only at the element
// that it computes, and no later step reads it. None if there is none.
StageId replaced_by(const RowBlocks& blocks, StageId number) {
  const Kernel& kernel = *blocks.kernel;
  const Stage& stage = kernel.stages[number];
  if (stage.reduction || stage.loops.empty()) return {};
  auto reads = [](const Stage& reader, StageId other) {
    return std::ranges::any_of(reader.body, [&](const kernel::Inst& inst) {
      const auto* local = std::get_if<LocalInst>(&inst.what);
      return local != nullptr && local->stage == other;
    });
  };
  auto fits = [&](StageId other) {
    const Stage& source = kernel.stages[other];
    if (register_bytes(source.dtype) != register_bytes(stage.dtype)) return false;
    if (kernel::buffer_loops(source).size() != stage.loops.size()) return false;
    for (const kernel::Inst& inst : stage.body) {
      const auto* local = std::get_if<LocalInst>(&inst.what);
      if (local == nullptr || local->stage != other) continue;
      for (size_t d = 0; d < stage.loops.size(); ++d) {
        const Expr own = index_of(kernel, stage.loops[d]);
        const LoopId dim = kernel::buffer_loops(source)[d];
        const bool same_extent = extent_of(kernel, dim) == extent_of(kernel, stage.loops[d]);
        if (local->index[d] != own || !same_extent) return false;
      }
    }
    bool after = false;
    for (const RowBlocks::Step& step : blocks.steps) {
      if (after) {
        const StageId left = step.contraction < 0
                                 ? step.stage
                                 : blocks.contractions[static_cast<size_t>(step.contraction)].left;
        if (reads(kernel.stages[step.stage], other) || reads(kernel.stages[left], other)) {
          return false;
        }
      }
      after = after || step.stage == number;
    }
    return true;
  };
  for (const kernel::Inst& inst : stage.body) {
    const auto* local = std::get_if<LocalInst>(&inst.what);
    if (local != nullptr && !local->index.empty() && fits(local->stage)) return local->stage;
  }
  return {};
}

void place_in_scratch(Schedule& schedule, const Target& target, RowBlocks& blocks) {
  const Kernel& kernel = *blocks.kernel;
  const Expr lanes = target.vector_bytes / 4;
  Expr offset = kSpareBytes;
  const Expr row = index_of(kernel, blocks.row_loop) % Expr(blocks.rows);
  blocks.pitch.resize(schedule.stages.size());
  for (const RowBlocks::Step& step : blocks.steps) {
    ScheduledStage& stage = schedule.stages[step.stage];
    if (!std::holds_alternative<kernel::LocalTarget>(stage.source->target)) continue;
    stage.in_memory = true;  // even single values: between stages all rows of the block are visited
    if (const StageId before = replaced_by(blocks, step.stage); before.valid()) {
      stage.local_offset = schedule.stages[before].local_offset;
      blocks.pitch[step.stage] = blocks.pitch[before];
      continue;
    }
    Expr bytes = register_bytes(stage.source->dtype);
    for (LoopId loop : kernel::buffer_loops(*stage.source)) {
      // Rounded up, since micro kernels write whole vectors.
      bytes = bytes * ceil_div(schedule.extents[loop], lanes) * lanes;
    }
    Expr& pitch = blocks.pitch[step.stage];
    pitch = kernel::buffer_loops(*stage.source).empty() ? Expr(64) : odd_lines(bytes);
    stage.local_offset = offset + row * pitch;
    offset = offset + pitch * Expr(blocks.rows);
  }
  for (BlockedContraction& contraction : blocks.contractions) {
    const Expr element = element_bytes(contraction.multiply);
    const Expr v = elements_per_lane(contraction.multiply);
    const Expr k = schedule.extents[contraction.k];
    const Expr columns = schedule.extents[contraction.column];
    contraction.rows = offset;
    const Expr summed = min(k, contraction.block_k);
    contraction.row_pitch = odd_lines(ceil_div(summed, lanes) * lanes * element);
    if (contraction.place == RowPlace::Scratch) {
      offset = offset + contraction.row_pitch * Expr(blocks.rows * contraction.parts);
    }
    contraction.panels = offset;
    contraction.panel_pitch = ceil_div(k, v) * v * lanes * element;
    offset = offset + align64(contraction.panel_pitch * ceil_div(columns, lanes));
  }
  schedule.scratch_bytes = offset;
}

}  // namespace

void block_rows(Schedule& schedule, const Kernel& kernel, const kernel::RowBlockForm& form,
                const Target& target, const EmitOptions& options) {
  RowBlocks blocks;
  blocks.row_loop = form.rows;
  if (options.contract) blocks.masked = kernel::forms_of(kernel).masked;
  blocks.kernel = std::make_shared<Kernel>(with_steps(kernel, form, options, blocks));
  schedule.kernel = blocks.kernel.get();
  for (const Stage& stage : blocks.kernel->stages) {
    schedule.stages.push_back(flatten(*blocks.kernel, stage));
  }
  for (LoopId loop : outer_loops(kernel)) {
    if (loop != form.rows) blocks.others.push_back(loop);
  }
  for (ScheduledStage& stage : schedule.stages) {
    choose_inner_loop(schedule, stage, target, options);
  }
  const int lanes = target.vector_bytes / 4;
  auto copied_along = [&](StageId stage, LoopId loop) {
    schedule.stages[stage].vector_loop = loop;
    schedule.stages[stage].lanes = lanes;
  };
  for (BlockedContraction& contraction : blocks.contractions) {
    choose_multiply(blocks, target, contraction);
    find_left(schedule, blocks, contraction);
    copied_along(contraction.left, contraction.k);
    copied_along(contraction.right, contraction.column);
  }
  choose_shapes(target, options.choices, blocks);
  place_in_scratch(schedule, target, blocks);

  const Expr n_rows = schedule.extents[form.rows];
  blocks.blocks = ceil_div(n_rows, blocks.rows);
  schedule.points = blocks.blocks;
  for (LoopId loop : blocks.others) {
    schedule.points = schedule.points * schedule.extents[loop];
  }
  schedule.row_blocks = std::move(blocks);
}

}  // namespace luminal::backends::cpu
