// IndexEmitter: index expressions as LLVM IR, each computed once, hoisted to the outermost loop in
// which it is invariant.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <map>
#include <vector>

#include "luminal/backends/cpu/math/ir_builder.h"
#include "luminal/backends/cpu/schedule/lane_pattern.h"
#include "luminal/shape/expr.h"

namespace luminal::backends::cpu {

// The iterations of a vector loop that are emitted at once: `copies` (unrolling) times `lanes`.
struct Chunk {
  kernel::LoopId loop;  // none: not in a vector loop, values are scalars
  int lanes = 1;
  int copies = 1;
  llvm::Value* mask = nullptr;  // active lanes; null: all. With a mask there is one copy
};

// A value per lane: uniform, affine in the lane's number, or a vector.
struct LaneIndex {
  LaneKind kind = LaneKind::Uniform;
  llvm::Value* base = nullptr;    // Uniform, Affine: of lane 0, i64
  llvm::Value* stride = nullptr;  // Affine, i64
  llvm::Value* vector = nullptr;  // General: <lanes x i64>
};

class IndexEmitter {
 public:
  explicit IndexEmitter(Builder& builder) : builder_(builder) {}

  // Levels nest like the loops. Each has its own basic block, which dominates everything inside;
  // code of a level is inserted before its anchor. Opening one leaves the builder in a new block.
  void open_level();
  void close_level() { levels_.pop_back(); }
  int level() const { return static_cast<int>(levels_.size()) - 1; }
  llvm::Instruction* anchor(int level) const { return levels_[level].anchor; }

  // Sets the value of a variable, and of a loop's index within the current level: one per copy if
  // it is the vector loop.
  void set_variable(Expr variable, llvm::Value* value);
  void set_loop(kernel::LoopId loop, std::vector<llvm::Value*> positions);
  void unset_loop(kernel::LoopId loop) { loops_.erase(loop); }
  void set_chunk(const Chunk& chunk) { chunk_ = chunk; }
  const Chunk& chunk() const { return chunk_; }

  // The value in lane 0 of a copy, i64, computed in the outermost level where it is known.
  llvm::Value* scalar(Expr e, int copy = 0);
  // The value in every lane of a copy.
  LaneIndex lanes(Expr e, int copy);
  // The same as a vector of i64.
  llvm::Value* vector(const LaneIndex& index);
  // <0, 1, 2, …> as i64 and as integers of another width.
  llvm::Value* steps(llvm::Type* element);

 private:
  struct Level {
    llvm::Instruction* anchor;
    std::map<std::pair<uint32_t, int>, llvm::Value*> known;
  };
  struct LoopIndex {
    int level;
    std::vector<llvm::Value*> positions;
  };

  int level_of(Expr e) const;
  llvm::Value* build_scalar(Expr e, int copy);
  llvm::Value* build_sum(Expr e, int copy);
  llvm::Value* general(Expr e, int copy, llvm::Type* element);

  Builder& builder_;
  std::vector<Level> levels_;
  std::map<kernel::LoopId, LoopIndex> loops_;
  std::map<std::string, llvm::Value*, std::less<>> variables_;
  Chunk chunk_;
};

}  // namespace luminal::backends::cpu
