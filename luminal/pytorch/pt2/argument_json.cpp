#include "luminal/pytorch/pt2/argument_json.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"
#include "luminal/pytorch/pt2/json_values.h"

namespace luminal::pytorch {
namespace {

using Json = nlohmann::json;

// Numbers of the schema, in its order.
struct NumberedDType {
  int64_t number;
  std::string_view name;
  std::optional<DType> dtype;
};
constexpr NumberedDType kDTypes[] = {
    {1, "uint8", DType::U8},
    {2, "int8", DType::I8},
    {3, "int16", DType::I16},
    {4, "int32", DType::I32},
    {5, "int64", DType::I64},
    {6, "float16", DType::F16},
    {7, "float32", DType::F32},
    {8, "float64", DType::F64},
    {9, "complex32", std::nullopt},
    {10, "complex64", std::nullopt},
    {11, "complex128", std::nullopt},
    {12, "bool", DType::Bool},
    {13, "bfloat16", DType::BF16},
    {28, "uint16", std::nullopt},
    {29, "float8_e4m3fn", std::nullopt},
    {30, "float8_e5m2", std::nullopt},
};

// Infinities and NaN are words.
double real_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto& word = json.get_ref<const std::string&>();
  if (word == "Infinity") return std::numeric_limits<double>::infinity();
  if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  throw UserError(fmt::format("{} is no number", io::quote(word)));
}

// {"as_name": "sym_size_int"}, {"as_int": 4}
Argument number_of(const Json& json, const Scope& scope) {
  const auto& [kind, value] = tagged(json);
  if (kind == "as_name") return scope.value(name_of(value));
  if (kind == "as_int") return {integer_of(value)};
  if (kind == "as_bool") return {value.get<bool>()};
  return {real_of(value)};
}

Argument item_of(const std::string& kind, const Json& value, const Scope& scope) {
  if (kind == "as_ints") return {integer_of(value)};
  if (kind == "as_floats") return {real_of(value)};
  if (kind == "as_bools") return {value.get<bool>()};
  if (kind == "as_strings") return {value.get<std::string>()};
  if (kind == "as_tensors") return scope.value(name_of(value.at("name")));
  if (kind == "as_optional_tensors") return argument_of(value, scope);
  return number_of(value, scope);
}

bool is_list(std::string_view kind) {
  return kind == "as_ints" || kind == "as_floats" || kind == "as_bools" || kind == "as_strings" ||
         kind == "as_sym_ints" || kind == "as_tensors" || kind == "as_optional_tensors" ||
         kind == "as_sym_floats";
}

}  // namespace

Tagged tagged(const Json& json) {
  if (!json.is_object() || json.empty()) throw UserError("a tagged union has no field");
  return {json.begin().key(), json.begin().value()};
}

Argument Scope::value(const std::string& name) const {
  const auto found = known.find(name);
  return found == known.end() ? Argument{Ref{prefix + name}} : found->second;
}

std::string Scope::result(const std::string& name) const {
  const auto found = known.find(name);
  const auto* ref = found == known.end() ? nullptr : std::get_if<Ref>(&found->second.value);
  return ref == nullptr ? prefix + name : ref->name;
}

Argument argument_of(const Json& json, const Scope& scope) {
  const auto& [kind, value] = tagged(json);
  if (kind == "as_none" || kind == "as_graph") return {};
  if (kind == "as_tensor") return scope.value(name_of(value.at("name")));
  if (kind == "as_int") return {integer_of(value)};
  if (kind == "as_bool") return {value.get<bool>()};
  if (kind == "as_float") return {real_of(value)};
  if (kind == "as_string") return {value.get<std::string>()};
  if (kind == "as_scalar_type") return {dtype_by_number(integer_of(value), "an argument")};
  if (kind == "as_device") return {value.at("type").get<std::string>()};
  if (kind == "as_memory_format" || kind == "as_layout") return {std::string(kind.substr(3))};
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
    return number_of(value, scope);
  }
  if (!is_list(kind)) {
    throw UserError(fmt::format("an argument of kind {} isn't supported", io::quote(kind)));
  }
  Argument::List list;
  for (const Json& each : value) list.push_back(item_of(kind, each, scope));
  return {std::move(list)};
}

DType dtype_by_number(int64_t number, std::string_view of) {
  for (const NumberedDType& each : kDTypes) {
    if (each.number != number) continue;
    if (each.dtype) return *each.dtype;
    throw UserError(fmt::format("{} is {}, which the library lacks", io::quote(of), each.name));
  }
  throw UserError(fmt::format("{} has dtype number {}, which isn't known", io::quote(of), number));
}

}  // namespace luminal::pytorch
