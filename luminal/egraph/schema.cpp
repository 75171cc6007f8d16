#include "luminal/egraph/schema.h"

#include "luminal/base/errors.h"

#include <utility>

namespace luminal::egraph {
namespace {

template <typename Map>
auto find_in(const Map& map, std::string_view name) -> std::optional<typename Map::mapped_type> {
  const auto entry = map.find(name);
  if (entry == map.end()) return std::nullopt;
  return entry->second;
}

}  // namespace

Schema::Schema() {
  add(Sort{.name = "Unit", .kind = SortKind::Unit, .print = {}});
  add(Sort{.name = "bool", .kind = SortKind::Bool, .print = {}});
  add(Sort{.name = "i64", .kind = SortKind::I64, .print = {}});
  add(Sort{.name = "f64", .kind = SortKind::F64, .print = {}});
  add(Sort{.name = "String", .kind = SortKind::String, .print = {}});
  add(Sort{.name = "BigInt", .kind = SortKind::BigInt, .print = {}});
}

SortId Schema::add(Sort sort) {
  const SortId id{static_cast<uint32_t>(sorts_.size())};
  if (!sort_names_.emplace(sort.name, id).second) {
    throw UserError("sort '" + sort.name + "' is declared already; choose another name");
  }
  sorts_.push_back(std::move(sort));
  return id;
}

FunctionId Schema::add(Function function) {
  const FunctionId id{static_cast<uint32_t>(functions_.size())};
  if (function.inputs.size() > kMaxInputs) {
    throw UserError("'" + function.name + "' takes " + std::to_string(function.inputs.size()) +
                    " arguments; at most " + std::to_string(kMaxInputs) +
                    " fit: group some in a constructor of their own");
  }
  if (primitive_names_.contains(function.name)) {
    throw UserError("'" + function.name + "' is a primitive already; choose another name");
  }
  if (!function_names_.emplace(function.name, id).second) {
    throw UserError("'" + function.name + "' is declared already; choose another name");
  }
  functions_.push_back(std::move(function));
  return id;
}

PrimitiveId Schema::add(Primitive primitive) {
  const PrimitiveId id{static_cast<uint32_t>(primitives_.size())};
  if (function_names_.contains(primitive.name)) {
    throw UserError("'" + primitive.name + "' is a function already; choose another name");
  }
  std::vector<PrimitiveId>& overloads = primitive_names_[primitive.name];
  for (PrimitiveId other : overloads) {
    // Built-in container primitives may share argument sorts if their outputs differ.
    const Primitive& known = primitives_[other.index()];
    const bool told_apart = known.output != primitive.output && !known.host && !primitive.host;
    if (!known.any_sort && known.inputs == primitive.inputs && !told_apart) {
      throw UserError("primitive '" + primitive.name +
                      "' is declared already for these argument sorts; choose another name");
    }
  }
  overloads.push_back(id);
  primitives_.push_back(std::move(primitive));
  return id;
}

void Schema::watch_host_primitives(const HostCallWatcher& watcher) {
  for (uint32_t i = 0; i < primitives_.size(); ++i) {
    Primitive& primitive = primitives_[i];
    if (!primitive.host) continue;
    primitive.run = [run = primitive.run, watcher, id = PrimitiveId{i}](
                        Constants& constants, std::span<const Value> arguments) {
      const std::optional<Value> result = run(constants, arguments);
      watcher(id, arguments, result);
      return result;
    };
  }
}

std::optional<SortId> Schema::find_sort(std::string_view name) const {
  return find_in(sort_names_, name);
}

std::optional<FunctionId> Schema::find_function(std::string_view name) const {
  return find_in(function_names_, name);
}

const std::vector<PrimitiveId>& Schema::find_primitives(std::string_view name) const {
  static const std::vector<PrimitiveId> kNone;
  const auto entry = primitive_names_.find(name);
  return entry == primitive_names_.end() ? kNone : entry->second;
}

}  // namespace luminal::egraph
