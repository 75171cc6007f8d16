#include "apps/bench/kernels/case.h"

#include <fmt/format.h>

#include "luminal/base/check.h"

namespace luminal::bench {
namespace {

double bytes_of(const Node& node) {
  int64_t elements = 1;
  for (Expr dim : node.dims) elements *= dim.to_int().value();
  return static_cast<double>(byte_size(node.dtype, elements));
}

}  // namespace

const char* name(Level level) { return level == Level::Micro ? "micro" : "patterns"; }
const char* file_stem(Level level) { return level == Level::Micro ? "bench" : "pattern"; }

const char* name(Size size) {
  switch (size) {
    case Size::Tiny:
      return "tiny";
    case Size::L1:
      return "l1";
    case Size::L2:
      return "l2";
    case Size::L3:
      return "l3";
    case Size::Dram:
      return "dram";
  }
  return "";
}

std::string Case::name() const {
  return fmt::format("{}/{}/{}", op, bench::name(size), luminal::name(dtype));
}

const std::vector<Case>& cases(Level level) {
  static const std::vector<Case> micro = micro_cases(), patterns = pattern_cases();
  return level == Level::Micro ? micro : patterns;
}

double moved_bytes(const Graph& graph) {
  double bytes = 0;
  for (NodeId leaf : graph.leaves()) bytes += bytes_of(graph.node(leaf));
  for (const Output& output : graph.outputs()) bytes += bytes_of(graph.node(output.node));
  return bytes;
}

}  // namespace luminal::bench
