// Loads and stores across lanes: broadcast, contiguous, reversed, gathered; masked at the edges.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/math/emit_ops.h"
#include "luminal/backends/cpu/stage/emit_index.h"

namespace luminal::backends::cpu {

// Tensors hold elements of their dtype; local buffers hold values in register form, bool as a byte.
enum class MemoryForm : uint8_t { Tensor, Local };

// Prefetches the cache line at an address, which needn't be valid, into L1 or, with less locality,
// a farther cache.
void emit_prefetch(Builder& builder, llvm::Value* address, uint32_t locality = 3);

class MemoryEmitter {
 public:
  MemoryEmitter(Builder& builder, IndexEmitter& index, OpEmitter& ops)
      : builder_(builder), index_(index), ops_(ops) {}

  // The elements at `at` (in elements from `base`): a scalar if `at` is uniform, else a vector.
  // `whole_words`: the tensor consists of whole 32-bit words, so reading all of a word is safe.
  llvm::Value* load(DType dtype, MemoryForm form, llvm::Value* base, const LaneIndex& at,
                    bool whole_words = false);
  // A vector of the lanes in which `where` is true, zeros in the others: those may be anywhere.
  llvm::Value* load_where(llvm::Value* where, DType dtype, llvm::Value* base, const LaneIndex& at);
  // Stores a vector, or a scalar if `at` is uniform. `aligned`: the address of lane 0 is a multiple
  // of the vector's size, so the store may be non-temporal.
  void store(DType dtype, MemoryForm form, llvm::Value* base, const LaneIndex& at,
             llvm::Value* value, bool aligned);

 private:
  // Elements at even distances from `address`; lanes that the mask leaves out, if there is one, are
  // not read.
  llvm::Value* load_every_second(llvm::Type* element, llvm::Value* address, llvm::Value* mask);
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
