#include "luminal/pytorch/pt2/program_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/text/json_depth.h"
#include "luminal/io/file/json_fault.h"
#include "luminal/io/file/quote.h"
#include "luminal/pytorch/pt2/argument_json.h"
#include "luminal/pytorch/pt2/guards.h"
#include "luminal/pytorch/pt2/json_values.h"
#include "luminal/pytorch/pt2/source_lines.h"
#include "luminal/pytorch/pt2/symbols.h"

namespace luminal::pytorch {
namespace {

using Json = nlohmann::json;

constexpr int kSchemaMajor = 8;
constexpr int kDeepestJson = 64;

// The axes of a tensor from the outermost in memory on; none if there are gaps.
std::optional<std::vector<int64_t>> memory_order(const Dims& dims, const Dims& strides) {
  if (dims.size() != strides.size()) return std::nullopt;
  std::vector<int64_t> order;
  std::vector<bool> is_taken(dims.size());
  for (Expr expected = 1; order.size() < dims.size();) {
    size_t axis = 0;
    const auto is_next = [&](size_t i) {
      return !is_taken[i] && (dims[i].is(1) || strides[i] == expected);
    };
    while (axis < dims.size() && !is_next(axis)) ++axis;
    if (axis == dims.size()) return std::nullopt;
    is_taken[axis] = true;
    order.push_back(static_cast<int64_t>(axis));
    expected = expected * dims[axis];
  }
  std::ranges::reverse(order);
  return order;
}

class ProgramReader {
 public:
  ProgramReader(const Json& json, const std::string& source) : json_(json) {
    program_.source = source;
  }

  ExportedProgram all() {
    check_version();
    program_.torch_version = json_.value("torch_version", std::string());
    read_ranges();
    const Json& module = json_.at("graph_module");
    const Json& graph = module.at("graph");
    tensors_ = &graph.at("tensor_values");
    numbers_ = &graph.at("sym_int_values");
    read_guards();
    const Json& signature = module.at("signature");
    each("input", signature.at("input_specs"), [&](const Json& spec) { read_input(spec); });
    read_nodes(graph, scope_);
    each("output", signature.at("output_specs"), [&](const Json& spec) { read_output(spec); });
    return std::move(program_);
  }

 private:
  // Reads the items of a list; an error says which of them it is about.
  template <typename F>
  static void each(const char* what, const Json& list, F read) {
    size_t i = 0;
    for (const Json& item : list) {
      const std::string place = fmt::format("{} {}", what, i++);
      try {
        read(item);
      } catch (const nlohmann::json::exception& error) {
        throw UserError(fmt::format("{}: {}", place, io::json_fault(error.what())));
      } catch (const UserError& error) {
        throw UserError(fmt::format("{}: {}", place, error.what()));
      }
    }
  }

  void check_version() const {
    const Json& version = json_.at("schema_version");
    const int64_t major = integer_of(version.at("major"));
    if (major == kSchemaMajor) return;
    throw UserError(
        fmt::format("schema version {}.{} isn't known, {}.x is: save it again with "
                    "torch 2.8 or newer",
                    major, integer_of(version.at("minor")), kSchemaMajor));
  }

  void read_ranges() {
    for (const auto& [name, range] : json_.at("range_constraints").items()) {
      const Json &lower = range.at("min_val"), &upper = range.at("max_val");
      symbols_.set_range(name, lower.is_null() ? 0 : integer_of(lower),
                         upper.is_null() ? std::numeric_limits<int64_t>::max() : integer_of(upper));
    }
  }

  void read_guards() {
    const auto guards = json_.find("guards_code");
    if (guards == json_.end()) return;
    for (const Json& guard : *guards) program_.guards.push_back(guard.get<std::string>());
    const InputDim dim = [this](const std::string& input, size_t axis) -> std::optional<Expr> {
      const auto tensor = tensors_->find(input);
      if (tensor == tensors_->end()) return std::nullopt;
      const Json& sizes = tensor->at("sizes");
      return axis < sizes.size() ? std::optional(size(sizes.at(axis))) : std::nullopt;
    };
    assume(program_.guards, dim, symbols_);
  }

  // {"as_int": 3}, {"as_expr": {"expr_str": "…"}}
  Expr size(const Json& json) const {
    if (const auto integer = json.find("as_int"); integer != json.end()) {
      return integer_of(*integer);
    }
    return symbols_.parse(json.at("as_expr").at("expr_str").get_ref<const std::string&>());
  }

  // Of an input or output.
  template <typename T>
  void describe_tensor(const std::string& name, T& described) const {
    const Json& meta = tensors_->at(name);
    described.dtype = dtype_by_number(integer_of(meta.at("dtype")), name);
    for (const Json& dim : meta.at("sizes")) described.dims.push_back(size(dim));
  }

  void read_input(const Json& spec) {
    ProgramInput input{};
    const auto& [kind, json] = tagged(spec);
    if (kind == "user_input") return read_user_input(json.at("arg"));
    if (kind == "constant_input") {
      input.role = InputRole::Literal;
      input.name = name_of(json.at("name"));
      input.literal = argument_of(json.at("value"), scope_);
      program_.inputs.push_back(std::move(input));
      return;
    }
    if (kind == "parameter") {
      input.role = InputRole::Parameter;
      input.path = name_of(json.at("parameter_name"));
    } else if (kind == "buffer") {
      input.role = InputRole::Buffer;
      input.path = name_of(json.at("buffer_name"));
    } else if (kind == "tensor_constant") {
      input.role = InputRole::Constant;
      input.path = name_of(json.at("tensor_constant_name"));
    } else {
      throw UserError(
          fmt::format("an input of kind {} can't be read without Python: tensors and "
                      "numbers can",
                      io::quote(kind)));
    }
    input.name = name_of(json.at("arg").at("name"));
    describe_tensor(input.name, input);
    program_.inputs.push_back(std::move(input));
  }

  void read_user_input(const Json& arg) {
    ProgramInput input{};
    const auto& [kind, json] = tagged(arg);
    if (kind == "as_tensor") {
      input.role = InputRole::User;
      input.name = name_of(json.at("name"));
      describe_tensor(input.name, input);
    } else if (kind == "as_sym_int") {
      input.role = InputRole::User;
      input.name = name_of(json.at("as_name"));
      input.dims = {size(numbers_->at(input.name))};
      input.is_number = true;
    } else {
      input.role = InputRole::Literal;
      input.literal = argument_of(arg, scope_);
    }
    program_.inputs.push_back(std::move(input));
  }

  void read_output(const Json& spec) {
    const auto& [kind, json] = tagged(spec);
    ProgramOutput output;
    if (kind == "user_output") {
      output.value = argument_of(json.at("arg"), scope_);
    } else if (kind == "buffer_mutation") {
      output.value = scope_.value(name_of(json.at("arg").at("name")));
      output.mutates = name_of(json.at("buffer_name"));
      output.mutates_buffer = true;
    } else if (kind == "user_input_mutation") {
      output.value = scope_.value(name_of(json.at("arg").at("name")));
      output.mutates = name_of(json.at("user_input_name"));
    } else {
      throw UserError(
          fmt::format("an output of kind {} isn't supported: export the model for "
                      "inference",
                      io::quote(kind)));
    }
    const Json& arg = json.at("arg");
    const Json& of = arg.contains("as_tensor") ? arg.at("as_tensor") : arg;
    if (of.contains("name") && tensors_->contains(name_of(of.at("name")))) {
      describe_tensor(name_of(of.at("name")), output);
      output.is_tensor = true;
    }
    program_.outputs.push_back(std::move(output));
  }

  void read_nodes(const Json& graph, Scope& scope) {
    each("node", graph.at("nodes"), [&](const Json& node) { read_node(node, scope); });
  }

  void read_node(const Json& node, Scope& scope) {
    Call call;
    call.target = name_of(node.at("target"));
    constexpr std::string_view kPrefix = "torch.ops.";
    if (call.target.starts_with(kPrefix)) call.target.erase(0, kPrefix.size());
    const Json& inputs = node.at("inputs");
    for (const Json& input : inputs) {
      call.arguments.push_back(
          {.name = name_of(input.at("name")), .argument = argument_of(input.at("arg"), scope)});
    }
    if (call.target == "aten.as_strided.default") add_memory_order(inputs, call);
    for (const Json& output : node.at("outputs")) read_result(output, call);
    for (size_t i = 0; i < call.arguments.size() && is_only_its_graph(call); ++i) {
      const Json& arg = inputs.at(i).at("arg");
      if (!arg.contains("as_graph")) continue;
      return read_subgraph(arg.at("as_graph").at("graph"), i, call, scope);
    }
    for (std::string& result : call.results) {
      if (!result.empty()) result = scope.result(result);
    }
    const Json& metadata = node.at("metadata");
    call.source = user_line(metadata.value("stack_trace", std::string()));
    call.module = module_path(metadata.value("nn_module_stack", std::string()));
    program_.calls.push_back(std::move(call));
  }

  // Of a call that gives a tensor other strides, in which order of axes its elements lie in memory:
  // the names of its arguments are those of the operator.
  void add_memory_order(const Json& inputs, Call& call) const {
    const Json& self = inputs.at(0).at("arg");
    if (!self.contains("as_tensor")) return;
    const Json& meta = tensors_->at(name_of(self.at("as_tensor").at("name")));
    Dims dims, strides;
    for (const Json& dim : meta.at("sizes")) dims.push_back(size(dim));
    for (const Json& stride : meta.at("strides")) strides.push_back(size(stride));
    const bool is_first = size(meta.at("storage_offset")).is(0);
    const auto order = memory_order(dims, strides);
    // An offset counts from the beginning of the memory.
    const auto is_offset = [](const NamedArgument& each) { return each.name == "storage_offset"; };
    if (!order || (!is_first && std::ranges::any_of(call.arguments, is_offset))) return;
    Argument::List list;
    for (int64_t axis : *order) list.push_back({axis});
    call.arguments.push_back({.name = "memory_order", .argument = {std::move(list)}});
  }

  // Calls of a graph that compute what the graph does, whatever their other arguments.
  static bool is_only_its_graph(const Call& call) {
    if (call.target == "higher_order.wrap_with_autocast") {
      // A device, a dtype, and whether dtypes change.
      const auto* on = call.arguments.size() < 3
                           ? nullptr
                           : std::get_if<bool>(&call.arguments[2].argument.value);
      return on != nullptr && !*on;
    }
    return call.target == "higher_order.wrap_with_set_grad_enabled" ||
           call.target == "higher_order.invoke_subgraph";
  }

  // The calls of a graph that is argument `at` of a call: its inputs are the arguments after it,
  // its outputs the results.
  void read_subgraph(const Json& graph, size_t at, const Call& call, Scope& scope) {
    ++at;
    // The name of the graph.
    const bool is_named = call.target == "higher_order.invoke_subgraph";
    if (is_named) ++at;
    const Json &inputs = graph.at("inputs"), &outputs = graph.at("outputs");
    if (call.arguments.size() - std::min(at, call.arguments.size()) != inputs.size() ||
        call.results.size() != outputs.size()) {
      throw UserError(fmt::format("{} and its graph differ in their inputs or outputs",
                                  io::quote(call.target)));
    }
    Scope inner{.prefix = fmt::format("subgraph_{}.", ++subgraphs_), .known = {}};
    for (const Json& input : inputs) {
      const Argument& given = call.arguments[at++].argument;
      if (const auto name = value_name(input)) inner.known[*name] = given;
    }
    std::vector<std::pair<std::string, Argument>> others;  // inputs, numbers and repeated results
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto name = value_name(outputs.at(i));
      if (name && !inner.known.contains(*name)) {
        inner.known[*name] = {Ref{scope.result(call.results[i])}};
      } else {
        others.emplace_back(call.results[i], argument_of(outputs.at(i), inner));
      }
    }
    read_nodes(graph, inner);
    for (const auto& [result, value] : others) give(result, value, scope);
  }

  // A result that is something which has a name already.
  void give(const std::string& result, const Argument& value, Scope& scope) {
    if (scope.known.contains(result)) {
      program_.calls.push_back({.target = "aten.alias.default",
                                .arguments = {{.name = "self", .argument = value}},
                                .results = {scope.result(result)},
                                .source = {},
                                .module = {}});
    } else {
      scope.known[result] = value;
    }
  }

  // Of a graph's input or output; none of a number.
  static std::optional<std::string> value_name(const Json& json) {
    const auto& [kind, value] = tagged(json);
    if (kind == "as_tensor") return name_of(value.at("name"));
    if (value.contains("as_name")) return name_of(value.at("as_name"));
    return std::nullopt;
  }

  static void read_result(const Json& output, Call& call) {
    const auto& [kind, json] = tagged(output);
    const auto add = [&](const Json& name) { call.results.push_back(name_of(name)); };
    if (kind == "as_tensor") {
      add(json.at("name"));
    } else if (kind == "as_tensors") {
      for (const Json& each : json) add(each.at("name"));
    } else if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      add(json.at("as_name"));
    } else if (kind == "as_optional_tensors") {
      for (const Json& each : json) {
        if (each.contains("as_tensor")) {
          add(each.at("as_tensor").at("name"));
        } else {
          call.results.emplace_back();
        }
      }
    } else if (kind != "as_none") {
      throw UserError(fmt::format("a call of {} gives {}, which isn't supported",
                                  io::quote(call.target), io::quote(kind)));
    }
  }

  const Json& json_;
  Scope scope_;
  int subgraphs_ = 0;
  const Json* tensors_ = nullptr;
  const Json* numbers_ = nullptr;
  Symbols symbols_;
  ExportedProgram program_;
};

}  // namespace

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
