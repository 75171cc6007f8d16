#include "luminal/search/terms/term_primitives.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "luminal/search/terms/number_folding.h"
#include "luminal/search/terms/sum_primitives.h"
#include "luminal/search/terms/terms.h"
#include "luminal/search/terms/winograd_primitives.h"
#include "luminal/shape/expr/expr_size.h"
#include "luminal/shape/float_format.h"

namespace luminal::search {
namespace {

using egraph::Constants;
using egraph::SortId;
using egraph::Value;
using Arguments = std::span<const Value>;

std::optional<Value> if_true(bool holds) {
  if (!holds) return std::nullopt;
  return Constants::boolean(true);
}

// Limits composed maps: a value that is a view of itself, as a constant is, would get one through
// larger and larger maps. The views of real models are far smaller.
constexpr uint32_t kLargestIndex = 256;

bool is_large(Expr e) { return shape::tree_size(e) > kLargestIndex; }
bool is_large(const IndexMap& map) {
  return std::ranges::any_of(map.exprs(), [](Expr e) { return is_large(e); });
}

// Whether every value of `from` is representable in `to`.
bool casts_without_loss(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::U4 || to == DType::U4 || to == DType::Bool) return false;
  if (from == DType::Bool) return true;
  if (is_float(from)) {
    const FloatFormat a = float_format(from);
    return is_float(to) && float_format(to).mantissa >= a.mantissa &&
           float_format(to).exponent_bits >= a.exponent_bits;
  }
  auto magnitude = [](DType integer) { return bits(integer) - !is_unsigned(integer); };
  if (is_float(to)) return magnitude(from) <= float_format(to).mantissa + 1;
  return (is_unsigned(from) || !is_unsigned(to)) && magnitude(to) >= magnitude(from);
}

// Whether a cast to `through` and then to `to` equals a direct cast.
bool casts_compose(DType from, DType through, DType to) {
  if (from == DType::U4 || to == DType::U4) return false;
  if (casts_without_loss(from, through)) return true;
  return is_int(from) && is_int(through) && is_int(to) && bits(to) <= bits(through);
}

// Adds one primitive after the other, with sorts by their names.
class Adder {
 public:
  Adder(egraph::EGraph& egraph, HostValues& host) : egraph_(egraph), host_(host) {}

  void maps() {
    add("compose", {"Map", "Map"}, "Map",
        [&host = host_](Constants&, Arguments in) -> std::optional<Value> {
          const IndexMap& outer = host.map(in[0]);
          const IndexMap& inner = host.map(in[1]);
          if (!same_dims(outer.source_dims(), inner.dims())) return std::nullopt;
          return host.of(IndexMap::compose(outer, inner));
        });
    add("composed-is-small", {"Map", "Map"}, "bool", [&host = host_](Constants&, Arguments in) {
      const IndexMap& outer = host.map(in[0]);
      const IndexMap& inner = host.map(in[1]);
      if (is_large(outer) || is_large(inner)) return std::optional<Value>();
      // Maps that don't fit together are refused by compose.
      if (!same_dims(outer.source_dims(), inner.dims())) return if_true(true);
      return if_true(!is_large(IndexMap::compose(outer, inner)));
    });
    add("is-identity", {"Map"}, "bool", [&host = host_](Constants&, Arguments in) {
      return if_true(host.map(in[0]).is_identity());
    });
    add("index-through", {"Map", "Index"}, "Index",
        [&host = host_](Constants&, Arguments in) -> std::optional<Value> {
          const IndexMap& map = host.map(in[0]);
          if (!is_over(host.expr(in[1]), map.source_dims())) return std::nullopt;
          return host.of(map.apply(host.expr(in[1])));
        });
    add("index-through-is-small", {"Map", "Index"}, "bool",
        [&host = host_](Constants&, Arguments in) {
          const IndexMap& map = host.map(in[0]);
          const Expr index = host.expr(in[1]);
          if (is_large(map) || is_large(index)) return std::optional<Value>();
          if (!is_over(index, map.source_dims())) return if_true(true);
          return if_true(!is_large(map.apply(index)));
        });
    add("is-positive", {"Index"}, "bool", [&host = host_](Constants&, Arguments in) {
      return if_true(host.expr(in[0]).lower_bound() >= 1);
    });
    // Whether a view into the iteration space of a matrix product, […, columns, summed], reads the
    // same for all columns.
    add("repeats-over-columns", {"Map"}, "bool", [&host = host_](Constants&, Arguments in) {
      const IndexMap& map = host.map(in[0]);
      const int columns = static_cast<int>(map.dims().size()) - 2;
      return if_true(columns >= 0 && std::ranges::none_of(map.exprs(), [&](Expr e) {
                       return e.uses_index(columns);
                     }));
    });
    // The map that broadcasts a scalar to a type's dims.
    add("broadcast", {"Type"}, "Map", [&host = host_](Constants&, Arguments in) {
      return std::optional(host.of(IndexMap(host.type(in[0]).dims, {}, {})));
    });
    // The map that drops the innermost dim of a type, which has one element.
    add("squeeze-last", {"Type"}, "Map",
        [&host = host_](Constants&, Arguments in) -> std::optional<Value> {
          const Dims& dims = host.type(in[0]).dims;
          if (dims.empty() || !dims.back().is(1)) return std::nullopt;
          return host.of(IndexMap::squeeze(dims, static_cast<int>(dims.size()) - 1));
        });
  }

  void types() {
    add("type-of-number", {"Number"}, "Type", [&host = host_](Constants&, Arguments in) {
      return std::optional(host.of(Type{{}, host.number(in[0]).dtype}));
    });
    add("type-through", {"Map", "Type"}, "Type",
        [&host = host_](Constants&, Arguments in) -> std::optional<Value> {
          const IndexMap& map = host.map(in[0]);
          const Type& type = host.type(in[1]);
          if (!same_dims(map.source_dims(), type.dims)) return std::nullopt;
          return host.of(Type{map.dims(), type.dtype});
        });
    add("type-of-reduction", {"Index", "Type"}, "Type",
        [&host = host_](Constants&, Arguments in) -> std::optional<Value> {
          Type type = host.type(in[1]);
          if (type.dims.empty() || type.dims.back() != host.expr(in[0])) return std::nullopt;
          type.dims.pop_back();
          return host.of(type);
        });
    add("type-of-gather", {"Type", "Type"}, "Type",
        [&host = host_](Constants&, Arguments in) -> std::optional<Value> {
          const Type& data = host.type(in[0]);
          if (data.dims.empty()) return std::nullopt;
          Type type{host.type(in[1]).dims, data.dtype};
          type.dims.insert(type.dims.end(), data.dims.begin() + 1, data.dims.end());
          return host.of(type);
        });
    add("type-with-dtype", {"Type", "String"}, "Type", [&host = host_](Constants& c, Arguments in) {
      const std::optional<DType> dtype = dtype_from_name(c.string(in[1]));
      if (!dtype) return std::optional<Value>();
      return std::optional(host.of(Type{host.type(in[0]).dims, *dtype}));
    });
    add("dtype-of", {"Type"}, "String", [&host = host_](Constants& c, Arguments in) {
      return std::optional(c.intern(name(host.type(in[0]).dtype)));
    });
    add("has-dims", {"Type"}, "bool", [&host = host_](Constants&, Arguments in) {
      return if_true(!host.type(in[0]).dims.empty());
    });
    add("is-scalar", {"Type"}, "bool", [&host = host_](Constants&, Arguments in) {
      return if_true(host.type(in[0]).dims.empty());
    });
    add("has-no-elements", {"Type"}, "bool", [&host = host_](Constants&, Arguments in) {
      const Dims& dims = host.type(in[0]).dims;
      return if_true(std::any_of(dims.begin(), dims.end(), [](Expr dim) { return dim.is(0); }));
    });
    add("ends-in-one", {"Type"}, "bool", [&host = host_](Constants&, Arguments in) {
      const Dims& dims = host.type(in[0]).dims;
      return if_true(!dims.empty() && dims.back().is(1));
    });
    add("has-no-nan", {"Type"}, "bool", [&host = host_](Constants&, Arguments in) {
      return if_true(!is_float(host.type(in[0]).dtype));
    });
    // Iotas count in i64, so only for that type a cast loses no wrap-around.
    add("iota-as", {"Type", "String"}, "Type", [&host = host_](Constants& c, Arguments in) {
      const Type& type = host.type(in[0]);
      const std::optional<DType> dtype = dtype_from_name(c.string(in[1]));
      if (type.dtype != DType::I64 || !dtype) return std::optional<Value>();
      return std::optional(host.of(Type{type.dims, *dtype}));
    });
  }

  // Dims of a type, from which patterns take their sizes.
  void dims() {
    add("rank-of", {"Type"}, "i64", [&host = host_](Constants& c, Arguments in) {
      return std::optional(c.intern(std::ssize(host.type(in[0]).dims)));
    });
    add("last-dim-of", {"Type"}, "Index",
        [&host = host_](Constants&, Arguments in) -> std::optional<Value> {
          const Dims& dims = host.type(in[0]).dims;
          if (dims.empty()) return std::nullopt;
          return host.of(dims.back());
        });
    // The elements of a type without its innermost dim.
    add("rows-of", {"Type"}, "Index",
        [&host = host_](Constants&, Arguments in) -> std::optional<Value> {
          Dims dims = host.type(in[0]).dims;
          if (dims.empty()) return std::nullopt;
          dims.pop_back();
          return host.of(n_elements(dims));
        });
  }

  void dtypes() {
    add("is-integer-dtype", {"String"}, "bool", [](Constants& c, Arguments in) {
      const std::optional<DType> dtype = dtype_from_name(c.string(in[0]));
      return if_true(dtype && is_int(*dtype));
    });
    // Both say false too, for rules about the other dtypes.
    add("is-half-dtype", {"String"}, "bool", [](Constants& c, Arguments in) {
      const std::optional<DType> dtype = dtype_from_name(c.string(in[0]));
      return std::optional(Constants::boolean(dtype && is_half(*dtype)));
    });
    add("widens-half", {"Type", "String"}, "bool", [&host = host_](Constants& c, Arguments in) {
      const bool from_half = is_half(host.type(in[0]).dtype);
      return std::optional(
          Constants::boolean(from_half && dtype_from_name(c.string(in[1])) == DType::F32));
    });
    add("casts-compose", {"Type", "String", "String"}, "bool",
        [&host = host_](Constants& c, Arguments in) {
          const std::optional<DType> through = dtype_from_name(c.string(in[1]));
          const std::optional<DType> to = dtype_from_name(c.string(in[2]));
          return if_true(through && to && casts_compose(host.type(in[0]).dtype, *through, *to));
        });
    // Whether a reduction over one element is bit-identical to it: a float sum starts from 0, and 0
    // + -0 is 0.
    add("starts-from-neutral", {"String", "Type"}, "bool",
        [&host = host_](Constants& c, Arguments in) {
          const std::optional<Reducer> reducer = reducer_from_name(c.string(in[0]));
          return if_true(reducer &&
                         (*reducer != Reducer::Sum || !is_float(host.type(in[1]).dtype)));
        });
  }

  void numbers() {
    about_number("adds-nothing", adds_nothing);
    about_number("is-zero", is_float_zero);
    about_number("is-one", is_one);
    about_number("is-integer-zero", is_integer_zero);
    about_number("is-true", is_true);
    about_number("is-false", is_false);
    about_number("has-all-bits", has_all_bits);
    add("real-of", {"Number"}, "f64", [&host = host_](Constants& c, Arguments in) {
      const Number& number = host.number(in[0]);
      return std::optional(
          c.intern(is_float(number.dtype) ? number.real : static_cast<double>(number.integer)));
    });
    make_number("rest-by-unit", {"Number"}, [&host = host_](Constants&, Arguments in) {
      return rest_by_unit(host.number(in[0]));
    });
    make_number("normal-product", {"Number", "Number"}, [&host = host_](Constants&, Arguments in) {
      return normal_product(host.number(in[0]), host.number(in[1]));
    });
    make_number("truth", {"bool"}, [](Constants&, Arguments in) {
      return std::optional(Number{DType::Bool, 0, in[0] == Constants::boolean(true)});
    });
    make_number("fold", {"String", "Number"}, [&host = host_](Constants& c, Arguments in) {
      return fold(c.string(in[0]), {host.number(in[1])});
    });
    make_number("fold-two", {"String", "Number", "Number"},
                [&host = host_](Constants& c, Arguments in) {
                  return fold(c.string(in[0]), {host.number(in[1]), host.number(in[2])});
                });
    make_number("fold-to", {"String", "String", "Number"},
                [&host = host_](Constants& c, Arguments in) {
                  return fold_to(c.string(in[0]), c.string(in[1]), host.number(in[2]));
                });
    make_number("empty-reduction", {"String", "Index", "Type"},
                [&host = host_](Constants& c, Arguments in) {
                  return empty_reduction(c.string(in[0]), host.expr(in[1]), host.type(in[2]).dtype);
                });
    make_number("index-constant", {"Index", "Type"}, [&host = host_](Constants&, Arguments in) {
      return index_constant(host.expr(in[0]), host.type(in[1]).dtype);
    });
  }

 private:
  void add(const char* name, std::vector<const char*> inputs, const char* output,
           egraph::PrimitiveFunction answer) {
    std::vector<SortId> sorts;
    for (const char* input : inputs) sorts.push_back(egraph_.sort(input));
    const auto is_interned = [](std::string_view sort) {
      return sort == "String" || sort == "i64" || sort == "f64";
    };
    if (!is_interned(output) && std::ranges::none_of(inputs, is_interned)) {
      answer = remembering(std::move(answer));
    }
    egraph_.add_primitive(name, std::move(sorts), egraph_.sort(output), std::move(answer));
  }

  void about_number(const char* name, bool (*holds)(const Number&)) {
    add(name, {"Number"}, "bool", [&host = host_, holds](Constants&, Arguments in) {
      return if_true(holds(host.number(in[0])));
    });
  }

  template <typename Make>
  void make_number(const char* name, std::vector<const char*> inputs, Make make) {
    add(name, std::move(inputs), "Number",
        [&host = host_, make](Constants& c, Arguments in) -> std::optional<Value> {
          const std::optional<Number> number = make(c, in);
          if (!number) return std::nullopt;
          return host.of(*number);
        });
  }

  egraph::EGraph& egraph_;
  HostValues& host_;
};

}  // namespace

egraph::PrimitiveFunction remembering(egraph::PrimitiveFunction answer) {
  auto known = std::make_shared<std::map<std::vector<Value>, std::optional<Value>>>();
  return [known, answer = std::move(answer)](Constants& constants, Arguments in) {
    auto [entry, is_new] = known->try_emplace(std::vector(in.begin(), in.end()));
    if (is_new) entry->second = answer(constants, in);
    return entry->second;
  };
}

void add_primitives(egraph::EGraph& egraph, HostValues& host) {
  Adder adder(egraph, host);
  adder.maps();
  adder.types();
  adder.dims();
  adder.dtypes();
  adder.numbers();
  add_sum_primitives(egraph, host);
  add_weight_primitives(egraph, host);
  add_gather_primitives(egraph, host);
  add_winograd_primitives(egraph, host);
}

}  // namespace luminal::search
