// Panels: the order in which a contraction reads its right factor, as an order to store it in.
//
// Dims [batch…, ceil(N / L), K / v, L, v]: L columns stand side by side, and of each of them v
// elements that follow one another along k. So a tile of the result reads one piece of memory from
// its beginning to its end.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/contraction_form.h"
#include "luminal/kernel/kernel.h"

namespace luminal::kernel {

// What a backend wants.
struct Packing {
  int lanes = 16;      // L
  int bf16_depth = 2;  // v of bf16; 1 for the other floats

  int depth(DType dtype) const { return dtype == DType::BF16 ? bf16_depth : 1; }
};

// A load of a tensor, and the same value as a load of its panels.
struct PanelRead {
  InstId load;               // in the contraction's stage
  IndexMap map;              // from the panels to the tensor, total: past column N it wraps
  std::vector<Index> index;  // in the panels, over the kernel's loops
};

// None where the right factor isn't a load of f32, bf16 or f16, or such a 16-bit one cast to f32;
// where it is gathered or depends on rows; where a size isn't known, or k doesn't come in whole
// vectors; and where panels would be more than twice as large as what is read or as the tensor.
std::optional<PanelRead> read_in_panels(const Kernel& kernel, const ContractionForm& form,
                                        const Contraction& contraction, const Packing& packing);

// Whether the right factor is read in panels already: it is such a load, cast or not, of a tensor
// with the dims above, at the index that read_in_panels gives.
bool reads_panels(const Kernel& kernel, const ContractionForm& form, const Contraction& contraction,
                  const Packing& packing);

}  // namespace luminal::kernel
