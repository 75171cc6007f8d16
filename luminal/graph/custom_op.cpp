#include "luminal/graph/custom_op.h"

#include <fmt/format.h>

#include <exception>

#include "luminal/graph/call_custom.h"

namespace luminal {
namespace {

// What the current exception says.
std::string current_message() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "threw something that isn't a std::exception";
  }
}

}  // namespace

CustomOpError::CustomOpError(std::string op, const std::string& message)
    : UserError(message), op_(std::move(op)) {}
CustomOpError::~CustomOpError() = default;

void rethrow_from_custom(const CustomOp& op, std::string_view function) {
  std::throw_with_nested(CustomOpError(
      op.name, fmt::format("custom op '{}': {}: {}", op.name, function, current_message())));
}

Tensor custom_op(CustomOp op, const std::vector<Tensor>& inputs) {
  if (op.name.empty()) throw UserError("custom_op: it has no name; set CustomOp::name");
  if (inputs.empty()) {
    throw UserError(fmt::format("custom op '{}': it has no input; give it at least one", op.name));
  }
  if (!op.shape_rule || !op.compute) {
    throw UserError(fmt::format("custom op '{}': it has no {}; set CustomOp::{}", op.name,
                                op.shape_rule ? "compute" : "shape_rule",
                                op.shape_rule ? "compute" : "shape_rule"));
  }
  if (op.kernel && !op.kernel->run) {
    throw UserError(fmt::format(
        "custom op '{}': its kernel has no function; set CustomKernel::run or leave the kernel out",
        op.name));
  }
  Graph& graph = inputs.front().graph();
  std::vector<NodeId> ids;
  for (const Tensor& input : inputs) {
    if (&input.graph() != &graph) {
      throw UserError(
          fmt::format("custom op '{}': {} and {} belong to different graphs; build "
                      "both in one",
                      op.name, inputs.front().describe(), input.describe()));
    }
    ids.push_back(input.id());
  }
  return graph.add({.op = Op::Custom,
                    .dtype = DType::F32,
                    .dims = {},
                    .inputs = std::move(ids),
                    .attribute = CustomAttr{std::make_shared<const CustomOp>(std::move(op))},
                    .label = {}});
}

}  // namespace luminal
