#include "luminal/search/terms/rule_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"
#include "luminal/rule_testing/test_rules.h"
#include "luminal/search/terms/saturate.h"
#include "luminal/shape/scalar.h"

namespace luminal {
namespace {

using search::Admission;
using search::RuleClass;
using search::RuleSet;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string error_of(const std::string& text) {
  try {
    search::Terms terms(RuleSet(std::vector{search::RuleText{"mine.egg", text}}));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(RuleSet, AdmitsClassesInOrder) {
  const RuleSet rules;
  const auto exact = rules.admitted({.up_to = RuleClass::Exact});
  EXPECT_THAT(exact, Contains("algebra.exact"));
  EXPECT_THAT(exact, Not(Contains("algebra.reassociating")));
  const auto by_default = rules.admitted({});
  EXPECT_THAT(by_default, Contains("algebra.reassociating"));
  EXPECT_THAT(by_default, Not(Contains("algebra.finite")));
  EXPECT_THAT(rules.admitted({.up_to = RuleClass::Approximate}), Contains("algebra.finite"));
}

TEST(RuleSet, LeavesOutDisabledGroupsAndKeepsFacts) {
  const RuleSet rules;
  const auto names = rules.admitted({.disabled = {"algebra", "movement"}});
  EXPECT_THAT(names, Not(Contains("algebra.exact")));
  EXPECT_THAT(names, Contains("facts.exact"));
}

TEST(RuleSet, NamesTheGroupsWhereOneIsUnknown) {
  try {
    RuleSet().admitted({.disabled = {"algebar"}});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no group of rules 'algebar'"));
    EXPECT_THAT(error.what(), HasSubstr("movement, algebra"));
  }
}

TEST(RuleSet, WantsAClassInTheNameOfARuleset) {
  EXPECT_THAT(error_of("(ruleset mine)"),
              HasSubstr("mine.egg:1:1: ruleset 'mine' doesn't name the class of its rules"));
  EXPECT_THAT(error_of("(ruleset mine.precise)"), HasSubstr("exact, reassociating, finite"));
  EXPECT_THAT(error_of("\n(rewrite (Add x x) x :name \"n\")"),
              HasSubstr("mine.egg:2:1: rule 'n' is in no ruleset"));
}

TEST(RuleSet, SaysWhatIsWrongWithAUsersFile) {
  EXPECT_THAT(error_of("(ruleset mine.exact)\n(rewrite (Add x x) x :ruleset mine.exact)"),
              HasSubstr("mine.egg:2:1: the rule has no name"));
  EXPECT_THAT(error_of("(ruleset mine.exact"), HasSubstr("mine.egg:1:"));
  EXPECT_THAT(error_of("(run 3)"), HasSubstr("in a file of rules"));
  EXPECT_THAT(error_of("(constructor Gelu (Value) Value)"), HasSubstr("no kernel could compute"));
  EXPECT_THAT(error_of("(ruleset mine.exact)\n"
                       "(rewrite (Add x 3) x :ruleset mine.exact :name \"n\")"),
              HasSubstr("mine.egg:2:"));
  EXPECT_THAT(error_of("(ruleset mine.exact)\n"
                       "(rewrite (Add x x) x :ruleset mine.exact :name \"mul-one\")"),
              HasSubstr("there is a rule 'mul-one' already, in algebra.egg"));
}

// A rule that never fires: only where it is from matters.
search::RuleText file_of(const std::string& rule, search::RuleOrigin origin) {
  return {.file = "some.egg",
          .text = "(ruleset " + rule + ".exact)\n(rewrite (Sin x) (Sin x) :ruleset " + rule +
                  ".exact :name \"" + rule + "\")",
          .origin = std::move(origin)};
}

TEST(RuleSet, SuspectsWhatIsNamedAndThenWhatIsTrustedLeast) {
  using By = search::RuleOrigin::By;
  EXPECT_EQ(RuleSet().suspect("rule 'mul-one'"), nullptr);
  const RuleSet rules(std::vector{file_of("toys", {By::Backend, "toy"}),
                                  file_of("ops", {By::CustomOp, "op"}), file_of("mine", {})});
  EXPECT_EQ(rules.suspect("rule 'toys' failed")->name, "toys");
  EXPECT_EQ(rules.suspect("rule 'mul-one' failed")->name, "mine");
  EXPECT_EQ(rules.find("toys")->place(), "some.egg of backend 'toy'");
  EXPECT_EQ(rules.find("ops")->place(), "some.egg of custom op 'op'");
  EXPECT_EQ(rules.find("mine")->place(), "some.egg");
  EXPECT_EQ(rules.find("mul-one")->place(), "algebra.egg");
}

// ---- Through compile() -------------------------------------------------------------------------

struct Compiled {
  CompileReport report;
  std::string error;
};

Compiled compile_with(Graph& graph, CompileOptions options) {
  Compiled compiled;
  options.report = &compiled.report;
  options.storage.cache_folder = "none";
  try {
    compile(graph, options);
  } catch (const UserError& error) {
    compiled.error = error.what();
  }
  return compiled;
}

bool has_op(const CompileReport& report, const std::string& op) {
  for (const KernelReport& kernel : report.kernels) {
    if (kernel.text.find(op) != std::string::npos) return true;
  }
  return false;
}

TEST(CompileOptions, NumericsChoosesTheRules) {
  Graph graph;
  log2(exp2(graph.input("x", {16}))).output("y");
  EXPECT_TRUE(has_op(compile_with(graph, {}).report, "log2"));
  const Compiled finite = compile_with(graph, {.plan = {.numerics = Numerics::Finite}});
  EXPECT_FALSE(has_op(finite.report, "log2"));
  bool found = false;
  for (const RuleGrowth& rule : finite.report.rules) {
    if (rule.rule != "log2-of-exp2") continue;
    found = true;
    EXPECT_EQ(rule.group, "algebra");
    EXPECT_EQ(rule.numeric_class, "finite");
  }
  EXPECT_TRUE(found);
}

TEST(CompileOptions, DisabledGroupsDoNotRun) {
  Graph graph;
  (sqrt(graph.input("x", {16})) * 1.0).output("y");
  EXPECT_FALSE(has_op(compile_with(graph, {}).report, "mul"));
  const Compiled without = compile_with(graph, {.plan = {.disable_rules = {"algebra"}}});
  EXPECT_TRUE(has_op(without.report, "mul"));
  for (const RuleGrowth& rule : without.report.rules) EXPECT_NE(rule.group, "algebra");
  EXPECT_THAT(compile_with(graph, {.plan = {.disable_rules = {"fusion"}}}).error,
              HasSubstr("the groups are movement, algebra"));
  EXPECT_EQ(compile_with(graph, {.plan = {.disable_rules = {"movement", "algebra"}}}).error, "");
}

TEST(CompileOptions, UsersRulesRunWithTheOthers) {
  Graph graph;
  sin(sin(graph.input("x", {16}))).output("y");
  const RuleFile mine{"mine.egg",
                      "(ruleset mine.approximate)\n"
                      "(rewrite (Sin x) x :ruleset mine.approximate :name \"small-angle\")"};
  EXPECT_TRUE(has_op(compile_with(graph, {.plan = {.rules = {mine}}}).report, "sin"));
  const Compiled compiled =
      compile_with(graph, {.plan = {.numerics = Numerics::Approximate, .rules = {mine}}});
  EXPECT_EQ(compiled.error, "");
  EXPECT_FALSE(has_op(compiled.report, "sin"));
}

TEST(CompileOptions, ARuleThatJoinsTypesIsTheUsersError) {
  Graph graph;
  (graph.input("x", {4}) < graph.input("z", {4})).output("y");
  const RuleFile mine{"mine.egg",
                      "(ruleset mine.exact)\n"
                      "(rewrite (LessThan x y) x :ruleset mine.exact :name \"no-comparison\")"};
  EXPECT_THAT(compile_with(graph, {.plan = {.rules = {mine}}}).error,
              HasSubstr("mine.egg: rule 'no-comparison' is wrong"));
  const RuleFile parts{"mine.egg",
                       "(ruleset mine.exact)\n"
                       "(rewrite (LessThan x y) (LessThan x (LessThan x y)) :ruleset mine.exact "
                       ":name \"unfit\")"};
  EXPECT_THAT(compile_with(graph, {.plan = {.rules = {parts}}}).error,
              HasSubstr("mine.egg: rule 'unfit' made a term that no primitive accepts: less_than: "
                        "dtypes differ: '"
                        "operand 1' is f32, 'operand 2' is bool"));
}

// What compile() says of a rule of the user's, on a graph where it fires.
std::string error_of_rule(const std::string& rule) {
  Graph graph;
  const Tensor x = graph.input("x", {4, 6});
  const Tensor i = graph.input("i", {3}, DType::I64);
  sin(x).output("sine");
  prim::gather(x, i).output("rows");
  prim::reduce(x, Reducer::Sum).output("sum");
  prim::scan(x, Reducer::Sum).output("sums");
  prim::scatter(x, i, prim::gather(x, i), Reducer::Sum).output("scattered");
  x.transpose(0, 1).output("turned");
  const RuleFile mine{"mine.egg", "(ruleset mine.exact)\n" + rule};
  return compile_with(graph, {.plan = {.rules = {mine}}}).error;
}

std::string error_of_rewrite(const std::string& sides) {
  return error_of_rule("(rewrite " + sides + " :ruleset mine.exact :name \"wrong\")");
}

TEST(CompileOptions, AWordThatMeansNothingIsTheUsersError) {
  const std::string begin = "mine.egg: rule 'wrong' made ";
  EXPECT_THAT(error_of_rewrite("(Sin x) (Cast \"double\" x)"),
              HasSubstr(begin + "a cast to \"double\"; the dtypes are f64, f32"));
  EXPECT_THAT(error_of_rewrite("(Sin x) (Bitcast \"int\" x)"),
              HasSubstr(begin + "a cast to \"int\"; the dtypes are"));
  EXPECT_THAT(error_of_rewrite("(Reduce r n x) (Reduce \"mean\" n x)"),
              HasSubstr(begin + "a reduction or scan by \"mean\"; there are sum, prod, max"));
  EXPECT_THAT(error_of_rewrite("(Scan r n x) (Scan \"mean\" n x)"),
              HasSubstr(begin + "a reduction or scan by \"mean\""));
  EXPECT_THAT(error_of_rewrite("(StoreAt m a b c) (StoreAt \"add\" a b c)"),
              HasSubstr(begin + "a StoreAt by \"add\"; there are replace, sum, prod, max"));
  for (const char* number : {"99", "-1"}) {
    EXPECT_THAT(error_of_rewrite(std::string("(Sin x) (Load (Source ") + number + "))"),
                HasSubstr(begin + "(Source " + number + "), but this graph's are 0 to 1"));
  }
}

TEST(CompileOptions, ATermThatNoPrimitiveTakesIsTheUsersError) {
  const std::string begin = "mine.egg: rule 'wrong' made a term that no primitive accepts: ";
  EXPECT_THAT(error_of_rewrite("(Sin x) (Bitcast \"f32\" (Bitcast \"f16\" x))"),
              HasSubstr(begin + "bitcast: "));
  EXPECT_THAT(error_of_rewrite("(Sin x) (Cast \"f32\" (Cast \"u4\" x))"),
              HasSubstr(begin + "cast: can't cast to u4"));
  EXPECT_THAT(error_of_rewrite("(Gather a i) (Gather a (Cast \"f32\" i))"),
              HasSubstr(begin + "gather: expects an i64 or i32 index"));
  EXPECT_THAT(error_of_rewrite("(Gather a i) (Gather a (Sin i))"),
              HasSubstr(begin + "sin: expects a float type"));
  EXPECT_THAT(error_of_rewrite("(Sin x) (Select x x x)"),
              HasSubstr(begin + "select: expects a bool condition"));
  EXPECT_THAT(error_of_rewrite("(StoreAt m a b c) (StoreAt m a b a)"),
              HasSubstr(begin + "scatter: values must be"));
  EXPECT_THAT(error_of_rewrite("(Reindex m x) (Reindex m (Reindex m x))"),
              AllOf(HasSubstr("mine.egg: a rule there makes invalid terms"),
                    HasSubstr("(rule 'views-compose')")));
  EXPECT_THAT(error_of_rewrite("(Scan r n x) (Scan r n (Sin (Reduce r n x)))"), Not(""));
}

TEST(CompileOptions, ARuleThatPanicsIsTheUsersError) {
  EXPECT_THAT(error_of_rule("(rule ((= v (Sin x))) ((panic \"no sines\")) :ruleset mine.exact "
                            ":name \"wrong\")"),
              HasSubstr("no sines"));
}

TEST(CompileOptions, ARuleWithoutEndIsANoteThatNamesIt) {
  Graph graph;
  sin(graph.input("x", {4})).output("y");
  const RuleFile mine{"mine.egg",
                      "(ruleset mine.exact)\n"
                      "(rewrite (Sin x) (Sin (Mul x (Recip (Recip x)))) :ruleset mine.exact "
                      ":name \"endless\")"};
  const Compiled compiled = compile_with(graph, {.plan = {.rules = {mine}}});
  EXPECT_EQ(compiled.error, "");
  EXPECT_THAT(compiled.report.notes,
              Contains(AllOf(HasSubstr("saturation stopped at a limit"), HasSubstr("'endless'"))));
  EXPECT_EQ(compiled.report.kernels.size(), 1u);
}

// ---- Folding -----------------------------------------------------------------------------------

TEST(Folding, ABitcastKeepsTheBitsOfANaN) {
  Graph graph;
  const Tensor nan = graph.constant(-1, DType::I32).bitcast(DType::F32);
  const Tensor y = nan.bitcast(DType::I32).output("y");
  Executable executable = compile(graph, {.storage = {.cache_folder = "none"}});
  executable.run();
  EXPECT_EQ(executable.get_data(y).to_ints(), std::vector<int64_t>{-1});
}

// ---- Dead nodes --------------------------------------------------------------------------------

TEST(DeadNodes, NeverReachAPlan) {
  Graph graph;
  const Tensor x = graph.input("x", {8}, DType::I64);
  const Tensor zero = graph.constant(0, DType::I64).expand({8});
  (x + cumsum(x * x, 0) * zero).output("y");
  exp2(graph.input("unused", {8}));
  const Compiled compiled = compile_with(graph, {});
  EXPECT_EQ(compiled.error, "");
  EXPECT_EQ(compiled.report.kernels.size(), 0u) << compiled.report.text();
  for (const std::string& note : compiled.report.notes) {
    EXPECT_THAT(note, Not(HasSubstr("runs on the host")));
  }
}

TEST(DeadNodes, SharedTermsAreComputedOnce) {
  Graph graph;
  const Tensor x = graph.input("x", {8});
  (exp2(x) + exp2(x * 1.0)).output("y");
  const Compiled compiled = compile_with(graph, {});
  ASSERT_EQ(compiled.report.kernels.size(), 1u);
  const std::string& text = compiled.report.kernels[0].text;
  EXPECT_EQ(text.find("exp2"), text.rfind("exp2")) << text;
}

// ---- Rules of custom ops -----------------------------------------------------------------------

CustomOp square(const std::string& product) {
  return {.name = "my_square",
          .shape_rule =
              [](const std::vector<TensorType>& types) {
                if (!is_float(types[0].dtype)) throw UserError("my_square: wants floats");
                return types[0];
              },
          .compute =
              [](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
                for (int64_t i = 0; i < inputs[0].n_elements(); ++i) {
                  const double x = inputs[0].to_doubles()[static_cast<size_t>(i)];
                  store_float(inputs[0].dtype, result.bytes.data(), i,
                              round_to(inputs[0].dtype, x * x));
                }
              },
          .rules = "(ruleset square.exact)\n(rewrite (Call1 \"my_square\" x) " + product +
                   " :ruleset square.exact :name \"square-is-product\")"};
}

bool any_host_step(const CompileReport& report) {
  return std::any_of(report.notes.begin(), report.notes.end(), [](const std::string& note) {
    return note.find("runs on the host") != std::string::npos;
  });
}

TEST(CustomOpRules, TurnACallIntoKernels) {
  Graph graph;
  const Tensor x = graph.input("x", {4});
  const Tensor y = custom_op(square("(Mul x x)"), {exp2(x)}) + x;
  y.output("y");
  const Compiled compiled = compile_with(graph, {.plan = {.fusion = FusionPolicy::Always}});
  EXPECT_EQ(compiled.error, "");
  EXPECT_FALSE(any_host_step(compiled.report));
  EXPECT_EQ(compiled.report.kernels.size(), 1u);
  Executable executable = compile(graph, {.storage = {.cache_folder = "none"}});
  const std::vector<float> values = {0, 1, 2, 3};
  executable.set(x, values);
  executable.run();
  EXPECT_EQ(executable.get<float>(y), (std::vector<float>{1, 5, 18, 67}));
  EXPECT_TRUE(any_host_step(compile_with(graph, {.plan = {.disable_rules = {"square"}}}).report));
}

TEST(CustomOpRules, ThatEndInAnotherCallLeaveItToTheHost) {
  Graph graph;
  const Tensor x = graph.input("x", {4});
  custom_op(square("(Mul (Call1 \"another_op\" x) x)"), {x}).output("y");
  const Compiled compiled = compile_with(graph, {});
  EXPECT_EQ(compiled.error, "");
  EXPECT_TRUE(any_host_step(compiled.report));
}

TEST(CustomOpRules, AreTestedWithTheirOp) {
  const CustomOp right = square("(Mul x x)");
  const RuleSet rules(std::vector{search::RuleText{"square", right.rules}});
  const search::RuleInfo& rule = *rules.find("square-is-product");
  EXPECT_EQ(rule_testing::test_rule(rules, rule, {.custom_ops = {{right.name, right}}}).why, "");
  const CustomOp wrong = square("(Add x x)");
  const RuleSet wrong_rules(std::vector{search::RuleText{"square", wrong.rules}});
  EXPECT_THAT(rule_testing::test_rule(wrong_rules, *wrong_rules.find("square-is-product"),
                                      {.custom_ops = {{wrong.name, wrong}}})
                  .why,
              HasSubstr("does not hold"));
  EXPECT_THAT(rule_testing::test_rule(rules, rule).why,
              HasSubstr("custom op 'my_square', which isn't known"));
}

}  // namespace
}  // namespace luminal
