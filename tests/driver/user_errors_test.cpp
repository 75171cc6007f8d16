// The commonest mistakes, each with the message a user gets, held against
// tests/golden/user_errors.txt. When a message changes on purpose, copy the file that the failing
// test names over the golden one.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "luminal/luminal.h"

namespace luminal {
namespace {

struct Mistake {
  const char* title;
  std::function<void(Graph&)> make;
};

// A compiled y = x · w with x [s, 3] and w [3, 2].
struct Compiled {
  explicit Compiled(Graph& graph)
      : x(graph.input("x", {Expr::var("s", 1, 8), 3})),
        w(graph.weight("w", {3, 2})),
        hidden(matmul(x, w)),
        y((hidden * 2.0).output("y")),
        exe(compile(graph)) {}
  void set_all() {
    exe.set(x, {{1, 2, 3}});
    exe.set(w, {{1, 2}, {3, 4}, {5, 6}});
  }
  Tensor x, w, hidden, y;
  Executable exe;
};

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> list = {
      {"matmul with inner sizes that differ",
       [](Graph& g) { matmul(g.input("a", {2, 3}), g.input("b", {4, 5})); }},
      {"adding shapes that don't broadcast",
       [](Graph& g) { g.input("a", {2, 3}) + g.input("b", {4, 5}); }},
      {"an axis out of range", [](Graph& g) { softmax(g.input("x", {2, 3}), 2); }},
      {"a reshape to another number of elements",
       [](Graph& g) { g.input("x", {2, 3}).reshape({4, 2}); }},
      {"two unknown dims in a reshape", [](Graph& g) { g.input("x", {2, 3}).reshape({-1, -1}); }},
      {"a permutation that isn't one", [](Graph& g) { g.input("x", {2, 3}).permute({0, 0}); }},
      {"expanding an axis that isn't 1", [](Graph& g) { g.input("x", {2, 3}).expand({2, 4}); }},
      {"splitting by factors that don't multiply to the size",
       [](Graph& g) { g.input("x", {2, 6}).split_dims(1, {4, 2}); }},
      {"concatenating different shapes",
       [](Graph& g) { concat({g.input("a", {2, 3}), g.input("b", {2, 4})}, 0); }},
      {"a convolution with the wrong number of channels",
       [](Graph& g) { conv2d(g.input("x", {1, 3, 8, 8}), g.input("w", {4, 2, 3, 3})); }},
      {"an embedding with a float index",
       [](Graph& g) { embedding(g.input("w", {10, 4}), g.input("i", {3})); }},
      {"a mask that isn't bool",
       [](Graph& g) { where(g.input("m", {3}), g.input("a", {3}), 0.0); }},
      {"subtracting bools",
       [](Graph& g) { g.input("a", {3}, DType::Bool) - g.input("b", {3}, DType::Bool); }},
      {"computing with packed 4-bit data",
       [](Graph& g) { g.input("q", {4}, DType::U4) + g.input("x", {4}, DType::U4); }},
      {"a bitcast to another width", [](Graph& g) { g.input("x", {4}).bitcast(DType::F64); }},
      {"two leaves of one name",
       [](Graph& g) {
         g.input("x", {1});
         g.weight("x", {1});
       }},
      {"two outputs of one name", [](Graph& g) { g.input("x", {1}).output("y").output("y"); }},
      {"tensors of two graphs",
       [](Graph& g) {
         Graph other;
         g.input("a", {1}) + other.input("b", {1});
       }},
      {"an empty tensor", [](Graph&) { exp(Tensor()); }},
      {"setting a computed tensor",
       [](Graph& g) { exp(g.input("x", {2})).set(std::vector<float>{1, 2}); }},
      {"a ragged nested list", [](Graph& g) { g.input("x", {2, 2}).set({{1, 2}, {3}}); }},
      {"a backend that isn't there",
       [](Graph& g) {
         g.input("x", {2}).output("y");
         compile(g, {.backend = "gpu"});
       }},
      {"f64 arithmetic on a backend that compiles kernels",
       [](Graph& g) {
         g.input("x", {2}).output("y");
         compile(g, {.backend = "cpu", .float64 = true});
       }},
      {"one variable with two pairs of bounds",
       [](Graph& g) {
         g.input("a", {Expr::var("s", 1, 8)});
         g.input("b", {Expr::var("s", 1, 16)});
         compile(g);
       }},
      {"running without an input",
       [](Graph& g) {
         Compiled c(g);
         c.exe.set(c.w, {{1, 2}, {3, 4}, {5, 6}});
         c.exe.run({{"s", 1}});
       }},
      {"running without a variable",
       [](Graph& g) {
         Compiled c(g);
         c.set_all();
         c.exe.run();
       }},
      {"a variable out of bounds",
       [](Graph& g) {
         Compiled c(g);
         c.set_all();
         c.exe.run({{"s", 9}});
       }},
      {"binding a variable the graph doesn't have",
       [](Graph& g) {
         Compiled c(g);
         c.set_all();
         c.exe.run({{"s", 1}, {"batch", 2}});
       }},
      {"an input of the wrong size for this run",
       [](Graph& g) {
         Compiled c(g);
         c.set_all();
         c.exe.run({{"s", 4}});
       }},
      {"a weight with the wrong number of elements",
       [](Graph& g) { Compiled(g).exe.set(g.tensor(NodeId{1}), std::vector<float>{1, 2}); }},
      {"data of the wrong dtype",
       [](Graph& g) { Compiled(g).exe.set(g.tensor(NodeId{1}), std::vector<int32_t>(6)); }},
      {"reading a tensor that wasn't kept",
       [](Graph& g) {
         Compiled c(g);
         c.set_all();
         c.exe.run({{"s", 1}});
         c.exe.get<float>(c.hidden);
       }},
      {"reading before running",
       [](Graph& g) {
         Compiled c(g);
         c.exe.get<float>(c.y);
       }},
      {"an index outside its table",
       [](Graph& g) {
         Tensor table = g.literal(NestedList{{1, 2}, {3, 4}});
         Tensor rows = embedding(table, g.literal(NestedList{0, 2}, DType::I64));
         rows.output("y");
         compile(g).run();
       }},
      {"a file that isn't there", [](Graph&) { SafeTensors::open("absent.safetensors"); }},
      {"a graph file of another version",
       [](Graph&) { parse_graph("luminal-graph 99\n", "model.lum"); }},
  };
  return list;
}

std::string all_messages() {
  std::string out;
  for (const Mistake& mistake : mistakes()) {
    Graph graph;
    out += std::string("# ") + mistake.title + "\n";
    try {
      mistake.make(graph);
      out += "NO ERROR\n\n";
    } catch (const UserError& error) {
      out += std::string(error.what()) + "\n\n";
    } catch (const std::exception& error) {
      out += std::string("NOT A USER ERROR: ") + error.what() + "\n\n";
    }
  }
  return out;
}

TEST(UserErrors, AreTheGoldenOnes) {
  const std::filesystem::path golden =
      std::filesystem::path(LUMINAL_GOLDEN_DIR) / "user_errors.txt";
  std::ifstream file(golden);
  std::stringstream expected;
  expected << file.rdbuf();
  const std::string actual = all_messages();
  if (actual != expected.str()) std::ofstream("user_errors.actual.txt") << actual;
  EXPECT_EQ(actual, expected.str())
      << "the messages are now in " << std::filesystem::absolute("user_errors.actual.txt");
}

TEST(UserErrors, AreThirtyOrMoreAndAllUserErrors) {
  EXPECT_GE(mistakes().size(), 30u);
  const std::string messages = all_messages();
  EXPECT_EQ(messages.find("NO ERROR"), std::string::npos) << messages;
  EXPECT_EQ(messages.find("NOT A USER ERROR"), std::string::npos) << messages;
}

}  // namespace
}  // namespace luminal
