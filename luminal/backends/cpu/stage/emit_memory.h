// Loads and stores across lanes: broadcast, contiguous, reversed, gathered; masked at the edges.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/math/emit_ops.h"
#include "luminal/backends/cpu/stage/emit_index.h"

namespace luminal::backends::cpu {

// Tensors hold the bytes of their dtype; local buffers hold values as registers do, bool as a byte.
enum class MemoryForm : uint8_t { Tensor, Local };

// Asks for the line at an address that needn't exist, to be read soon: into the nearest cache, or
// with less locality a farther one.
void emit_prefetch(Builder& builder, llvm::Value* address, uint32_t locality = 3);

class MemoryEmitter {
 public:
  MemoryEmitter(Builder& builder, IndexEmitter& index, OpEmitter& ops)
      : builder_(builder), index_(index), ops_(ops) {}

  // The elements at `at` (in elements from `base`): a scalar where `at` is uniform, else a vector.
  // `whole_words`: the tensor's bytes are words of 32 bits, so all of a word may be read.
  llvm::Value* load(DType dtype, MemoryForm form, llvm::Value* base, const LaneIndex& at,
                    bool whole_words = false);
  // Stores a vector, or a scalar where `at` is uniform. `aligned`: the address of lane 0 is a
  // multiple of the vector's size and the store may bypass the cache.
  void store(DType dtype, MemoryForm form, llvm::Value* base, const LaneIndex& at,
             llvm::Value* value, bool aligned);

 private:
  llvm::Value* load_elements(llvm::Type* element, llvm::Value* base, const LaneIndex& at);
  llvm::Value* load_u4(llvm::Value* base, const LaneIndex& at);
  llvm::Value* load_u4_of_words(llvm::Value* base, const LaneIndex& at);
  llvm::Value* to_register(DType dtype, MemoryForm form, llvm::Value* x);
  llvm::Value* to_memory(DType dtype, MemoryForm form, llvm::Value* x);
  llvm::Value* reversed(llvm::Value* vector);
  llvm::Value* lane_addresses(llvm::Type* element, llvm::Value* base, const LaneIndex& at);

  Builder& builder_;
  IndexEmitter& index_;
  OpEmitter& ops_;
};

}  // namespace luminal::backends::cpu
