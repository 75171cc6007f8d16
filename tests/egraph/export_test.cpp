#include "luminal/egraph/export.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal::egraph {
namespace {

constexpr const char* kProgram = R"((datatype M (Num i64) (Var String) (Add M M :cost 5))
    (relation seen (M i64))
    (function low (M) i64 :merge (min old new))
    (rewrite (Add a b) (Add b a) :name "commute")
    (let x (Add (Num 1) (Var "a\"<b>")))
    (let top (Add x (Num 7)))
    (seen x 3) (set (low x) 4) (relation flag ()) (flag)
    (run 1))";

EGraph make() {
  EGraph egraph;
  egraph.run_program(kProgram, "t");
  return egraph;
}

Value number(EGraph& egraph, int64_t n) {
  return *egraph.lookup(egraph.function("Num"), {egraph.constants().intern(n)});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The layout is that of egglog 13.1's `serialize(…).to_json()` for the same program; ids of base
// values and which node of a class an edge names are free.
TEST(Export, JsonIsInTheSerializedFormat) {
  EGraph egraph = make();
  EXPECT_EQ(egraph.export_json(), R"({
  "nodes": {
    "function-0-Add": {"op": "Add", "children": ["function-0-Num", "function-0-Var"], "eclass": "M-2", "cost": 5.0, "subsumed": false},
    "function-2-Add": {"op": "Add", "children": ["function-0-Var", "function-0-Num"], "eclass": "M-2", "cost": 5.0, "subsumed": false},
    "primitive-i64-0": {"op": "1", "children": [], "eclass": "i64-0", "cost": 1.0, "subsumed": false},
    "function-0-Num": {"op": "Num", "children": ["primitive-i64-0"], "eclass": "M-0", "cost": 1.0, "subsumed": false},
    "primitive-String-0": {"op": "\"a\\\"<b>\"", "children": [], "eclass": "String-0", "cost": 1.0, "subsumed": false},
    "function-0-Var": {"op": "Var", "children": ["primitive-String-0"], "eclass": "M-1", "cost": 1.0, "subsumed": false},
    "function-1-Add": {"op": "Add", "children": ["function-0-Add", "function-1-Num"], "eclass": "M-4", "cost": 5.0, "subsumed": false},
    "function-3-Add": {"op": "Add", "children": ["function-1-Num", "function-0-Add"], "eclass": "M-4", "cost": 5.0, "subsumed": false},
    "primitive-i64-1": {"op": "7", "children": [], "eclass": "i64-1", "cost": 1.0, "subsumed": false},
    "function-1-Num": {"op": "Num", "children": ["primitive-i64-1"], "eclass": "M-3", "cost": 1.0, "subsumed": false},
    "primitive-i64-2": {"op": "3", "children": [], "eclass": "i64-2", "cost": 1.0, "subsumed": false},
    "function-0-seen": {"op": "seen", "children": ["function-0-Add", "primitive-i64-2"], "eclass": "@seenSort-0", "cost": 1.0, "subsumed": false},
    "primitive-i64-3": {"op": "4", "children": [], "eclass": "i64-3", "cost": 1.0, "subsumed": false},
    "function-0-low": {"op": "low", "children": ["function-0-Add"], "eclass": "i64-3", "cost": 1.0, "subsumed": false},
    "function-0-flag": {"op": "flag", "children": [], "eclass": "@flagSort-0", "cost": 1.0, "subsumed": false}
  },
  "root_eclasses": [],
  "class_data": {
    "M-0": {"type": "M"},
    "M-1": {"type": "M"},
    "M-2": {"type": "M", "let": "x"},
    "i64-0": {"type": "i64"},
    "String-0": {"type": "String"},
    "M-3": {"type": "M"},
    "M-4": {"type": "M", "let": "top"},
    "i64-1": {"type": "i64"},
    "i64-2": {"type": "i64"},
    "@seenSort-0": {"type": "@seenSort"},
    "i64-3": {"type": "i64"},
    "@flagSort-0": {"type": "@flagSort"}
  }
}
)");
}

TEST(Export, TruncationIsSaidWithTheOptionThatShowsMore) {
  EGraph egraph = make();
  const std::string note =
      "2 of 10 nodes and 1 of 5 classes are shown; to see more, raise shown-nodes, now 2";
  const std::string json = egraph.export_json({.shown_nodes = 2});
  EXPECT_TRUE(contains(json, R"("nodes_left_out": 8,)")) << json;
  EXPECT_TRUE(contains(json, R"("classes_left_out": 4,)"));
  EXPECT_TRUE(contains(json, "\"note\": \"" + note + "\""));
  EXPECT_EQ(count(json, R"("op": "[...]")"), 2u);  // the two arguments of what is shown
  const std::string dot = egraph.export_dot({.shown_nodes = 2});
  EXPECT_TRUE(contains(dot, "label=<" + note + ">"));
  EXPECT_EQ(count(dot, "tooltip=\"left out\""), 2u);
  EXPECT_FALSE(contains(egraph.export_json(), "truncated"));
  EXPECT_FALSE(contains(egraph.export_dot(), "left out"));
}

TEST(Export, ANeighbourhoodIsMeasuredInStepsFromClassToClass) {
  EGraph egraph = make();
  const Value seven = number(egraph, 7);
  // Itself; then `top`, whose argument it is; then x; then the parts of x and what is known of it.
  const auto note = [&](uint32_t radius, bool parents) {
    const std::string json =
        egraph.export_json({.around = seven, .radius = radius, .parents = parents});
    const size_t at = json.find("\"note\": \"");
    if (at == std::string::npos) return std::string("all");
    return json.substr(at + 9, json.find(';', at) - at - 9);
  };
  EXPECT_EQ(note(0, true),
            "1 of 10 nodes and 1 of 5 classes are shown, those up to 0 steps from #3");
  EXPECT_EQ(note(1, true),
            "3 of 10 nodes and 2 of 5 classes are shown, those up to 1 step from #3");
  EXPECT_EQ(note(2, true),
            "7 of 10 nodes and 3 of 5 classes are shown, those up to 2 steps from #3");
  // All but the flag, which is about no class.
  EXPECT_EQ(note(3, true),
            "9 of 10 nodes and 5 of 5 classes are shown, those up to 3 steps from #3");
  EXPECT_EQ(note(9, false),
            "1 of 10 nodes and 1 of 5 classes are shown, those up to 9 steps from #3 among its "
            "arguments");
  EXPECT_TRUE(contains(egraph.export_json({.around = seven}), "\"root_eclasses\": [\"M-3\"]"));
  EXPECT_THROW(egraph.export_json({.around = Value{12345}}), UserError);
}

TEST(Export, WhoSharesAFactIsANeighbour) {
  EGraph egraph;
  egraph.run_program(R"((datatype V (v i64)) (relation edge (V V))
      (edge (v 1) (v 2)) (edge (v 2) (v 3)))",
                     "t");
  const Value first = *egraph.lookup(egraph.function("v"), {egraph.constants().intern(int64_t{1})});
  const std::string dot = egraph.export_dot({.around = first, .radius = 1});
  EXPECT_EQ(count(dot, "subgraph cluster_"), 2u);
  EXPECT_EQ(count(dot, "<b>edge</b>"), 1u);
}

TEST(Export, DotHasAClusterPerClassAndEscapesTexts) {
  EGraph egraph = make();
  const std::string dot = egraph.export_dot();
  EXPECT_EQ(count(dot, "subgraph cluster_"), 5u);
  EXPECT_TRUE(contains(dot, "label=<M #2 = x>"));
  EXPECT_TRUE(contains(dot, "&quot;a\\&quot;&lt;b&gt;&quot;"));
  EXPECT_TRUE(contains(dot, "tooltip=\"by commute\""));
  EXPECT_TRUE(contains(dot, "<td>=</td><td>4</td>"));
}

}  // namespace
}  // namespace luminal::egraph
