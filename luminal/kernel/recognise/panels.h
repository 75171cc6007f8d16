// Packed B panels: the right factor of a GEMM, stored in the order in which the GEMM reads it.
//
// Dims [batch…, ceil(N / L), K / v, L, v]: a panel has L columns side by side, and of each of them
// v elements that are consecutive along k. So a tile of the result reads one piece of memory from
// its beginning to its end. For example N = 32, K = 4, L = 16, v = 2 gives dims [2, 2, 16, 2]:
//
//   (k, n) = (3, 17)  is at  [17 / 16, 3 / 2, 17 % 16, 3 % 2] = [1, 1, 1, 1]
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::kernel {

constexpr int kU4PerWord = 8;
constexpr int kBytesPerWord = 4;
constexpr int kHalvesPerWord = 2;

// The layout that a backend wants.
struct Packing {
  int lanes = 16;      // L
  int bf16_depth = 2;  // v of bf16
  int byte_depth = 1;  // v of the i8 and u8 of a quantised factor

  // v of a dtype: the u4 of a lane fill a 32-bit word; 1 for those that aren't listed.
  int depth(DType dtype) const {
    switch (dtype) {
      case DType::BF16:
        return bf16_depth;
      case DType::I8:
      case DType::U8:
        return byte_depth;
      case DType::U4:
        return kU4PerWord;
      default:
        return 1;
    }
  }
};

// A load of a tensor, rewritten as a load of its panels.
struct PanelRead {
  InstId load;               // in the contraction's stage
  IndexMap map;              // from the panels to the tensor; columns past N wrap around
  std::vector<Index> index;  // in the panels, over the kernel's loops
};

// All loads of the right factor that vary along columns: a load of f32, bf16 or f16, or such a
// 16-bit one cast to f32; or the integers, scales and offsets of a quantised factor (see
// quantised_form.h). A value that is constant over several k (a scale) is stored once for them.
// Empty if the factor is something else, if a load is gathered or depends on rows, if a size isn't
// known, if K isn't a multiple of v, or if panels would be more than twice as large as what is read
// or as the tensor.
std::vector<PanelRead> reads_in_panels(const Kernel& kernel, const ContractionForm& form,
                                       const Contraction& contraction, const Packing& packing);

// The same of a left factor that is a load of f32: panels of rows. A tile of rows then reads one
// piece of memory too, and rows that are a power of two apart don't evict one another from the L1
// cache.
std::vector<PanelRead> rows_in_panels(const Kernel& kernel, const ContractionForm& form,
                                      const Contraction& contraction, const Packing& packing);

// Whether the right factor is already read from panels: it is such a load, cast or not, of a tensor
// with the dims above, at the index that reads_in_panels gives. Quantised factors aren't looked at.
bool reads_panels(const Kernel& kernel, const ContractionForm& form, const Contraction& contraction,
                  const Packing& packing);

// A map between tensors as a map between their words, of `elements` elements each; nullopt if the
// elements of a word don't stay together.
std::optional<IndexMap> word_map(const IndexMap& map, int elements);

}  // namespace luminal::kernel
