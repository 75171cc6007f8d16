// PrimitiveAdder: makes primitives over values from C++ functions over plain types.
#pragma once

#include "luminal/egraph/bigint.h"
#include "luminal/egraph/constants.h"
#include "luminal/egraph/schema.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace luminal::egraph {

struct Unit {};

// The sort of a C++ type, and how its values are read and created.
template <typename T>
struct BaseType;

template <>
struct BaseType<Unit> {
  static SortId sort(const Schema& schema) { return schema.unit(); }
  static Value put(Constants&, Unit) { return Constants::unit(); }
};
template <>
struct BaseType<bool> {
  static SortId sort(const Schema& schema) { return schema.boolean(); }
  static bool get(const Constants&, Value value) { return Constants::is_true(value); }
  static Value put(Constants&, bool value) { return Constants::boolean(value); }
};
template <>
struct BaseType<int64_t> {
  static SortId sort(const Schema& schema) { return schema.i64(); }
  static int64_t get(const Constants& constants, Value value) { return constants.i64(value); }
  static Value put(Constants& constants, int64_t value) { return constants.intern(value); }
};
template <>
struct BaseType<double> {
  static SortId sort(const Schema& schema) { return schema.f64(); }
  static double get(const Constants& constants, Value value) { return constants.f64(value); }
  static Value put(Constants& constants, double value) { return constants.intern(value); }
};
template <>
struct BaseType<std::string> {
  static SortId sort(const Schema& schema) { return schema.string(); }
  static const std::string& get(const Constants& constants, Value value) {
    return constants.string(value);
  }
  static Value put(Constants& constants, const std::string& value) {
    return constants.intern(std::string_view(value));
  }
};
template <>
struct BaseType<BigInt> {
  static SortId sort(const Schema& schema) { return schema.bigint(); }
  static const BigInt& get(const Constants& constants, Value value) {
    return constants.bigint(value);
  }
  static Value put(Constants& constants, const BigInt& value) { return constants.intern(value); }
};

template <typename T>
struct ResultType {
  using type = T;
};
template <typename T>
struct ResultType<std::optional<T>> {
  using type = T;
};

class PrimitiveAdder {
 public:
  explicit PrimitiveAdder(Schema& schema) : schema_(schema) {}

  const Schema& schema() const { return schema_; }

  // `f` returns a T, or optional<T> if it may have no result.
  template <typename... Args, typename F>
  void add(const char* name, F f) {
    using Result = std::invoke_result_t<F, const Args&...>;
    using T = typename ResultType<Result>::type;
    add(name, {BaseType<Args>::sort(schema_)...}, BaseType<T>::sort(schema_),
        [f](Constants& constants, std::span<const Value> values) -> std::optional<Value> {
          const Result result =
              call<Args...>(f, constants, values, std::index_sequence_for<Args...>());
          if constexpr (std::same_as<Result, T>) {
            return BaseType<T>::put(constants, result);
          } else {
            if (!result) return std::nullopt;
            return BaseType<T>::put(constants, *result);
          }
        });
  }

  // `f` is a predicate; if it is false, a query doesn't match.
  template <typename... Args, typename F>
  void add_test(const char* name, F f) {
    add<Args...>(name, [f](const Args&... args) {
      return f(args...) ? std::optional(Unit{}) : std::nullopt;
    });
  }

  // A primitive over raw values.
  void add(const char* name, std::vector<SortId> inputs, SortId output, PrimitiveFunction run) {
    schema_.add(Primitive{
        .name = name, .inputs = std::move(inputs), .output = output, .run = std::move(run)});
  }
  // A primitive over any number of arguments of one sort.
  void add_variadic(const char* name, SortId input, SortId output, PrimitiveFunction run) {
    schema_.add(Primitive{.name = name,
                          .inputs = {input},
                          .output = output,
                          .run = std::move(run),
                          .variadic = true});
  }
  // A primitive over two arguments of any one sort; an invalid `output` means that same sort.
  void add_any_sort(const char* name, SortId output, PrimitiveFunction run) {
    schema_.add(Primitive{
        .name = name, .inputs = {}, .output = output, .run = std::move(run), .any_sort = true});
  }

 private:
  template <typename... Args, typename F, size_t... i>
  static auto call(const F& f, const Constants& constants, std::span<const Value> values,
                   std::index_sequence<i...>) {
    return f(BaseType<Args>::get(constants, values[i])...);
  }

  Schema& schema_;
};

}  // namespace luminal::egraph
