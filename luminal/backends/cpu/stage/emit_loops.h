// Loops in LLVM IR: counted loops, and vector loops with a main part and masked edges.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <functional>
#include <vector>

#include "luminal/backends/cpu/stage/emit_index.h"

namespace luminal::backends::cpu {

using Values = std::vector<llvm::Value*>;

class LoopEmitter {
 public:
  LoopEmitter(Builder& builder, IndexEmitter& index) : builder_(builder), index_(index) {}

  // for (i = from; i < to; i += step) carried = body(i, carried); returns the final carried values.
  using Body = std::function<Values(llvm::Value* i, const Values& carried)>;
  Values counted(llvm::Value* from, llvm::Value* to, int64_t step, const Values& carried,
                 const Body& body);

  // if (condition) then()
  void guarded(llvm::Value* condition, const std::function<void()>& then);
  // condition ? yes() : no()
  Values either(llvm::Value* condition, const std::function<Values()>& yes,
                const std::function<Values()>& no);

  // A vector loop over [from, to): rounds of `unroll` whole chunks, then the remainder one masked
  // chunk at a time. Chunks start at multiples of `lanes`. In the body a level is open, the loop's
  // index is set, and chunk() gives the number of copies and the mask.
  struct VectorLoop {
    kernel::LoopId loop;
    llvm::Value* from;  // null: 0
    llvm::Value* to;
    int lanes;
    int unroll;
    bool whole = false;   // from and to are multiples of a round: there is no remainder
    bool masked = false;  // every chunk is masked, so that the body is emitted only once
  };
  // Whole rounds carry one value per copy; masked chunks update only the first one.
  using ChunkBody = std::function<Values(const Values& carried)>;
  Values chunked(const VectorLoop& loop, const Values& carried, const ChunkBody& body);

 private:
  Values round(const VectorLoop& loop, llvm::Value* position, const Chunk& chunk,
               const Values& carried, const ChunkBody& body);
  llvm::Value* edge_mask(const VectorLoop& loop, llvm::Value* position);
  llvm::BasicBlock* new_block();

  Builder& builder_;
  IndexEmitter& index_;
};

}  // namespace luminal::backends::cpu
