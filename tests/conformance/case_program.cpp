#include "tests/conformance/case_program.h"

#include <fmt/format.h>

#include <stdexcept>

#include "tests/conformance/op_table.h"

namespace luminal::conformance {
namespace {

// The base seen through the steps of its layout.
Tensor lay_out(Tensor x, const Json& steps) {
  for (const Json& step : steps) {
    std::string kind = step[0];
    if (kind == "permute")
      x = x.permute(step[1].get<std::vector<int>>());
    else if (kind == "expand")
      x = x.expand(dims_of(step[1]));
    else if (kind == "reshape")
      x = x.reshape(dims_of(step[1]));
    else if (kind == "flip")
      x = x.flip({step[1][0].get<int>()});
    else if (kind == "slice")
      x = x.slice(step[1], size_of(step[2]), size_of(step[3]), size_of(step[4]));
    else
      throw std::runtime_error("unknown view step '" + kind + "'");
  }
  return x;
}

}  // namespace

Program::Program(const Case& one) {
  std::vector<Tensor> args;
  for (const InputSpec& input : one.inputs) {
    leaves.push_back(
        graph.input(fmt::format("x{}", leaves.size()), dims_of(input.dims), input.dtype));
    args.push_back(lay_out(leaves.back(), input.steps));
  }
  auto entry = op_table().find(one.op);
  if (entry == op_table().end()) throw std::runtime_error("op_table.cpp has no '" + one.op + "'");
  result = entry->second(graph, args, one.params);
  result.output("result");
}

}  // namespace luminal::conformance
