// Panels: the order in which a contraction reads its right factor, as an order to store it in.
//
// Dims [batch…, ceil(N / L), K / v, L, v]: L columns stand side by side, and of each of them v
// elements that follow one another along k. So a tile of the result reads one piece of memory from
// its beginning to its end.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::kernel {

constexpr int kU4PerWord = 8;
constexpr int kBytesPerWord = 4;
constexpr int kHalvesPerWord = 2;

// What a backend wants.
struct Packing {
  int lanes = 16;      // L
  int bf16_depth = 2;  // v of bf16
  int byte_depth = 1;  // v of the i8 and u8 of a quantised factor

  // v: a lane's u4 fill a word of 32 bits; all others stand alone.
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

// A load of a tensor, and the same value as a load of its panels.
struct PanelRead {
  InstId load;               // in the contraction's stage
  IndexMap map;              // from the panels to the tensor, total: past column N it wraps
  std::vector<Index> index;  // in the panels, over the kernel's loops
};

// All that the right factor loads along columns: a load of f32, bf16 or f16, or such a 16-bit one
// cast to f32; or the integers, scales and offsets of a quantised factor (see quantised_form.h).
// What is the same for several k is stored once for them. Empty where the factor is something else;
// where a load is gathered or depends on rows; where a size isn't known, or k doesn't come in whole
// vectors; and where panels would be more than twice as large as what is read or as the tensor.
std::vector<PanelRead> reads_in_panels(const Kernel& kernel, const ContractionForm& form,
                                       const Contraction& contraction, const Packing& packing);

// Whether the right factor is read in panels already: it is such a load, cast or not, of a tensor
// with the dims above, at the index that reads_in_panels gives.
bool reads_panels(const Kernel& kernel, const ContractionForm& form, const Contraction& contraction,
                  const Packing& packing);

// A map between tensors as one between tensors of words, of so many elements each; none where
// those don't stay together.
std::optional<IndexMap> word_map(const IndexMap& map, int elements);

}  // namespace luminal::kernel
