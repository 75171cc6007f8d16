// Node: one primitive of a graph, with its typed attribute.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "luminal/base/ids.h"
#include "luminal/graph/op.h"
#include "luminal/graph/scalar.h"
#include "luminal/shape/dtype.h"
#include "luminal/shape/index_map.h"

namespace luminal {

struct NodeTag;
using NodeId = Id<NodeTag>;

enum class Role : uint8_t {
  Input,   // given for every run
  Weight,  // given once, shared by clones of an executable
  State,   // carried from run to run; see Graph::update
};

// The attribute of each op that has one.
struct InputAttr {  // Input
  Role role;
  std::string name;
};
struct ConstantAttr {  // Constant: `real` for float dtypes, `integer` for the others
  double real = 0;
  int64_t integer = 0;
};
struct IotaAttr {  // Iota: over indices whose extents are the node's dims
  Expr expr;
};
struct ReduceAttr {  // Reduce and Scan
  Reducer reducer;
};
struct ScatterAttr {  // Scatter: no combiner replaces
  std::optional<Reducer> combine;
};
struct CustomOp;     // see custom_op.h
struct CustomAttr {  // Custom
  std::shared_ptr<const CustomOp> op;
};
using Attribute = std::variant<std::monostate, InputAttr, ConstantAttr, IotaAttr, IndexMap,
                               ReduceAttr, ScatterAttr, CustomAttr>;

struct Node {
  Op op;
  DType dtype;
  Dims dims;
  std::vector<NodeId> inputs;
  Attribute attribute;
  std::string label;          // given by Tensor::name; inputs have theirs in InputAttr
  bool materialized = false;  // by Tensor::materialize: stored once, whatever else fuses
  bool removed = false;       // by remove_dead; ids are never used again

  // The attribute as its type; an internal error if the op has another one.
  template <typename T>
  const T& as() const {
    return std::get<T>(attribute);
  }
};

}  // namespace luminal
