// Parsing the text form; see text_form.h.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <unordered_map>

#include "luminal/base/errors.h"
#include "luminal/base/text/line_reader.h"
#include "luminal/graph/op_subsets.h"
#include "luminal/graph/tensor.h"
#include "luminal/graph/text/text_lines.h"
#include "luminal/graph/text_form.h"
#include "luminal/shape/scalar.h"
#include "luminal/shape/shape.h"

namespace luminal {
namespace {

using Line = base::LineReader;

class GraphParser {
 public:
  GraphParser(std::string_view source, const std::map<std::string, CustomOp>& custom_ops,
              const std::function<std::string(const std::string&)>& file_of)
      : source_(source),
        custom_ops_(custom_ops),
        file_of_(file_of),
        graph_(std::make_unique<Graph>()) {}

  std::unique_ptr<Graph> parse(std::string_view text) {
    base::TextLines lines(text, source_);
    while (!lines.at_end()) {
      Line line = lines.next();
      if (line.at_end() || line.next_is('#')) continue;
      read_line(line);
    }
    if (!has_header_) {
      throw UserError(fmt::format("{}: not a graph: the first line must be '{} {}'", source_,
                                  kTextHeader, kTextVersion));
    }
    return std::move(graph_);
  }

 private:
  void read_line(Line& line) try {
    if (!has_header_) return read_header(line);
    if (line.next_is('%')) return read_node(line);
    const std::string_view keyword = line.word();
    if (keyword == "var") {
      read_variable(line);
    } else if (keyword == "data") {
      read_data(line);
    } else if (keyword == "update") {
      Tensor state = tensor(line);
      graph_->update(state, tensor(line));
    } else if (keyword == "output") {
      std::string name = line.string();
      tensor(line).output(name);
    } else if (keyword == "keep") {
      tensor(line).keep();
    } else if (keyword == "materialize") {
      tensor(line).materialize();
    } else if (keyword == "print") {
      std::string label = line.string();
      tensor(line).print(label);
    } else if (keyword == "diff") {
      std::string path = line.string();
      if (file_of_) path = file_of_(path);
      const double atol = line.real();
      const double rtol = line.real();
      tensor(line).diff(path, atol, rtol);
    } else {
      line.fail(
          fmt::format("'{}' doesn't start any line of a graph; known: %id =, var, data, update, "
                      "output, keep, materialize, print, diff",
                      keyword));
    }
    line.expect_end();
  } catch (const UserError& error) {
    line.fail_with(error);  // messages of the graph itself get the line they came from
  }

  void read_header(Line& line) {
    if (!line.take(kTextHeader)) {
      line.fail(
          fmt::format("not a graph: the first line must be '{} {}'", kTextHeader, kTextVersion));
    }
    const int64_t version = line.integer();
    if (version != kTextVersion) {
      line.fail(
          fmt::format("version {} of the text form is not supported; this library reads version {}",
                      version, kTextVersion));
    }
    line.expect_end();
    has_header_ = true;
  }

  void read_variable(Line& line) {
    const Expr declared = parse_variable(line);
    // Names are looked for one by one.
    constexpr size_t kMostVariables = 4096;
    if (scope_.variables.size() >= kMostVariables) {
      line.fail(fmt::format("more than {} variables are declared", kMostVariables));
    }
    for (Expr variable : scope_.variables) {
      if (variable.name() == declared.name()) {
        line.fail(fmt::format("variable '{}' is declared twice", declared.name()));
      }
    }
    scope_.variables.push_back(declared);
  }

  NodeId node_id(Line& line) {
    line.expect("%");
    const int64_t id = line.integer();
    auto it = ids_.find(id);
    if (it == ids_.end()) line.fail(fmt::format("%{} is not defined above this line", id));
    return it->second;
  }
  Tensor tensor(Line& line) { return graph_->tensor(node_id(line)); }

  Expr expr(std::string_view text, const Dims& extents = {}) {
    ParseScope scope = scope_;
    scope.extents = extents;
    scope.declared_only = true;
    return parse_expr(text, scope);
  }

  TensorType type(Line& line) {
    line.expect(":");
    TensorType result{{}, parse_dtype(line)};
    for (std::string_view item : line.list()) result.dims.push_back(expr(item));
    return result;
  }

  void read_node(Line& line) {
    line.expect("%");
    const int64_t id = line.integer();
    if (ids_.contains(id)) line.fail(fmt::format("%{} is defined twice", id));
    line.expect("=");
    Node node = read_op(line);
    if (line.next_is('"')) node.label = line.string();
    line.expect_end();
    const Dims dims = node.dims;
    const DType dtype = node.dtype;
    Tensor added = graph_->add(std::move(node));
    if (added.dtype() != dtype || !same_dims(added.dims(), dims)) {
      line.fail(fmt::format("%{} is declared {}{}, but its inputs make it {}{}", id, name(dtype),
                            text(dims), name(added.dtype()), text(added.dims())));
    }
    ids_[id] = added.id();
  }

  // Up to the type, which every op's line ends with.
  Node read_op(Line& line) {
    const std::string_view word = line.word();
    Node node{.op = Op::Input,
              .dtype = DType::F32,
              .dims = {},
              .inputs = {},
              .attribute = {},
              .label = {}};
    if (word == "input" || word == "weight" || word == "state") {
      const Role role = word == "input"    ? Role::Input
                        : word == "weight" ? Role::Weight
                                           : Role::State;
      node.attribute = InputAttr{role, line.string()};
      return with_type(std::move(node), line);
    }
    std::optional<Op> op = op_from_name(word);
    if (!op || *op == Op::Input) line.fail(fmt::format("'{}' is not an op", word));
    node.op = *op;
    if (const std::optional<StructuralOp> structural = structural_op(*op)) {
      return read_structural(*structural, std::move(node), line);
    }
    return read_inputs(std::move(node), line);
  }

  Node read_structural(StructuralOp op, Node node, Line& line) {
    switch (op) {
      case StructuralOp::Constant:
        return read_constant(std::move(node), line);
      case StructuralOp::Iota: {
        const std::string_view body = line.until_type();
        node = with_type(std::move(node), line);
        node.attribute = IotaAttr{expr(body, node.dims)};
        return node;
      }
      case StructuralOp::View:
        return read_view(std::move(node), line);
      case StructuralOp::Reduce:
      case StructuralOp::Scan:
        node.attribute = ReduceAttr{parse_reducer(line)};
        break;
      case StructuralOp::Scatter:
        node.attribute = line.take("set ") ? ScatterAttr{} : ScatterAttr{parse_reducer(line)};
        break;
      case StructuralOp::Custom: {
        const std::string custom = line.string();
        auto it = custom_ops_.find(custom);
        if (it == custom_ops_.end()) {
          line.fail(fmt::format("custom op '{}' is not known; pass it to parse_graph", custom));
        }
        node.attribute = CustomAttr{std::make_shared<const CustomOp>(it->second)};
        break;
      }
      case StructuralOp::Input:
      case StructuralOp::Gather:
        break;
    }
    return read_inputs(std::move(node), line);
  }

  Node read_inputs(Node node, Line& line) {
    while (line.next_is('%')) node.inputs.push_back(node_id(line));
    return with_type(std::move(node), line);
  }

  Node with_type(Node node, Line& line) {
    TensorType declared = type(line);
    node.dims = std::move(declared.dims);
    node.dtype = declared.dtype;
    return node;
  }

  Node read_constant(Node node, Line& line) {
    const std::string_view value = line.word();
    node = with_type(std::move(node), line);
    ConstantAttr constant;
    Line number(value, source_, 0);
    if (is_float(node.dtype)) {
      constant.real = number.real();
      if (!std::isnan(constant.real) && round_to(node.dtype, constant.real) != constant.real) {
        line.fail(fmt::format("{} is not a value of {}", value, name(node.dtype)));
      }
    } else {
      constant.integer = number.integer();
      if (wrap_to(node.dtype, constant.integer) != constant.integer) {
        line.fail(fmt::format("{} is not a value of {}", value, name(node.dtype)));
      }
    }
    node.attribute = constant;
    return node;
  }

  Node read_view(Node node, Line& line) {
    node.inputs.push_back(node_id(line));
    const std::vector<std::string_view> items = line.list();
    node = with_type(std::move(node), line);
    const Dims& source = graph_->node(node.inputs[0]).dims;
    if (items.size() != source.size()) {
      line.fail(fmt::format("the map has {} expressions, its source {} has {} dims", items.size(),
                            text(source), source.size()));
    }
    std::vector<Expr> exprs;
    for (std::string_view item : items) exprs.push_back(expr(item, node.dims));
    node.attribute = IndexMap(node.dims, source, std::move(exprs));
    return node;
  }

  void read_data(Line& line) {
    Tensor leaf = tensor(line);
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (std::string_view item : line.list()) {
      Line number(item, source_, 0);
      dims.push_back(number.integer());
      if (dims.back() < 0 || dims.back() > kMostPrintedData ||
          (count *= dims.back()) > kMostPrintedData) {
        line.fail(fmt::format("data in a graph's text has at most {} elements", kMostPrintedData));
      }
    }
    TensorData::Writable data = TensorData::zeros(leaf.dtype(), dims);
    for (int64_t i = 0; i < count; ++i) {
      if (is_float(leaf.dtype())) {
        store_float(leaf.dtype(), data.bytes.data(), i, line.real());
      } else {
        store_int(leaf.dtype(), data.bytes.data(), i, wrap_to(leaf.dtype(), line.integer()));
      }
    }
    leaf.set(data.data);
  }

  std::string_view source_;
  const std::map<std::string, CustomOp>& custom_ops_;
  const std::function<std::string(const std::string&)>& file_of_;
  std::unique_ptr<Graph> graph_;
  ParseScope scope_;
  std::unordered_map<int64_t, NodeId> ids_;
  bool has_header_ = false;
};

}  // namespace

std::unique_ptr<Graph> parse_graph(std::string_view text, std::string_view source,
                                   const std::map<std::string, CustomOp>& custom_ops,
                                   const std::function<std::string(const std::string&)>& file_of) {
  return GraphParser(source, custom_ops, file_of).parse(text);
}

}  // namespace luminal
