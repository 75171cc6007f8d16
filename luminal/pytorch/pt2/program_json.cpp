#include "luminal/pytorch/pt2/program_json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/base/text/json_depth.h"
#include "luminal/io/file/json_fault.h"
#include "luminal/io/file/quote.h"
#include "luminal/pytorch/pt2/symbols.h"

namespace luminal::pytorch {
namespace {

using Json = nlohmann::json;

constexpr int kSchemaMajor = 8;
constexpr int kDeepestJson = 64;

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

// A tagged union: an object of one field, whose name is the kind.
struct Tagged {
  std::string kind;
  const Json& json;
};
Tagged tagged(const Json& json) {
  if (!json.is_object() || json.empty()) throw UserError("a tagged union has no field");
  return {json.begin().key(), json.begin().value()};
}

class ProgramReader {
 public:
  ProgramReader(const Json& json, const std::string& source) : json_(json) {
    program_.source = source;
  }

  ExportedProgram all() {
    check_version();
    read_ranges();
    const Json& module = json_.at("graph_module");
    const Json& graph = module.at("graph");
    tensors_ = &graph.at("tensor_values");
    numbers_ = &graph.at("sym_int_values");
    for (const Json& spec : module.at("signature").at("input_specs")) read_input(spec);
    for (const Json& node : graph.at("nodes")) read_node(node);
    for (const Json& spec : module.at("signature").at("output_specs")) read_output(spec);
    if (const auto guards = json_.find("guards_code"); guards != json_.end()) {
      for (const Json& guard : *guards) program_.guards.push_back(guard.get<std::string>());
    }
    return std::move(program_);
  }

 private:
  void check_version() const {
    const Json& version = json_.at("schema_version");
    const int major = version.at("major").get<int>();
    if (major == kSchemaMajor) return;
    throw UserError(
        fmt::format("schema version {}.{} isn't known, {}.x is: save it again with "
                    "torch 2.8 or newer",
                    major, version.at("minor").get<int>(), kSchemaMajor));
  }

  void read_ranges() {
    for (const auto& [name, range] : json_.at("range_constraints").items()) {
      const Json &lower = range.at("min_val"), &upper = range.at("max_val");
      symbols_.set_range(
          name, lower.is_null() ? 0 : lower.get<int64_t>(),
          upper.is_null() ? std::numeric_limits<int64_t>::max() : upper.get<int64_t>());
    }
  }

  // {"as_int": 3}, {"as_expr": {"expr_str": "…"}}
  Expr size(const Json& json) const {
    if (const auto integer = json.find("as_int"); integer != json.end()) {
      return integer->get<int64_t>();
    }
    return symbols_.parse(json.at("as_expr").at("expr_str").get_ref<const std::string&>());
  }

  void describe_tensor(const std::string& name, ProgramInput& input) const {
    const Json& meta = tensors_->at(name);
    input.dtype = dtype_by_number(meta.at("dtype").get<int64_t>(), name);
    for (const Json& dim : meta.at("sizes")) input.dims.push_back(size(dim));
  }

  void read_input(const Json& spec) {
    ProgramInput input{};
    const auto& [kind, json] = tagged(spec);
    if (kind == "user_input") return read_user_input(json.at("arg"));
    if (kind == "constant_input") {
      input.role = InputRole::Literal;
      input.name = json.at("name").get<std::string>();
      input.literal = argument(json.at("value"));
      program_.inputs.push_back(std::move(input));
      return;
    }
    if (kind == "parameter") {
      input.role = InputRole::Parameter;
      input.path = json.at("parameter_name").get<std::string>();
    } else if (kind == "buffer") {
      input.role = InputRole::Buffer;
      input.path = json.at("buffer_name").get<std::string>();
    } else if (kind == "tensor_constant") {
      input.role = InputRole::Constant;
      input.path = json.at("tensor_constant_name").get<std::string>();
    } else {
      throw UserError(
          fmt::format("an input of kind {} can't be read without Python: tensors and "
                      "numbers can",
                      io::quote(kind)));
    }
    input.name = json.at("arg").at("name").get<std::string>();
    describe_tensor(input.name, input);
    program_.inputs.push_back(std::move(input));
  }

  void read_user_input(const Json& arg) {
    ProgramInput input{};
    const auto& [kind, json] = tagged(arg);
    if (kind == "as_tensor") {
      input.role = InputRole::User;
      input.name = json.at("name").get<std::string>();
      describe_tensor(input.name, input);
    } else if (kind == "as_sym_int") {
      input.role = InputRole::User;
      input.name = json.at("as_name").get<std::string>();
      input.dims = {size(numbers_->at(input.name))};
      input.is_number = true;
    } else {
      input.role = InputRole::Literal;
      input.literal = argument(arg);
    }
    program_.inputs.push_back(std::move(input));
  }

  void read_output(const Json& spec) {
    const auto& [kind, json] = tagged(spec);
    ProgramOutput output;
    if (kind == "user_output") {
      output.value = argument(json.at("arg"));
    } else if (kind == "buffer_mutation") {
      output.value.value = Ref{json.at("arg").at("name").get<std::string>()};
      output.mutates = json.at("buffer_name").get<std::string>();
      output.mutates_buffer = true;
    } else if (kind == "user_input_mutation") {
      output.value.value = Ref{json.at("arg").at("name").get<std::string>()};
      output.mutates = json.at("user_input_name").get<std::string>();
    } else {
      throw UserError(
          fmt::format("an output of kind {} isn't supported: export the model for "
                      "inference",
                      io::quote(kind)));
    }
    program_.outputs.push_back(std::move(output));
  }

  void read_node(const Json& node) {
    Call call;
    call.target = node.at("target").get<std::string>();
    constexpr std::string_view kPrefix = "torch.ops.";
    if (call.target.starts_with(kPrefix)) call.target.erase(0, kPrefix.size());
    read_origin(node.at("metadata"), call);
    for (const Json& input : node.at("inputs")) {
      call.arguments.push_back(
          {.name = input.at("name").get<std::string>(), .argument = argument(input.at("arg"))});
    }
    for (const Json& output : node.at("outputs")) read_result(output, call);
    program_.calls.push_back(std::move(call));
  }

  static void read_result(const Json& output, Call& call) {
    const auto& [kind, json] = tagged(output);
    if (kind == "as_tensor") {
      call.results.push_back(json.at("name").get<std::string>());
    } else if (kind == "as_tensors") {
      for (const Json& each : json) call.results.push_back(each.at("name").get<std::string>());
    } else if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      call.results.push_back(json.at("as_name").get<std::string>());
    } else if (kind == "as_optional_tensors") {
      for (const Json& each : json) {
        call.results.push_back(
            each.contains("as_tensor") ? each.at("as_tensor").at("name").get<std::string>() : "");
      }
    } else if (kind != "as_none") {
      throw UserError(fmt::format("a call of {} gives {}, which isn't supported",
                                  io::quote(call.target), io::quote(kind)));
    }
  }

  // The user's own line: the first of the innermost frame outside of PyTorch.
  static void read_origin(const Json& metadata, Call& call) {
    if (const auto trace = metadata.find("stack_trace"); trace != metadata.end()) {
      call.source = user_line(trace->get_ref<const std::string&>());
    }
    const auto stack = metadata.find("nn_module_stack");
    if (stack == metadata.end()) return;
    // "key,path,class;key,path,class": the last is the innermost.
    const std::string& text = stack->get_ref<const std::string&>();
    const size_t last = text.rfind(';');
    const std::string_view entry = std::string_view(text).substr(last == text.npos ? 0 : last + 1);
    const size_t begin = entry.find(','), end = entry.find(',', begin + 1);
    if (begin != entry.npos && end != entry.npos && !entry.starts_with("_empty")) {
      call.module = std::string(entry.substr(begin + 1, end - begin - 1));
    }
  }

  static std::string user_line(std::string_view trace) {
    std::string found;
    while (!trace.empty()) {
      const size_t end = std::min(trace.find('\n'), trace.size());
      const std::string_view line = trace.substr(0, end);
      trace.remove_prefix(std::min(end + 1, trace.size()));
      const size_t file = line.find("File \"");
      if (file == line.npos || line.find("/site-packages/torch/") != line.npos) continue;
      const size_t close = line.find('"', file + 6), number = line.find("line ", close);
      if (close == line.npos || number == line.npos) continue;
      const std::string_view digits = line.substr(number + 5);
      found = fmt::format("{}:{}", line.substr(file + 6, close - file - 6),
                          digits.substr(0, digits.find_first_not_of("0123456789")));
      const size_t text = trace.find_first_not_of(" ");
      const size_t stop = std::min(trace.find('\n'), trace.size());
      if (text < stop && !trace.substr(text).starts_with("File \"")) {
        found += fmt::format(": {}", trace.substr(text, stop - text));
      }
    }
    return found;
  }

  // A tagged union of the schema.
  Argument argument(const Json& json) const {
    const auto& [kind, value] = tagged(json);
    if (kind == "as_none") return {};
    if (kind == "as_tensor") return {Ref{value.at("name").get<std::string>()}};
    if (kind == "as_int") return {value.get<int64_t>()};
    if (kind == "as_bool") return {value.get<bool>()};
    if (kind == "as_float") return {real(value)};
    if (kind == "as_string") return {value.get<std::string>()};
    if (kind == "as_scalar_type") return {dtype_by_number(value.get<int64_t>(), "an argument")};
    if (kind == "as_device") return {value.at("type").get<std::string>()};
    if (kind == "as_memory_format" || kind == "as_layout") return {std::string(kind.substr(3))};
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      return number(value);
    }
    if (kind == "as_ints" || kind == "as_floats" || kind == "as_bools" || kind == "as_strings" ||
        kind == "as_sym_ints" || kind == "as_tensors" || kind == "as_optional_tensors" ||
        kind == "as_sym_floats") {
      Argument::List list;
      for (const Json& each : value) list.push_back(item(kind, each));
      return {std::move(list)};
    }
    throw UserError(fmt::format("an argument of kind {} isn't supported", io::quote(kind)));
  }

  Argument item(const std::string& kind, const Json& value) const {
    if (kind == "as_ints") return {value.get<int64_t>()};
    if (kind == "as_floats") return {real(value)};
    if (kind == "as_bools") return {value.get<bool>()};
    if (kind == "as_strings") return {value.get<std::string>()};
    if (kind == "as_tensors") return {Ref{value.at("name").get<std::string>()}};
    if (kind == "as_optional_tensors") return argument(value);
    return number(value);
  }

  // {"as_name": "sym_size_int"}, {"as_int": 4}
  static Argument number(const Json& json) {
    const auto& [kind, value] = tagged(json);
    if (kind == "as_name") return {Ref{value.get<std::string>()}};
    if (kind == "as_int") return {value.get<int64_t>()};
    if (kind == "as_bool") return {value.get<bool>()};
    return {real(value)};
  }

  // Infinities and NaN are words.
  static double real(const Json& json) {
    if (json.is_number()) return json.get<double>();
    const auto& word = json.get_ref<const std::string&>();
    if (word == "Infinity") return std::numeric_limits<double>::infinity();
    if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
    throw UserError(fmt::format("{} is no number", io::quote(word)));
  }

  const Json& json_;
  const Json* tensors_ = nullptr;
  const Json* numbers_ = nullptr;
  Symbols symbols_;
  ExportedProgram program_;
};

}  // namespace

DType dtype_by_number(int64_t number, std::string_view of) {
  for (const NumberedDType& each : kDTypes) {
    if (each.number != number) continue;
    if (each.dtype) return *each.dtype;
    throw UserError(fmt::format("{} is {}, which the library lacks", io::quote(of), each.name));
  }
  throw UserError(fmt::format("{} has dtype number {}, which isn't known", io::quote(of), number));
}

ExportedProgram parse_program(std::string_view json, const std::string& source) {
  try {
    if (base::json_depth(json) > kDeepestJson) throw UserError("it is nested too deeply");
    return ProgramReader(Json::parse(json), source).all();
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("{}: models/model.json: {}", source, io::json_fault(error.what())));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: models/model.json: {}", source, error.what()));
  }
}

}  // namespace luminal::pytorch
