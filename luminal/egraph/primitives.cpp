#include "luminal/egraph/primitives.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace luminal::egraph {
namespace {

using Arguments = std::span<const Value>;
using Result = std::optional<Value>;

Result holds(bool condition) {
  if (!condition) return std::nullopt;
  return Constants::unit();
}

// Adds one primitive after another, over arguments of one sort.
struct Adder {
  Schema& schema;

  void add(const char* name, std::vector<SortId> inputs, SortId output, PrimitiveFunction run) {
    schema.add(Primitive{
        .name = name, .inputs = std::move(inputs), .output = output, .run = std::move(run)});
  }

  // `f(a, b)` returns optional<int64_t>.
  template <typename F>
  void i64(const char* name, F f) {
    const SortId sort = schema.i64();
    add(name, {sort, sort}, sort, [f](Constants& constants, Arguments a) -> Result {
      const std::optional<int64_t> result = f(constants.i64(a[0]), constants.i64(a[1]));
      if (!result) return std::nullopt;
      return constants.intern(*result);
    });
  }

  template <typename F>
  void f64(const char* name, F f) {
    const SortId sort = schema.f64();
    add(name, {sort, sort}, sort, [f](Constants& constants, Arguments a) -> Result {
      const std::optional<double> result = f(constants.f64(a[0]), constants.f64(a[1]));
      if (!result) return std::nullopt;
      return constants.intern(*result);
    });
  }

  template <typename F>
  void logic(const char* name, F f) {
    const SortId sort = schema.boolean();
    add(name, {sort, sort}, sort, [f](Constants&, Arguments a) -> Result {
      return Constants::boolean(f(Constants::is_true(a[0]), Constants::is_true(a[1])));
    });
  }

  // `<` that holds or doesn't, and `bool-<`, for i64 and f64.
  template <typename F>
  void comparison(const char* holds_name, const char* bool_name, F f) {
    const SortId integer = schema.i64(), real = schema.f64();
    const auto on_i64 = [f](Constants& c, Arguments a) { return f(c.i64(a[0]), c.i64(a[1])); };
    const auto on_f64 = [f](Constants& c, Arguments a) { return f(c.f64(a[0]), c.f64(a[1])); };
    if (holds_name != nullptr) {
      add(holds_name, {integer, integer}, schema.unit(),
          [on_i64](Constants& c, Arguments a) { return holds(on_i64(c, a)); });
      add(holds_name, {real, real}, schema.unit(),
          [on_f64](Constants& c, Arguments a) { return holds(on_f64(c, a)); });
    }
    add(bool_name, {integer, integer}, schema.boolean(),
        [on_i64](Constants& c, Arguments a) -> Result { return c.boolean(on_i64(c, a)); });
    add(bool_name, {real, real}, schema.boolean(),
        [on_f64](Constants& c, Arguments a) -> Result { return c.boolean(on_f64(c, a)); });
  }
};

// Division truncates towards zero, and the remainder has the sign of the dividend.
bool can_divide(int64_t a, int64_t b) {
  return b != 0 && !(a == std::numeric_limits<int64_t>::min() && b == -1);
}

using MaybeInt = std::optional<int64_t>;
using MaybeReal = std::optional<double>;

void add_integers(Adder& to) {
  to.i64("+", [](int64_t a, int64_t b) -> MaybeInt {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? MaybeInt() : sum;
  });
  to.i64("-", [](int64_t a, int64_t b) -> MaybeInt {
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? MaybeInt() : difference;
  });
  to.i64("*", [](int64_t a, int64_t b) -> MaybeInt {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? MaybeInt() : product;
  });
  to.i64("/", [](int64_t a, int64_t b) { return can_divide(a, b) ? MaybeInt(a / b) : MaybeInt(); });
  to.i64("%", [](int64_t a, int64_t b) { return can_divide(a, b) ? MaybeInt(a % b) : MaybeInt(); });
  to.i64("&", [](int64_t a, int64_t b) { return MaybeInt(a & b); });
  to.i64("|", [](int64_t a, int64_t b) { return MaybeInt(a | b); });
  to.i64("^", [](int64_t a, int64_t b) { return MaybeInt(a ^ b); });
  to.i64("<<", [](int64_t a, int64_t b) {
    return b >= 0 && b < 64 ? MaybeInt(static_cast<int64_t>(static_cast<uint64_t>(a) << b))
                            : MaybeInt();
  });
  to.i64(">>",
         [](int64_t a, int64_t b) { return b >= 0 && b < 64 ? MaybeInt(a >> b) : MaybeInt(); });
  to.i64("min", [](int64_t a, int64_t b) { return MaybeInt(std::min(a, b)); });
  to.i64("max", [](int64_t a, int64_t b) { return MaybeInt(std::max(a, b)); });
}

void add_reals(Adder& to) {
  to.f64("+", [](double a, double b) { return MaybeReal(a + b); });
  to.f64("-", [](double a, double b) { return MaybeReal(a - b); });
  to.f64("*", [](double a, double b) { return MaybeReal(a * b); });
  to.f64("/", [](double a, double b) { return b != 0 ? MaybeReal(a / b) : MaybeReal(); });
  to.f64("%", [](double a, double b) { return b != 0 ? MaybeReal(std::fmod(a, b)) : MaybeReal(); });
  to.f64("^", [](double a, double b) { return MaybeReal(std::pow(a, b)); });
  to.f64("min", [](double a, double b) { return MaybeReal(b < a ? b : a); });
  to.f64("max", [](double a, double b) { return MaybeReal(a < b ? b : a); });
}

void add_conversions(Adder& to) {
  const SortId integer = to.schema.i64(), real = to.schema.f64(), string = to.schema.string();
  to.add("to-f64", {integer}, real, [](Constants& c, Arguments a) -> Result {
    return c.intern(static_cast<double>(c.i64(a[0])));
  });
  to.add("to-i64", {real}, integer, [](Constants& c, Arguments a) -> Result {
    const double number = c.f64(a[0]);
    if (!(number >= -0x1p63 && number < 0x1p63)) return std::nullopt;
    return c.intern(static_cast<int64_t>(number));
  });
  to.add("to-string", {integer}, string,
         [](Constants& c, Arguments a) -> Result { return c.intern(std::to_string(c.i64(a[0]))); });
  to.add("+", {string, string}, string, [](Constants& c, Arguments a) -> Result {
    return c.intern(c.string(a[0]) + c.string(a[1]));
  });
  to.add("neg", {real}, real,
         [](Constants& c, Arguments a) -> Result { return c.intern(-c.f64(a[0])); });
  to.add("abs", {real}, real,
         [](Constants& c, Arguments a) -> Result { return c.intern(std::abs(c.f64(a[0]))); });
}

}  // namespace

void add_builtin_primitives(Schema& schema) {
  Adder to{schema};
  add_integers(to);
  add_reals(to);
  add_conversions(to);
  to.comparison("<", "bool-<", [](auto a, auto b) { return a < b; });
  to.comparison(">", "bool->", [](auto a, auto b) { return a > b; });
  to.comparison("<=", "bool-<=", [](auto a, auto b) { return a <= b; });
  to.comparison(">=", "bool->=", [](auto a, auto b) { return a >= b; });
  to.comparison(nullptr, "bool-=", [](auto a, auto b) { return a == b; });
  to.logic("and", [](bool a, bool b) { return a && b; });
  to.logic("or", [](bool a, bool b) { return a || b; });
  to.logic("xor", [](bool a, bool b) { return a != b; });
  to.logic("=>", [](bool a, bool b) { return !a || b; });
  to.add("not", {schema.boolean()}, schema.boolean(), [](Constants&, Arguments a) -> Result {
    return Constants::boolean(!Constants::is_true(a[0]));
  });
  schema.add(Primitive{
      .name = "!=",
      .inputs = {},
      .output = schema.unit(),
      .run = [](Constants&, Arguments a) -> Result { return holds(a[0] != a[1]); },
      .any_sort = true,
  });
}

}  // namespace luminal::egraph
