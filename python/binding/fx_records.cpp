#include "binding/fx_records.h"

#include <fmt/format.h>

#include <limits>

#include "luminal/base/errors.h"
#include "luminal/pytorch/pt2/guards.h"
#include "luminal/pytorch/pt2/symbols.h"

namespace luminal::python {
namespace {

using pytorch::Argument;
using pytorch::InputRole;

[[noreturn]] void unreadable(nb::handle value, const char* as) {
  throw UserError(fmt::format("{} can't be {} of a graph", nb::repr(value).c_str(), as));
}

int64_t integer_of(nb::handle value) {
  int64_t integer = 0;
  if (!nb::try_cast(value, integer)) unreadable(value, "an integer");
  return integer;
}

DType dtype_of_name(nb::handle name) {
  const auto text = nb::cast<std::string>(name);
  const auto dtype = dtype_named(text);
  if (!dtype) unreadable(name, "a dtype");
  return *dtype;
}

// ("name",) is a value's name, ("dtype", "f32") a dtype, and a list a list of arguments.
Argument argument_of(nb::handle value) {
  if (value.is_none()) return {};
  PyObject* object = value.ptr();
  if (PyBool_Check(object)) return {object == Py_True};
  if (PyLong_Check(object)) return {integer_of(value)};
  if (PyFloat_Check(object)) return {nb::cast<double>(value)};
  if (PyUnicode_Check(object)) return {nb::cast<std::string>(value)};
  if (PyTuple_Check(object)) {
    const auto tuple = nb::borrow<nb::tuple>(value);
    if (tuple.size() == 1) return {pytorch::Ref{nb::cast<std::string>(tuple[0])}};
    if (tuple.size() == 2) return {dtype_of_name(tuple[1])};
  }
  if (PyList_Check(object)) {
    Argument::List list;
    for (nb::handle each : nb::borrow<nb::list>(value)) list.push_back(argument_of(each));
    return {std::move(list)};
  }
  unreadable(value, "an argument");
}

InputRole role_of(nb::handle name) {
  const auto text = nb::cast<std::string>(name);
  if (text == "weight") return InputRole::Parameter;
  if (text == "state") return InputRole::Buffer;
  if (text == "constant") return InputRole::Constant;
  if (text == "input" || text == "size") return InputRole::User;
  unreadable(name, "a role");
}

class Reader {
 public:
  explicit Reader(const nb::dict& records) : records_(records) {
    result_.program.source = nb::cast<std::string>(records["source"]);
  }

  FxProgram all() {
    read_ranges();
    read_guards();
    for (nb::handle each : nb::cast<nb::list>(records_["inputs"])) {
      read_input(nb::cast<nb::tuple>(each));
    }
    for (nb::handle each : nb::cast<nb::list>(records_["calls"])) {
      read_call(nb::cast<nb::tuple>(each));
    }
    for (nb::handle each : nb::cast<nb::list>(records_["outputs"])) {
      read_output(nb::cast<nb::tuple>(each));
    }
    for (auto [path, tensor] : nb::cast<nb::dict>(records_["constants"])) {
      result_.constants.emplace(nb::cast<std::string>(path), read_data(tensor));
    }
    return std::move(result_);
  }

 private:
  // {"s77": (2, None)}: None is no bound.
  void read_ranges() {
    for (auto [name, range] : nb::cast<nb::dict>(records_["ranges"])) {
      const auto bounds = nb::cast<nb::tuple>(range);
      symbols_.set_range(
          nb::cast<std::string>(name), integer_of(bounds[0]),
          bounds[1].is_none() ? std::numeric_limits<int64_t>::max() : integer_of(bounds[1]));
    }
  }

  // ["s77 % 4 == 0"]
  void read_guards() {
    result_.program.guards = nb::cast<std::vector<std::string>>(records_["guards"]);
    pytorch::assume(
        result_.program.guards, [](const std::string&, size_t) { return std::nullopt; }, symbols_);
    for (auto [name, range] : nb::cast<nb::dict>(records_["ranges"])) {
      const auto symbol = nb::cast<std::string>(name);
      if (const auto size = affine_dim(symbols_.variable(symbol))) {
        result_.sizes.emplace(symbol, *size);
      }
    }
  }

  // An int, or sympy's srepr of an expression.
  Expr size_of(nb::handle value) const {
    if (PyLong_Check(value.ptr())) return integer_of(value);
    return symbols_.parse(nb::cast<std::string>(value));
  }

  // (role, name, path, dtype, dims); of a size, dims is its value alone.
  void read_input(const nb::tuple& input) {
    pytorch::ProgramInput found{.role = role_of(input[0]),
                                .name = nb::cast<std::string>(input[1]),
                                .path = nb::cast<std::string>(input[2]),
                                .dtype = dtype_of_name(input[3]),
                                .dims = {},
                                .literal = {},
                                .is_number = nb::cast<std::string>(input[0]) == "size"};
    for (nb::handle dim : nb::cast<nb::list>(input[4])) found.dims.push_back(size_of(dim));
    result_.program.inputs.push_back(std::move(found));
  }

  // (target, [(name, argument)], [result], the user's line, module)
  void read_call(const nb::tuple& call) {
    pytorch::Call found{.target = nb::cast<std::string>(call[0]),
                        .arguments = {},
                        .results = nb::cast<std::vector<std::string>>(call[2]),
                        .source = nb::cast<std::string>(call[3]),
                        .module = nb::cast<std::string>(call[4])};
    for (nb::handle each : nb::cast<nb::list>(call[1])) {
      const auto named = nb::cast<nb::tuple>(each);
      found.arguments.push_back(
          {.name = nb::cast<std::string>(named[0]), .argument = argument_of(named[1])});
    }
    result_.program.calls.push_back(std::move(found));
  }

  // (value, path of the state that it is written to, or "")
  void read_output(const nb::tuple& output) {
    pytorch::ProgramOutput found{.value = argument_of(output[0]),
                                 .mutates = nb::cast<std::string>(output[1])};
    found.mutates_buffer = !found.mutates.empty();
    result_.program.outputs.push_back(std::move(found));
  }

  const nb::dict& records_;
  pytorch::Symbols symbols_;
  FxProgram result_;
};

}  // namespace

FxProgram read_fx_program(const nb::dict& records) { return Reader(records).all(); }

}  // namespace luminal::python
