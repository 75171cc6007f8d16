#include "luminal/egraph/primitives/primitives.h"

#include <algorithm>

namespace luminal::egraph {
namespace {

using Arguments = std::span<const Value>;
using Result = std::optional<Value>;

Result holds(bool condition) {
  if (!condition) return std::nullopt;
  return Constants::unit();
}

}  // namespace

void add_bool_primitives(PrimitiveAdder& to) {
  to.add<bool>("not", [](bool a) { return !a; });
  to.add<bool, bool>("and", [](bool a, bool b) { return a && b; });
  to.add<bool, bool>("or", [](bool a, bool b) { return a || b; });
  to.add<bool, bool>("xor", [](bool a, bool b) { return a != b; });
  to.add<bool, bool>("=>", [](bool a, bool b) { return !a || b; });
}

void add_builtin_primitives(Schema& schema) {
  PrimitiveAdder to(schema);
  add_i64_primitives(to);
  add_f64_primitives(to);
  add_string_primitives(to);
  add_bool_primitives(to);
  add_bigint_primitives(to);
  to.add_any_sort("!=", schema.unit(), [](Constants&, Arguments a) { return holds(a[0] != a[1]); });
  to.add_any_sort("value-eq", schema.unit(),
                  [](Constants&, Arguments a) { return holds(a[0] == a[1]); });
  // An arbitrary but fixed order, which is enough for a merge to choose one of two values.
  to.add_any_sort("ordering-min", SortId{},
                  [](Constants&, Arguments a) -> Result { return std::min(a[0], a[1]); });
  to.add_any_sort("ordering-max", SortId{},
                  [](Constants&, Arguments a) -> Result { return std::max(a[0], a[1]); });
}

}  // namespace luminal::egraph
