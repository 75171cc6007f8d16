#include "luminal/graph/text_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/graph/graphviz.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/verify.h"

namespace luminal {
namespace {

using testing::HasSubstr;

std::string parse_error(const std::string& text) {
  try {
    parse_graph(text, "file.lum");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// One node of every op, with every kind of attribute.
void build_all_ops(Graph& graph) {
  Expr s = Expr::var("s", 1, 64);
  Tensor x = graph.input("x", {s, 4});
  Tensor w = graph.weight("a \"quoted\" name", {4}, DType::BF16);
  Tensor h = graph.state("h", {s, 4});
  Tensor i = graph.input("i", {3}, DType::I64);
  Tensor y = prim::add(prim::mul(prim::exp2(x), prim::log2(h)), prim::sin(x)).name("mixed");
  y = prim::mod(prim::sqrt(prim::recip(y)), prim::full_like(y, 0.1));
  graph.update(h, y);
  Tensor lower = prim::less_than(x, y);
  Tensor chosen = prim::select(lower, x, y);
  prim::equal(x, y).keep();
  Tensor rows = prim::gather(prim::reduce(chosen, Reducer::Max), i);
  prim::scatter(prim::scan(rows, Reducer::Sum), i, rows).output("set");
  prim::scatter(rows, i, rows, Reducer::Prod).output("prod");
  Tensor n = prim::iota(graph, Expr::index(0, s) * 2 + s % 3, {s}, DType::I32);
  prim::bit_and(prim::int_div(n, n), n).output("n");
  prim::bitcast(prim::cast(w, DType::F16), DType::I16).output("bits").print("the bits");
  const int swap[] = {1, 0};
  prim::view(x, IndexMap::permute(x.dims(), swap)).output("t").diff("t.npy", 1e-3, 0.5);
  graph.constant(-INFINITY, DType::F32).output("low");
  graph.literal(NestedList{{1, 2}, {3, 4}}, DType::I8).output("literal");
}

// A text can't make a kernel read outside of a buffer.
TEST(TextForm, AViewThatLeavesItsSourceIsRefused) {
  const auto with_view = [](const std::string& map, const std::string& dims) {
    return parse_error("luminal-graph 1\nvar s 1 8\n%0 = input \"x\" : f32[4, 6]\n%1 = view %0 [" +
                       map + "] : f32" + dims + "\noutput \"y\" %1\n");
  };
  EXPECT_THAT(with_view("i0 * 1000, i1", "[64, 6]"),
              HasSubstr("index i0 * 1000 of its map [i0 * 1000, i1] lies outside axis 0 of [4, 6]: "
                        "i0 * 1000 reaches 1000 at i0 = 1; keep it from 0 to 3"));
  EXPECT_THAT(with_view("i0 - 2, 0", "[4]"), HasSubstr("reaches -2 at i0 = 0"));
  EXPECT_THAT(with_view("0, i0", "[7]"), HasSubstr("axis 1 of [4, 6]"));
  EXPECT_THAT(with_view("i0 * 1000000000000, 0", "[4]"), HasSubstr("lies outside axis 0"));
  EXPECT_THAT(with_view("4 + s, 0", "[4]"), HasSubstr("is never in range"));
  for (const char* map : {"i0 * 1000 % 4, i0 % 6", "min(i0, 3), max(5 - i0, 0)", "i0 // 16, 0",
                          "i0 * 144115188075855869 % 4, 5"}) {
    EXPECT_EQ(with_view(map, "[64]"), "no error") << map;
  }
  // A run decides: see ViewChecks.
  EXPECT_EQ(with_view("s - 1, i0", "[6]"), "no error");
  // Nothing is read.
  EXPECT_EQ(with_view("i0 * 1000, 7", "[0]"), "no error");
}

TEST(TextForm, RoundTripsEveryOp) {
  Graph graph;
  build_all_ops(graph);
  verify(graph);
  const std::string text = print_graph(graph);
  std::unique_ptr<Graph> again = parse_graph(text);
  verify(*again);
  EXPECT_EQ(print_graph(*again), text);
}

TEST(TextForm, ReadsLikeTheDocumentation) {
  Graph graph;
  Tensor x = graph.input("x", {Expr::var("s", 1, 4096), 64});
  prim::mul(x, prim::full_like(x, 0.5)).name("scaled").output("y");
  EXPECT_EQ(print_graph(graph), R"(luminal-graph 1
var s 1 4096
%0 = input "x" : f32[s, 64]
%1 = constant 0.5 : f32[]
%2 = view %1 [] : f32[s, 64]
%3 = mul %0 %2 : f32[s, 64] "scaled"
output "y" %3
)");
}

TEST(TextForm, ErrorsNameTheLine) {
  EXPECT_THAT(parse_error(""), HasSubstr("the first line must be 'luminal-graph 1'"));
  EXPECT_THAT(parse_error("luminal-graph 2\n"), HasSubstr("file.lum:1: version 2"));
  const std::string head = "luminal-graph 1\n%0 = input \"x\" : f32[4]\n";
  EXPECT_THAT(parse_error(head + "%1 = add %0 %7 : f32[4]\n"),
              HasSubstr("file.lum:3: %7 is not defined above this line"));
  EXPECT_THAT(parse_error(head + "%1 = exp2 %0 : f32[5]\n"),
              HasSubstr("its inputs make it f32[4]"));
  EXPECT_THAT(parse_error(head + "%1 = frobnicate %0 : f32[4]\n"), HasSubstr("is not an op"));
  EXPECT_THAT(parse_error(head + "%1 = exp2 %0 : q7[4]\n"), HasSubstr("'q7' is not a dtype"));
  EXPECT_THAT(parse_error(head + "%1 = view %0 [i0 + 9] : f32[2]\n"), HasSubstr("lies outside"));
  EXPECT_THAT(parse_error(head + "%1 = exp2 %0 : f32[t]\n"), HasSubstr("file.lum:3"));
  EXPECT_THAT(parse_error(head + "%0 = exp2 %0 : f32[4]\n"), HasSubstr("defined twice"));
  EXPECT_THAT(parse_error(head + "output \"y\n"), HasSubstr("the closing double quote is missing"));
  EXPECT_THAT(parse_error(head + "wibble %0\n"), HasSubstr("doesn't start any line of a graph"));
  EXPECT_THAT(parse_error(head + "output \"y\" %0 %0\n"), HasSubstr("nothing may follow"));
  EXPECT_THAT(parse_error(head + "data %0 [99999999]\n"), HasSubstr("at most 64 elements"));
  EXPECT_THAT(parse_error(head + "%1 = constant 300 : u8[]\n"), HasSubstr("not a value of u8"));
}

TEST(TextForm, CustomOpsAreFoundByName) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  CustomOp op{.name = "twice",
              .shape_rule = [](const std::vector<TensorType>& in) { return in[0]; },
              .compute = [](const std::vector<TensorData>&, TensorData::Writable&) {}};
  custom_op(op, {x}).output("y");
  const std::string text = print_graph(graph);
  EXPECT_THAT(parse_error(text), HasSubstr("custom op 'twice' is not known"));
  EXPECT_EQ(print_graph(*parse_graph(text, "g", {{"twice", op}})), text);
}

TEST(TextForm, LargeDataIsLeftOutAloud) {
  Graph graph;
  graph.weight("w", {65}).set(std::vector<float>(65, 1.0f));
  EXPECT_THAT(print_graph(graph),
              HasSubstr("# the data of 'w' (65 elements) is not part of this text"));
}

TEST(Graphviz, ShowsShapesAndDtypesOnEdges) {
  Graph graph;
  Tensor x = graph.input("x", {Expr::var("s", 1, 8), 3});
  softmax(matmul(x, graph.weight("w", {3, 2})), -1).output("y");
  const std::string dot = to_graphviz(graph);
  EXPECT_THAT(dot, HasSubstr("digraph"));
  EXPECT_THAT(dot, HasSubstr("f32[s, 3]"));
  EXPECT_THAT(dot, HasSubstr("label=\"y\""));
}

}  // namespace
}  // namespace luminal
