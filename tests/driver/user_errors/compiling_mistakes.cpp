#include "tests/driver/user_errors/mistakes.h"

namespace luminal {
namespace {

// Compiles y = relu(x) with x [s, 4].
Executable compile_relu(Graph& g, const CompileOptions& options) {
  g.input("x", {Expr::var("s", 1, 8), 4}).relu().output("y");
  return compile(g, options);
}

}  // namespace

std::vector<Mistake> compiling_mistakes() {
  return {
      {"a backend that isn't there",
       [](Graph& g) { compile_relu(g, {.backend = {.name = "gpu"}}); }},
      {"f64 arithmetic on a backend that compiles kernels",
       [](Graph& g) { compile_relu(g, {.backend = {.name = "cpu", .float64 = true}}); }},
      {"fewer than no threads", [](Graph& g) { compile_relu(g, {.backend = {.threads = -1}}); }},
      {"a fusion pattern that isn't there",
       [](Graph& g) {
         compile_relu(g, {.plan = {.fusion_groups = {{"swigloo", FusionPolicy::Never}}}});
       }},
      {"a group of rules that isn't there",
       [](Graph& g) { compile_relu(g, {.plan = {.disable_rules = {"algebruh"}}}); }},
      {"rules that don't parse",
       [](Graph& g) { compile_relu(g, {.plan = {.rules = {{"mine.egg", "(rewrite (Add x"}}}}); }},
      {"variants of a variable that isn't there",
       [](Graph& g) { compile_relu(g, {.plan = {.variants = {{"batch", {1, 4}}}}}); }},
      {"one variable with two pairs of bounds",
       [](Graph& g) {
         g.input("a", {Expr::var("s", 1, 8)});
         g.input("b", {Expr::var("s", 1, 16)});
         compile(g);
       }},
  };
}

}  // namespace luminal
