// StageEmitter: one stage of a kernel, for one outer iteration (or one chunk of them), as LLVM IR.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <map>

#include "luminal/backends/cpu/math/emit_ops.h"
#include "luminal/backends/cpu/math/emit_reduce.h"
#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/backends/cpu/schedule/unrounded.h"
#include "luminal/backends/cpu/stage/emit_loops.h"
#include "luminal/backends/cpu/stage/emit_memory.h"
#include "luminal/backends/cpu/stage/emit_stray_rows.h"

namespace luminal::backends::cpu {

// State shared by the stages of a kernel.
struct EmitState {
  const Schedule& schedule;
  const EmitOptions& options;
  Builder& builder;
  IndexEmitter& index;
  OpEmitter& ops;
  MemoryEmitter& memory;
  LoopEmitter& loops;
  IdVector<kernel::ParamId, llvm::Value*> params;  // their addresses
  // Of a param that may be empty: a mask of i64, −1 or 0 if empty; else null.
  IdVector<kernel::ParamId, llvm::Value*> has_elements;
  llvm::Value* scratch = nullptr;
  // Loops restricted to a part of their extent. Before `shown`, if set, the mask is known to hold.
  // All bounds but the last `to` are multiples of kRangeStep.
  struct Range {
    llvm::Value *from, *to;
    llvm::Value* shown = nullptr;
    Expr mask = {};
  };
  static constexpr int kRangeStep = 64;
  std::map<kernel::LoopId, Range> ranges = {};
  // Values of stages without a buffer: one per copy, or one for all.
  IdVector<kernel::StageId, Values> locals;
  StrayRows strays;
  // StageEmitter::rows_inside_ of hoisted instructions, by stage and instruction.
  std::map<std::pair<kernel::StageId, size_t>, Values> rows_inside = {};
  bool used_nontemporal = false;
};

class StageEmitter {
 public:
  StageEmitter(EmitState& state, kernel::StageId stage);

  // Emits the instructions of a stage without loops that are invariant in the kernel's vector loop,
  // in a level outside of it.
  void emit_hoisted(int level);
  // Emits everything else.
  void emit();

 private:
  // The place of an instruction: in loop k of the stage, before all its loops, or hoisted out of
  // the kernel's vector loop.
  static constexpr int kEntry = -1;
  static constexpr int kHoisted = -2;

  void place_instructions();
  void find_looked_along();
  int place_of(Expr e) const;
  bool varies_with_lanes(Expr e) const;
  int level_of(int place) const;

  Values emit_nest(size_t position, bool empty_reduction);
  Values emit_reduction(size_t position);
  std::optional<int64_t> steps_written_out(kernel::LoopId loop, size_t copies) const;
  void emit_scan(size_t position);
  void emit_instructions(int place);
  llvm::Value* emit_instruction(size_t k, int copy);
  llvm::Value* multiply_add(const Product& product, llvm::Value* sum, int copy, bool as_vector);
  llvm::Value* operand(kernel::InstId id, int copy, bool as_vector);
  llvm::Value* guarded_load(size_t k, int copy);
  LaneIndex locate(const Access& access, int copy, llvm::Value* has_elements);
  llvm::Value* row_at(kernel::InstId id, Expr extent, int copy);
  llvm::Value* nearest_row(llvm::Value* row, Expr extent, int copy);
  // A gathered index forced into range: unchanged if it is in range.
  llvm::Value* row_inside(kernel::InstId id, Expr extent, int copy);
  // Emits the check whether an instruction's value is out of range as an index.
  void look_at_rows(size_t k);
  LaneIndex in_local_buffer(const LaneIndex& at, int copy);
  void emit_prefetches();
  Values run_along(kernel::LoopId loop, const Values& carried, const LoopEmitter::ChunkBody& body);
  EmitState::Range range(kernel::LoopId loop);
  Values body_results();
  void write(const Values& results);
  void update(const Values& results);
  bool is_aligned_output() const;

  EmitState& state_;
  const Schedule& schedule_;
  const kernel::StageId id_;
  const ScheduledStage& stage_;
  const std::vector<kernel::Inst>& body_;
  const Unrounded unrounded_;
  Builder& builder_;
  IndexEmitter& index_;
  std::optional<Expr> holds_;  // the mask, while emitting a loop in which it holds
  int hoisted_level_ = 0;
  int entry_level_ = 0;
  std::vector<int> place_;
  std::vector<bool> varies_;
  // By instruction: extents of the dims that its value indexes without being known to be in range.
  std::vector<std::vector<Expr>> looked_along_;
  // And for each of those the row to read; null if it varies across lanes.
  std::vector<Values> rows_inside_;
  std::vector<Values> values_;        // per instruction: one per copy, or one scalar
  std::vector<llvm::Value*> splats_;  // scalars as vectors, created on first use
};

}  // namespace luminal::backends::cpu
