#include "luminal/backends/cpu/stage/emit_loops.h"

namespace luminal::backends::cpu {

using llvm::BasicBlock;
using llvm::PHINode;
using llvm::Value;

BasicBlock* LoopEmitter::new_block() {
  return BasicBlock::Create(builder_.getContext(), "", builder_.GetInsertBlock()->getParent());
}

Values LoopEmitter::counted(Value* from, Value* to, int64_t step, const Values& carried,
                            const Body& body) {
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* head = new_block();
  BasicBlock* exit = new_block();
  builder_.CreateCondBr(builder_.CreateICmpSLT(from, to), head, exit);
  builder_.SetInsertPoint(head);
  PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  i->addIncoming(from, before);
  Values inside;
  for (Value* value : carried) {
    PHINode* phi = builder_.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    inside.push_back(phi);
  }
  Values next = body(i, inside);
  BasicBlock* latch = builder_.GetInsertBlock();
  Value* next_i = builder_.CreateNSWAdd(i, builder_.getInt64(static_cast<uint64_t>(step)));
  i->addIncoming(next_i, latch);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next_i, to), head, exit);
  builder_.SetInsertPoint(exit);
  Values after;
  for (size_t k = 0; k < carried.size(); ++k) {
    llvm::cast<PHINode>(inside[k])->addIncoming(next[k], latch);
    PHINode* phi = builder_.CreatePHI(carried[k]->getType(), 2);
    phi->addIncoming(carried[k], before);
    phi->addIncoming(next[k], latch);
    after.push_back(phi);
  }
  return after;
}

void LoopEmitter::guarded(Value* condition, const std::function<void()>& then) {
  either(
      condition,
      [&] {
        then();
        return Values();
      },
      [] { return Values(); });
}

Values LoopEmitter::either(Value* condition, const std::function<Values()>& yes,
                           const std::function<Values()>& no) {
  BasicBlock* yes_block = new_block();
  BasicBlock* no_block = new_block();
  BasicBlock* after = new_block();
  builder_.CreateCondBr(condition, yes_block, no_block);
  builder_.SetInsertPoint(yes_block);
  Values a = yes();
  yes_block = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(no_block);
  Values b = no();
  no_block = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  Values result;
  for (size_t k = 0; k < a.size(); ++k) {
    PHINode* phi = builder_.CreatePHI(a[k]->getType(), 2);
    phi->addIncoming(a[k], yes_block);
    phi->addIncoming(b[k], no_block);
    result.push_back(phi);
  }
  return result;
}

Values LoopEmitter::round(const VectorLoop& loop, Value* position, const Chunk& chunk,
                          const Values& carried, const ChunkBody& body) {
  Values positions;
  for (int copy = 0; copy < chunk.copies; ++copy) {
    positions.push_back(builder_.CreateNSWAdd(
        position, builder_.getInt64(static_cast<uint64_t>(copy * loop.lanes))));
  }
  index_.open_level();
  const Chunk outer = index_.chunk();
  index_.set_chunk(chunk);
  index_.set_loop(loop.loop, positions);
  Values result = body(carried);
  index_.unset_loop(loop.loop);
  index_.set_chunk(outer);
  index_.close_level();
  return result;
}

// Lanes whose position lies within [from, to).
Value* LoopEmitter::edge_mask(const VectorLoop& loop, Value* position) {
  const auto lanes = static_cast<unsigned>(loop.lanes);
  // Values up to `lanes` fit any of these; a vector's natural lane width compares fastest.
  llvm::Type* element = builder_.getIntNTy(lanes >= 64   ? 8
                                           : lanes >= 32 ? 16
                                           : lanes >= 16 ? 32
                                                         : 64);
  std::vector<llvm::Constant*> steps;
  for (unsigned k = 0; k < lanes; ++k) steps.push_back(llvm::ConstantInt::get(element, k));
  Value* step = llvm::ConstantVector::get(steps);
  auto splat = [&](Value* count) {
    return builder_.CreateVectorSplat(lanes, builder_.CreateTrunc(count, element));
  };
  Value* left = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::smin, builder_.CreateSub(loop.to, position), builder_.getInt64(lanes));
  Value* mask = builder_.CreateICmpULT(step, splat(left));
  if (loop.from == nullptr) return mask;
  Value* skipped = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::smax, builder_.CreateSub(loop.from, position), builder_.getInt64(0));
  return builder_.CreateAnd(mask, builder_.CreateICmpUGE(step, splat(skipped)));
}

Values LoopEmitter::chunked(const VectorLoop& loop, const Values& carried, const ChunkBody& body) {
  const int64_t lanes = loop.lanes, per_round = lanes * loop.unroll;
  Value* zero = builder_.getInt64(0);
  auto down = [&](Value* value, int64_t multiple) {  // rounds down to a constant multiple
    return builder_.CreateSub(
        value, builder_.CreateURem(value, builder_.getInt64(static_cast<uint64_t>(multiple))));
  };
  // Unmasked rounds run from the first chunk that starts inside to the last round that ends inside.
  Value* first = zero;
  Value* last = down(loop.to, per_round);
  if (loop.from != nullptr) {
    first = down(builder_.CreateAdd(loop.from, builder_.getInt64(static_cast<uint64_t>(lanes - 1))),
                 lanes);
    Value* length = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                                   builder_.CreateSub(loop.to, first), zero);
    last = builder_.CreateAdd(first, down(length, per_round));
  }
  const Chunk whole{.loop = loop.loop, .lanes = loop.lanes, .copies = loop.unroll};
  Values result = carried;
  auto* known_last = llvm::dyn_cast<llvm::ConstantInt>(last);
  if (loop.masked) {
    last = first;
  } else if (known_last == nullptr || loop.from != nullptr || !known_last->isZero()) {
    result = counted(first, last, per_round, result, [&](Value* position, const Values& inside) {
      return round(loop, position, whole, inside, body);
    });
  }
  if (loop.whole || (loop.from == nullptr && last == loop.to)) return result;

  // Masked edges: the chunk before the first whole one, if part of it lies inside, then the
  // remainder after the last.
  Value* start = last;
  if (loop.from != nullptr) {
    Value* has_head = builder_.CreateICmpSLT(loop.from, first);
    start = builder_.CreateSelect(has_head, down(loop.from, lanes), last);
  }
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* head = new_block();
  BasicBlock* exit = new_block();
  builder_.CreateCondBr(builder_.CreateICmpSLT(start, loop.to), head, exit);
  builder_.SetInsertPoint(head);
  PHINode* position = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  position->addIncoming(start, before);
  PHINode* taken = nullptr;
  if (!result.empty()) {
    taken = builder_.CreatePHI(result[0]->getType(), 2);
    taken->addIncoming(result[0], before);
  }
  Chunk edge{.loop = loop.loop, .lanes = loop.lanes, .copies = 1};
  edge.mask = edge_mask(loop, position);
  Values next = round(loop, position, edge, taken == nullptr ? Values() : Values{taken}, body);
  Value* after = builder_.CreateNSWAdd(position, builder_.getInt64(static_cast<uint64_t>(lanes)));
  if (loop.from != nullptr) {
    after = builder_.CreateSelect(builder_.CreateICmpEQ(after, first), last, after);
  }
  BasicBlock* latch = builder_.GetInsertBlock();
  position->addIncoming(after, latch);
  builder_.CreateCondBr(builder_.CreateICmpSLT(after, loop.to), head, exit);
  builder_.SetInsertPoint(exit);
  if (taken != nullptr) {
    taken->addIncoming(next[0], latch);
    PHINode* phi = builder_.CreatePHI(taken->getType(), 2);
    phi->addIncoming(result[0], before);
    phi->addIncoming(next[0], latch);
    result[0] = phi;
  }
  return result;
}

}  // namespace luminal::backends::cpu
