#include <stdexcept>

#include "tests/driver/user_errors/mistakes.h"

namespace luminal {
namespace {

// An op of one input that is right.
CustomOp doubled() {
  CustomOp op;
  op.name = "doubled";
  op.shape_rule = [](const std::vector<TensorType>& inputs) { return inputs.at(0); };
  op.compute = [](const std::vector<TensorData>&, TensorData::Writable&) {};
  return op;
}

void run_of(Graph& g, const CustomOp& op) {
  custom_op(op, {g.input("x", {2})}).output("y");
  Executable exe = compile(g);
  exe.set("x", {1, 2});
  exe.run();
}

}  // namespace

std::vector<Mistake> graph_mistakes() {
  return {
      {"two leaves of one name",
       [](Graph& g) {
         g.input("x", {1});
         g.weight("x", {1});
       }},
      {"two outputs of one name", [](Graph& g) { g.input("x", {1}).output("y").output("y"); }},
      {"an output without a name", [](Graph& g) { g.input("x", {1}).output(""); }},
      {"an input with a negative dim", [](Graph& g) { g.input("x", {-1, 3}); }},
      {"tensors of two graphs",
       [](Graph& g) {
         Graph other;
         g.input("a", {1}) + other.input("b", {1});
       }},
      {"a tensor whose graph is gone",
       [](Graph&) {
         Tensor left;
         {
           Graph gone;
           left = gone.input("a", {1});
         }
         left.relu();
       }},
      {"an empty tensor", [](Graph&) { exp(Tensor()); }},
      {"updating what isn't a state",
       [](Graph& g) { g.update(g.weight("w", {2}), g.input("x", {2})); }},
      {"updating a state with another shape",
       [](Graph& g) { g.update(g.state("s", {2}), g.input("x", {3})); }},
      {"updating a state twice",
       [](Graph& g) {
         Tensor s = g.state("s", {2});
         g.update(s, s + 1);
         g.update(s, s + 2);
       }},
      {"setting a computed tensor",
       [](Graph& g) { exp(g.input("x", {2})).set(std::vector<float>{1, 2}); }},
      {"setting elements that don't fill the rows",
       [](Graph& g) { g.input("x", {Expr::var("n"), 2}).set(std::vector<float>(5)); }},
      {"setting too few elements", [](Graph& g) { g.weight("w", {2, 3}).set({1, 2, 3}); }},
      {"a ragged nested list", [](Graph& g) { g.input("x", {2, 2}).set({{1, 2}, {3}}); }},
      {"a custom op without a name",
       [](Graph& g) {
         CustomOp op = doubled();
         op.name = "";
         custom_op(op, {g.input("x", {2})});
       }},
      {"a custom op that computes nothing",
       [](Graph& g) {
         CustomOp op = doubled();
         op.compute = nullptr;
         custom_op(op, {g.input("x", {2})});
       }},
      {"a custom op's shape rule that throws",
       [](Graph& g) {
         CustomOp op = doubled();
         op.shape_rule = [](const std::vector<TensorType>&) -> TensorType {
           throw std::invalid_argument("it wants two inputs");
         };
         custom_op(op, {g.input("x", {2})});
       }},
      {"a custom op that throws in a run",
       [](Graph& g) {
         CustomOp op = doubled();
         op.compute = [](const std::vector<TensorData>&, TensorData::Writable&) {
           throw std::domain_error("a negative element");
         };
         run_of(g, op);
       }},
      {"a custom op's kernel that throws",
       [](Graph& g) {
         CustomOp op = doubled();
         op.kernel = CustomKernel{.run = [](const KernelCall&) { throw 7; }};
         run_of(g, op);
       }},
      {"a custom op's kernel with more parallel dims than dims",
       [](Graph& g) {
         CustomOp op = doubled();
         op.kernel = CustomKernel{.parallel_dims = 2, .run = [](const KernelCall&) {}};
         custom_op(op, {g.input("x", {2})});
       }},
      {"rules of a custom op that don't parse",
       [](Graph& g) {
         CustomOp op = doubled();
         op.rules = "(rewrite (Call1 \"doubled\" x)";
         run_of(g, op);
       }},
  };
}

}  // namespace luminal
