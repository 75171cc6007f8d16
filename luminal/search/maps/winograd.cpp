#include "luminal/search/maps/winograd.h"

#include <array>

namespace luminal::search {
namespace {

constexpr int64_t kFilter = 3;  // rows and columns of a filter
constexpr int64_t kTaps = kFilter * kFilter;

// Rows of a tile of the input.
int64_t tile_of(int64_t size) { return size + kFilter - 1; }

// By the points 0, 1, −1, ∞.
constexpr std::array<std::array<int64_t, 3>, 4> kFilter2 = {
    {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}}};
constexpr std::array<std::array<int64_t, 4>, 4> kInput2 = {
    {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}};
constexpr std::array<std::array<int64_t, 4>, 2> kOutput2 = {{{1, 1, 1, 0}, {0, 1, -1, -1}}};

// By the points 0, 1, −1, 2, −2, ∞.
constexpr std::array<std::array<int64_t, 3>, 6> kFilter4 = {
    {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 24}}};
constexpr std::array<std::array<int64_t, 6>, 6> kInput4 = {{{4, 0, -5, 0, 1, 0},
                                                            {0, -4, -4, 1, 1, 0},
                                                            {0, 4, -4, -1, 1, 0},
                                                            {0, -2, -1, 2, 1, 0},
                                                            {0, 2, -1, -2, 1, 0},
                                                            {0, 4, 0, -5, 0, 1}}};
constexpr std::array<std::array<int64_t, 6>, 4> kOutput4 = {
    {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};

template <size_t Rows, size_t Columns>
int64_t element(const std::array<std::array<int64_t, Columns>, Rows>& table, int64_t row,
                int64_t column) {
  return table.at(static_cast<size_t>(row)).at(static_cast<size_t>(column));
}

// Indices over dims, by axis.
class Body {
 public:
  explicit Body(Dims dims) : dims_(std::move(dims)) {}

  Expr operator[](int axis) const { return Expr::index(axis, dims_.at(static_cast<size_t>(axis))); }
  IndexMap into(Dims source, std::vector<Expr> exprs) const {
    return {dims_, std::move(source), std::move(exprs)};
  }

 private:
  Dims dims_;
};

// The dims of a body of a convolution.
enum BodyAxis : int { kImage, kGroup, kOut, kRow, kColumn, kSummed, kBodyRank };

bool is_static(const Dims& dims) {
  for (Expr dim : dims) {
    if (!dim.to_int()) return false;
  }
  return true;
}

}  // namespace

std::optional<WinogradConvolution> winograd_convolution(const IndexMap& x, const IndexMap& w) {
  const Dims& dims = x.dims();
  const Dims& input = x.source_dims();
  if (dims.size() != kBodyRank || input.size() != 4) return std::nullopt;
  if (!same_dims(dims, w.dims()) || !dims[kGroup].is(1)) return std::nullopt;
  if (!is_static(dims) || !is_static(input)) return std::nullopt;
  const Expr channels = input[1];
  for (Expr dim : dims) {
    if (dim.is(0)) return std::nullopt;
  }
  if (dims[kImage] != input[0] || dims[kSummed] != channels * kTaps) return std::nullopt;
  if (input[2] != dims[kRow] + (kFilter - 1)) return std::nullopt;
  if (input[3] != dims[kColumn] + (kFilter - 1)) return std::nullopt;
  const Body body(dims);
  const Expr summed = body[kSummed];
  const std::vector<Expr> windows = {body[kImage], summed / kTaps,
                                     body[kRow] + summed / kFilter % kFilter,
                                     body[kColumn] + summed % kFilter};
  if (x.exprs() != windows) return std::nullopt;
  for (Expr expr : w.exprs()) {
    for (int axis : {kImage, kGroup, kRow, kColumn}) {
      if (expr.uses_index(axis)) return std::nullopt;
    }
  }
  return WinogradConvolution{.images = dims[kImage],
                             .out = dims[kOut],
                             .channels = channels,
                             .rows = dims[kRow],
                             .columns = dims[kColumn],
                             .height = input[2],
                             .width = input[3],
                             .filter = w};
}

WinogradViews views_of(const WinogradConvolution& of, WinogradStage stage, int64_t size) {
  const int64_t tile = tile_of(size);
  const Expr rows = ceil_div(of.rows, size), columns = ceil_div(of.columns, size);
  switch (stage) {
    case WinogradStage::FilterRows: {
      const Body at({tile, of.out, of.channels, kFilter, kFilter});
      std::vector<Expr> into(kBodyRank, Expr(0));
      into[kOut] = at[1];
      into[kSummed] = at[2] * kTaps + at[4] * kFilter + at[3];
      std::vector<Expr> tap;
      for (Expr expr : of.filter.exprs()) tap.push_back(expr.substitute_indices(into));
      return {at.into({tile, kFilter}, {at[0], at[4]}), at.into(of.filter.source_dims(), tap)};
    }
    case WinogradStage::Filter: {
      const Body at({tile, tile, of.out, of.channels, kFilter});
      return {at.into({tile, kFilter}, {at[1], at[4]}),
              at.into({tile, of.out, of.channels, kFilter}, {at[0], at[2], at[3], at[4]})};
    }
    // Tiles may end beyond the input: no result that is kept depends on what is read there.
    case WinogradStage::InputRows: {
      const Body at({tile, of.images, of.channels, rows, of.width, tile});
      return {at.into({tile, tile}, {at[0], at[5]}),
              at.into({of.images, of.channels, of.height, of.width},
                      {at[1], at[2], min(at[3] * size + at[5], of.height - 1), at[4]})};
    }
    case WinogradStage::Input: {
      const Body at({tile, tile, of.channels, of.images, rows, columns, tile});
      return {at.into({tile, tile}, {at[1], at[6]}),
              at.into({tile, of.images, of.channels, rows, of.width},
                      {at[0], at[3], at[2], at[4], min(at[5] * size + at[6], of.width - 1)})};
    }
    case WinogradStage::Products: {
      const Body at({tile, tile, of.out, of.images, rows, columns, of.channels});
      return {at.into({tile, tile, of.out, of.channels}, {at[0], at[1], at[2], at[6]}),
              at.into({tile, tile, of.channels, of.images, rows, columns},
                      {at[0], at[1], at[6], at[3], at[4], at[5]})};
    }
    case WinogradStage::OutputRows: {
      const Body at({size, tile, of.out, of.images, rows, columns, tile});
      return {at.into({size, tile}, {at[0], at[6]}),
              at.into({tile, tile, of.out, of.images, rows, columns},
                      {at[6], at[1], at[2], at[3], at[4], at[5]})};
    }
    case WinogradStage::Output:
      break;
  }
  const Body at({of.images, 1, of.out, of.rows, of.columns, tile});
  return {at.into({size, tile}, {at[4] % size, at[5]}),
          at.into({size, tile, of.out, of.images, rows, columns},
                  {at[3] % size, at[5], at[2], at[0], at[3] / size, at[4] / size})};
}

int64_t table_element(WinogradTable table, int64_t size, int64_t row, int64_t column) {
  switch (table) {
    case WinogradTable::Filter:
      return size == 2 ? element(kFilter2, row, column) : element(kFilter4, row, column);
    case WinogradTable::Input:
      return size == 2 ? element(kInput2, row, column) : element(kInput4, row, column);
    case WinogradTable::Output:
      break;
  }
  return size == 2 ? element(kOutput2, row, column) : element(kOutput4, row, column);
}

Dims table_dims(WinogradTable table, int64_t size) {
  const int64_t tile = tile_of(size);
  if (table == WinogradTable::Filter) return {tile, kFilter};
  return {table == WinogradTable::Input ? tile : size, tile};
}

double filter_scale(int64_t size) { return size == 2 ? 0.25 : 1.0 / 576; }

}  // namespace luminal::search
