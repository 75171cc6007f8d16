// Winograd's minimal filtering: a convolution by 3 × 3 filters of stride 1 as products of
// transformed tiles. A tile of m × m results is made of (m + 2)² multiplications a channel, where
// the sum itself takes 9 m²: F(2, 3) 16 instead of 36, F(4, 3) 36 instead of 144.
//
//   Y = Aᵀ [ (G w Gᵀ) ⊙ (Bᵀ x B) ] A      by tile; ⊙ is summed over channels
//
// Each of the three transforms runs along rows, then along columns, as a sum of a small table times
// the data. So all of it is terms of the language, and the search decides what is stored:
//
//   filter_rows   [ξ, o, c, j]          Σi  G[ξ, i] · w[o, c, i, j]
//   filter        [ξ, ν, o, c]          Σj  G[ν, j] · filter_rows[ξ, o, c, j]
//   input_rows    [ξ, n, c, r, x]       Σi  B[ξ, i] · x[n, c, m r + i, x]
//   input         [ξ, ν, c, n, r, s]    Σj  B[ν, j] · input_rows[ξ, n, c, r, m s + j]
//   products      [ξ, ν, o, n, r, s]    Σc  filter[ξ, ν, o, c] · input[ξ, ν, c, n, r, s]
//   output_rows   [u, ν, o, n, r, s]    Σξ  A[u, ξ] · products[ξ, ν, o, n, r, s]
//   output        [n, 1, o, p, q]       Σν  A[q % m, ν] · output_rows[p % m, ν, o, n, p / m, q / m]
#pragma once

#include <cstdint>
#include <optional>

#include "luminal/shape/index_map.h"

namespace luminal::search {

enum class WinogradStage : uint8_t {
  FilterRows,
  Filter,
  InputRows,
  Input,
  Products,
  OutputRows,
  Output,
};

// The maps of a stage's two factors, over its dims and the summed one. `table` is that of the
// filter in Products.
struct WinogradViews {
  IndexMap table, data;
};

// A convolution that the method computes, by the maps of its factors into the body of its sum.
struct WinogradConvolution {
  Expr images, out, channels, rows, columns;  // of the result; channels of the input
  Expr height, width;                         // of the padded input
  IndexMap filter;                            // of the sum's body into the filter
};

// nullopt unless `x` reads windows of 3 × 3 of an input [n, c, height, width] for a body [n, 1, o,
// p, q, 9 c], each beside the next, and `w` depends on o and the position in the window alone. All
// sizes must be known.
std::optional<WinogradConvolution> winograd_convolution(const IndexMap& x, const IndexMap& w);

// With tiles of `size` × `size` results; 2 or 4.
WinogradViews views_of(const WinogradConvolution& convolution, WinogradStage stage, int64_t size);

// The tables G, B and A.
enum class WinogradTable : uint8_t { Filter, Input, Output };
Dims table_dims(WinogradTable table, int64_t size);
// An element as an integer: those of G are 1 / √filter_scale(size) times as large as the method's,
// and filters are made by G twice.
int64_t table_element(WinogradTable table, int64_t size, int64_t row, int64_t column);
double filter_scale(int64_t size);

}  // namespace luminal::search
