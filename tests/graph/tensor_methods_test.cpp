// Methods beside functions, and tensors, dims and dtypes as text. tools/tensor-methods.py --check
// says that every function has its method.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "luminal/luminal.h"

namespace luminal {
namespace {

// The graph of y = function(x) with x [2, 3], as text.
template <typename Function>
std::string graph_of(const Function& function, DType dtype = DType::F32) {
  Graph graph;
  function(graph.input("x", {2, 3}, dtype)).output("y");
  return print_graph(graph);
}

TEST(TensorMethods, AreTheFunctions) {
  EXPECT_EQ(graph_of([](Tensor x) { return x.relu(); }), graph_of(relu));
  EXPECT_EQ(graph_of([](Tensor x) { return x.std({0, 1}, {.keepdim = true}); }),
            graph_of([](Tensor x) { return stddev(x, {0, 1}, {.keepdim = true}); }));
  EXPECT_EQ(graph_of([](Tensor x) { return x.clamp(std::nullopt, 6.0); }),
            graph_of([](Tensor x) { return clamp(x, std::nullopt, 6.0); }));
  EXPECT_EQ(graph_of([](Tensor x) { return x.pow(2).matmul(x[0]); }), graph_of([](Tensor x) {
              const Tensor squares = pow(x, 2);
              return matmul(squares, x[0]);
            }));
  EXPECT_EQ(graph_of([](Tensor x) { return x.split(2, 1)[1]; }),
            graph_of([](Tensor x) { return split(x, 2, 1)[1]; }));
  EXPECT_EQ(graph_of([](Tensor x) { return x[-1][0]; }),
            graph_of([](Tensor x) { return x.select(0, -1).select(0, 0); }));
}

TEST(TensorMethods, PrintWhatTheyAre) {
  Graph graph;
  const Expr n = Expr::var("n");
  Tensor x = graph.input("x", {n + 1, 3}, DType::BF16);
  std::ostringstream out;
  out << x << "; " << x.shape() << "; " << x.dtype() << "; " << n << "; " << x.neg() << "; "
      << Tensor() << "; " << NestedList{1, 2}.data(DType::I32);
  EXPECT_EQ(out.str(),
            "'x' bf16[n + 1, 3]; [n + 1, 3]; bf16; n; %3 (mul) bf16[n + 1, 3]; (an empty tensor); "
            "[1, 2]");
}

}  // namespace
}  // namespace luminal

// Both namespaces at once, as many programs have them: nothing that these call is ambiguous.
namespace with_both_namespaces {

using namespace std;
using namespace luminal;

TEST(TensorMethods, GoWithTheNamesOfStd) {
  Graph graph;
  Tensor x = graph.input("x", {2, 3});
  const vector<Tensor> parts = split(x, 1);
  Tensor y = max(exp(x)) + min(abs(x)) + pow(x, 2) + sqrt(fmod(x, 2.0)) + round(stddev(x));
  y = y + x.all().logical_and(x.any()) + concat(parts) + remainder(x, 2) + isnan(x) + tanh(x);
  EXPECT_EQ(max(1, 2) + round(1.4) + abs(-1) + exp(0.0), 5);
  EXPECT_EQ(y.rank(), 2);
}

}  // namespace with_both_namespaces
