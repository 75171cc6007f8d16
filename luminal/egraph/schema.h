// Schema: the sorts, functions and primitives that programs and hosts declare.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/constants.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::egraph {

enum class SortKind : uint8_t {
  Unit,
  Bool,
  I64,
  F64,
  String,
  BigInt,
  Host,
  Container,
  Equality,
};

// Prints a value of a host sort in dumps, extracted terms and error messages.
using HostPrinter = std::function<std::string(Value)>;

struct Sort {
  std::string name;
  SortKind kind = SortKind::Equality;
  HostPrinter print;  // host sorts
};

// The rows of a constructor are the nodes of classes; a relation holds or doesn't; a function has
// one value per arguments, and its merge combines two of them.
enum class FunctionKind : uint8_t { Constructor, Relation, Function };

struct Function {
  std::string name;
  FunctionKind kind = FunctionKind::Constructor;
  std::vector<SortId> inputs;
  SortId output;
  uint64_t cost = 1;  // of one node in an extracted term
  bool extractable = true;
};

// Must be pure: equal arguments give equal results at any time. No result means that a query
// doesn't match; in an action it is an error that names the rule.
using PrimitiveFunction =
    std::function<std::optional<Value>(Constants& constants, std::span<const Value> arguments)>;

struct Primitive {
  std::string name;
  std::vector<SortId> inputs;
  SortId output;
  PrimitiveFunction run;
  bool host = false;
  // Takes two arguments of any one sort; `inputs` is empty, an invalid output means that sort.
  bool any_sort = false;
  bool variadic = false;  // takes any number of arguments of the only sort in `inputs`
};

// Observes calls of host primitives: the arguments, and the result or none.
using HostCallWatcher = std::function<void(PrimitiveId primitive, std::span<const Value> arguments,
                                           std::optional<Value> result)>;

// Names are unique among sorts, and among functions and primitives; a primitive's name may be
// overloaded by argument sorts. UserError on a clash.
class LUMINAL_API Schema {
 public:
  // The maximum number of arguments of a function.
  static constexpr size_t kMaxInputs = 62;

  Schema();

  SortId add(Sort sort);
  FunctionId add(Function function);
  PrimitiveId add(Primitive primitive);
  // From now on the watcher observes each call of the host primitives declared so far.
  void watch_host_primitives(const HostCallWatcher& watcher);

  std::optional<SortId> find_sort(std::string_view name) const;
  std::optional<FunctionId> find_function(std::string_view name) const;
  // All overloads of a name, in the order they were added; empty if there are none.
  const std::vector<PrimitiveId>& find_primitives(std::string_view name) const;

  const Sort& sort(SortId id) const { return sorts_[id.index()]; }
  const Function& function(FunctionId id) const { return functions_[id.index()]; }
  const Primitive& primitive(PrimitiveId id) const { return primitives_[id.index()]; }
  const std::vector<Sort>& sorts() const { return sorts_; }
  const std::vector<Function>& functions() const { return functions_; }

  bool is_equality(SortId id) const { return sort(id).kind == SortKind::Equality; }

  SortId unit() const { return SortId{0}; }
  SortId boolean() const { return SortId{1}; }
  SortId i64() const { return SortId{2}; }
  SortId f64() const { return SortId{3}; }
  SortId string() const { return SortId{4}; }
  SortId bigint() const { return SortId{5}; }

 private:
  std::vector<Sort> sorts_;
  std::vector<Function> functions_;
  std::vector<Primitive> primitives_;
  std::map<std::string, SortId, std::less<>> sort_names_;
  std::map<std::string, FunctionId, std::less<>> function_names_;
  std::map<std::string, std::vector<PrimitiveId>, std::less<>> primitive_names_;
};

}  // namespace luminal::egraph
