#include "luminal/search/terms/winograd_primitives.h"

#include <algorithm>
#include <string_view>

#include "luminal/search/maps/winograd.h"
#include "luminal/search/terms/terms.h"

namespace luminal::search {
namespace {

using egraph::Constants;
using egraph::Value;
using Arguments = std::span<const Value>;

constexpr std::string_view kStageNames[] = {"filter-rows", "filter",      "input-rows", "input",
                                            "products",    "output-rows", "output"};
constexpr std::string_view kTableNames[] = {"filter", "input", "output"};

// The member of an enum by its name in a rule.
template <typename Enum, size_t N>
std::optional<Enum> named(const std::string_view (&names)[N], std::string_view name) {
  const auto* at = std::ranges::find(names, name);
  if (at == std::end(names)) return std::nullopt;
  return static_cast<Enum>(at - std::begin(names));
}

bool is_size(int64_t size) { return size == 2 || size == 4; }

// The table as an expression over its indices: a sum with a term for each element that isn't 0.
Expr table_expr(WinogradTable table, int64_t size) {
  const Dims dims = table_dims(table, size);
  const Expr row = Expr::index(0, dims[0]), column = Expr::index(1, dims[1]);
  const auto is = [](Expr index, int64_t value) { return index >= value && index < value + 1; };
  Expr sum = 0;
  for (int64_t r = 0; r < dims[0].to_int().value(); ++r) {
    for (int64_t c = 0; c < dims[1].to_int().value(); ++c) {
      const int64_t element = table_element(table, size, r, c);
      if (element != 0) sum = sum + element * (is(row, r) && is(column, c));
    }
  }
  return sum;
}

}  // namespace

void add_winograd_primitives(egraph::EGraph& egraph, HostValues& host) {
  using Sorts = std::vector<egraph::SortId>;
  const egraph::SortId text = egraph.sort("String"), number = egraph.sort("i64"),
                       map = egraph.sort("Map");
  // (winograd-table-view STAGE m x w), (winograd-data-view STAGE m x w): the maps of a stage's
  // factors, where x and w are the maps of a convolution's.
  const auto view = [&](const char* name, IndexMap WinogradViews::* of) {
    egraph.add_primitive(name, Sorts{text, number, map, map}, map,
                         [&host, of](Constants& c, Arguments in) -> std::optional<Value> {
                           const auto stage = named<WinogradStage>(kStageNames, c.string(in[0]));
                           const int64_t size = c.i64(in[1]);
                           if (!stage || !is_size(size)) return std::nullopt;
                           const auto convolution =
                               winograd_convolution(host.map(in[2]), host.map(in[3]));
                           if (!convolution) return std::nullopt;
                           return host.of(views_of(*convolution, *stage, size).*of);
                         });
  };
  view("winograd-table-view", &WinogradViews::table);
  view("winograd-data-view", &WinogradViews::data);
  // The extent that a map's stage sums over: its last dim.
  egraph.add_primitive("summed-by", Sorts{map}, egraph.sort("Index"),
                       [&host](Constants&, Arguments in) -> std::optional<Value> {
                         const Dims& dims = host.map(in[0]).dims();
                         if (dims.empty()) return std::nullopt;
                         return host.of(dims.back());
                       });
  const auto about_table = [&](const char* name, const char* sort, auto answer) {
    egraph.add_primitive(name, Sorts{text, number}, egraph.sort(sort),
                         [&host, answer](Constants& c, Arguments in) -> std::optional<Value> {
                           const auto table = named<WinogradTable>(kTableNames, c.string(in[0]));
                           const int64_t size = c.i64(in[1]);
                           if (!table || !is_size(size)) return std::nullopt;
                           return host.of(answer(*table, size));
                         });
  };
  about_table("winograd-table", "Index", table_expr);
  about_table("winograd-table-type", "Type", [](WinogradTable table, int64_t size) {
    return Type{table_dims(table, size), DType::I32};
  });
  // The map that broadcasts a scalar to the transformed filter.
  egraph.add_primitive(
      "winograd-scale-view", Sorts{number, map, map}, map,
      [&host](Constants& c, Arguments in) -> std::optional<Value> {
        const auto convolution = winograd_convolution(host.map(in[1]), host.map(in[2]));
        const int64_t size = c.i64(in[0]);
        if (!convolution || !is_size(size)) return std::nullopt;
        const auto products = views_of(*convolution, WinogradStage::Products, size);
        return host.of(IndexMap(products.table.source_dims(), {}, {}));
      });
  egraph.add_primitive("winograd-scale", Sorts{number}, egraph.sort("Number"),
                       [&host](Constants& c, Arguments in) -> std::optional<Value> {
                         const int64_t size = c.i64(in[0]);
                         if (!is_size(size)) return std::nullopt;
                         return host.of(Number{DType::F32, filter_scale(size), 0});
                       });
}

}  // namespace luminal::search
