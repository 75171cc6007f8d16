#include "luminal/egraph/program/program.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace luminal::egraph {
namespace {

// Files that live in a map.
struct TestFiles {
  std::map<std::string, std::string> texts;

  Files files() {
    return {.read = [this](const std::string& path) -> std::optional<std::string> {
              const auto found = texts.find(path);
              if (found == texts.end()) return std::nullopt;
              return found->second;
            },
            .append =
                [this](const std::string& path, std::string_view text) {
                  texts[path] += text;
                  return true;
                }};
  }
};

std::vector<std::string> outputs_of(const std::string& text, const Files& files = {},
                                    const char* source = "t.egg") {
  EGraph egraph;
  ProgramOptions options;
  options.files = files;
  return egraph.run_program(text, source, options).outputs;
}

std::string error_of(const std::string& text, const Files& files = {},
                     const char* source = "t.egg") {
  try {
    outputs_of(text, files, source);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Program, CommandsOutsideOfRunsHaveALimitOfBytesToo) {
  std::string doubled = "(let s0 \"aaaaaaaaaaaaaaaa\")";
  std::string sized = "(let m0 (+ \"a\" \"b\"))";
  for (int i = 1; i < 60; ++i) {
    const std::string n = std::to_string(i), m = std::to_string(i - 1);
    doubled += "(let s" + n + " (+ s" + m + " s" + m + "))";
    sized += "(let m" + n + " (replace m" + m + " \"\" m" + m + "))";
  }
  ProgramOptions options;
  options.limits.bytes = 1'000'000;
  for (const std::string& text : {doubled, sized}) {
    EGraph egraph;
    try {
      egraph.run_program(text, "t.egg", options);
      FAIL() << text;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("take more than 1000000 bytes"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Program, StatesThatTakeTooMuchAreNotPushed) {
  const std::string text = "(relation r (String)) (r \"" + std::string(1'000'000, 'a') + "\") ";
  EXPECT_NE(error_of(text + "(push 999)").find("the pushed states would take more than"),
            std::string::npos);
  EXPECT_EQ(outputs_of(text + "(push 2) (print-size r)").back(), "1");
}

TEST(Program, OutputsAreBounded) {
  std::string text =
      "(datatype T (S String) (P T T)) (let t0 (S \"" + std::string(100'000, 'a') + "\"))";
  for (int i = 1; i < 20; ++i) {
    const std::string n = std::to_string(i), m = std::to_string(i - 1);
    text += "(let t" + n + " (P t" + m + " t" + m + "))";
  }
  EXPECT_NE(error_of(text + "(extract t19)").find("bytes to print"), std::string::npos);
}

TEST(Program, FilesOfAFolderAreIncludedAndNothingElse) {
  const std::string folder = testing::TempDir() + "egg_files";
  std::filesystem::create_directories(folder + "/below");
  std::ofstream(folder + "/below/a.egg") << "(relation a (i64))";
  std::ofstream(folder + "/../outside.egg") << "(relation b (i64))";
  Files files = files_of_folder(folder);
  files.hint = "; allow it";
  EXPECT_EQ(
      outputs_of("(include \"below/a.egg\") (print-size a)", files, (folder + "/t.egg").c_str())
          .back(),
      "0");
  for (const char* command :
       {"(include \"../outside.egg\")", "(include \"/etc/hostname\")",
        "(relation r (String)) (input r \"below/a.egg\")", "(output \"x\" 1)"}) {
    const std::string error = error_of(command, files, (folder + "/t.egg").c_str());
    EXPECT_TRUE(error.ends_with("; allow it")) << command << error;
  }
  EXPECT_FALSE(std::filesystem::exists("x"));
}

TEST(Program, PopRestoresWhatPushSaw) {
  EXPECT_EQ(
      outputs_of(R"((relation r (i64)) (r 1) (push) (r 2) (relation q (i64)) (push 2) (r 3) (pop 2)
                   (print-size) (pop) (relation q (String)) (print-size))"),
      (std::vector<std::string>{"((q 0)\n (r 2))", "((q 0)\n (r 1))"}));
}

TEST(Program, PopRestoresRulesAndWhatTheyHaveSeen) {
  EXPECT_EQ(outputs_of(R"((relation r (i64)) (relation out (i64)) (rule ((r x)) ((out x))) (r 1)
                   (push) (rule ((r x)) ((out 7))) (run 1) (print-size out) (pop)
                   (run 1) (print-size out))"),
            (std::vector<std::string>{"2", "1"}));
}

TEST(Program, TheStackOutlivesATextAndACopy) {
  EGraph egraph;
  egraph.run_program("(relation r (i64)) (push) (r 1)", "a");
  EGraph copy = egraph;
  egraph.run_program("(pop)", "b");
  EXPECT_EQ(egraph.size(egraph.function("r")), 0u);
  EXPECT_EQ(copy.size(copy.function("r")), 1u);
  copy.run_program("(pop)", "b");
  EXPECT_EQ(copy.size(copy.function("r")), 0u);
}

TEST(Program, PoppingTooMuchIsAnError) {
  EXPECT_EQ(error_of("(push) (pop 2)"),
            "t.egg:1:8: there are 1 states to pop, not 2; (push) first");
  EXPECT_EQ(error_of("(push) (push 1000)"), "t.egg:1:8: more than 1000 states would be pushed");
}

TEST(Program, IncludeLooksFromTheWorkingDirectoryThenBesideTheFile) {
  TestFiles files{{{"rules/a.egg", "(relation a (i64)) (include \"b.egg\") (include \"c.egg\")"},
                   {"rules/b.egg", "(relation beside (i64))"},
                   {"c.egg", "(relation working (i64))"},
                   {"rules/c.egg", "(relation wrong (i64))"}}};
  EXPECT_EQ(outputs_of("(include \"rules/a.egg\") (print-size)", files.files()).back(),
            "((a 0)\n (beside 0)\n (working 0))");
}

TEST(Program, ErrorsOfAnIncludedFileNameIt) {
  TestFiles files{{{"a.egg", "\n (relation a (X))"}}};
  EXPECT_EQ(error_of("(include \"a.egg\")", files.files()),
            "a.egg:2:15: there is no sort 'X'; declare it first");
}

TEST(Program, IncludeFindsCyclesAndMissingFiles) {
  TestFiles files{{{"a.egg", "(include \"b.egg\")"}, {"b.egg", "\n(include \"a.egg\")"}}};
  EXPECT_EQ(error_of("(include \"a.egg\")", files.files()),
            "b.egg:2:1: \"a.egg\" includes itself; move what both need to a third file");
  EXPECT_EQ(error_of("(include \"no.egg\")", files.files()),
            "t.egg:1:1: \"no.egg\" can't be read, from the working directory or beside this file");
}

TEST(Program, IncludesHaveADepth) {
  const Files endless{
      .read = [](const std::string& path) { return std::optional("(include \"" + path + "x\")"); },
      .append = {}};
  EXPECT_NE(error_of("(include \"f\")", endless).find("more than 100 levels deep"),
            std::string::npos);
}

TEST(Program, WithoutFilesNothingIsReadOrWritten) {
  EXPECT_EQ(error_of("(include \"a.egg\")"),
            "t.egg:1:1: \"a.egg\" can't be included: this program is run without files");
  EXPECT_EQ(error_of("(relation r (i64)) (input r \"a\")"),
            "t.egg:1:20: \"a\" can't be read: this program is run without files");
  EXPECT_EQ(error_of("(output \"a\" 1)"),
            "t.egg:1:1: \"a\" can't be written: this program is run without files");
}

TEST(Program, InputReadsRowsSeparatedByTabs) {
  TestFiles files{{{"e.csv", "1\ta b\n\n  2 \t c\r\n"}, {"f.csv", "x\t-3\n"}, {"n.csv", "1.5\n"}}};
  EXPECT_EQ(
      outputs_of(
          R"((datatype T (N f64)) (relation e (i64 String)) (function f (String) i64 :no-merge)
                   (input e "e.csv") (input f "f.csv") (input N "n.csv")
                   (check (e 1 "a b") (e 2 "c") (= -3 (f "x")) (N 1.5)) (print-size e))",
          files.files())
          .back(),
      "2");
}

TEST(Program, InputSaysWhatDoesNotFit) {
  TestFiles files{{{"a", "1\t2\n"}, {"b", "1\nx\n"}}};
  EXPECT_EQ(error_of("(relation r (i64)) (input r \"a\")", files.files()),
            "t.egg:1:20: a:1 has 2 columns where 'r' needs 1; tabs separate them");
  EXPECT_EQ(error_of("(relation r (i64)) (input r \"b\")", files.files()),
            "t.egg:1:20: b:2: 'x' is no i64");
  EXPECT_EQ(error_of("(relation r (bool)) (input r \"b\")", files.files()),
            "t.egg:1:21: 'r' can't be read from a file: bool is not i64, f64, String or Unit");
  EXPECT_EQ(error_of("(input q \"b\")", files.files()),
            "t.egg:1:8: there is no function 'q'; declare it first");
}

TEST(Program, OutputAppendsTerms) {
  TestFiles files;
  outputs_of("(datatype T (N i64)) (output \"o\" (N 1) 2) (output \"o\" \"x\")", files.files());
  EXPECT_EQ(files.texts["o"], "(N 1)\n2\n\"x\"\n");
}

TEST(Program, PrintFunctionShowsRowsAsTermsOrCsv) {
  EXPECT_EQ(
      outputs_of(R"((datatype T (N i64)) (function f (T String) f64 :merge old)
                   (set (f (N 1) "a,b") 1.5) (set (f (N 2) "c") 2.0)
                   (print-function f) (print-function f 1) (print-function f 5 :mode csv)
                   (print-function N 0))"),
      (std::vector<std::string>{"(\n   (f (N 1) \"a,b\") -> 1.5\n   (f (N 2) \"c\") -> 2.0\n)",
                                "(\n   (f (N 1) \"a,b\") -> 1.5\n)",
                                "f,(N 1),\"\"\"a,b\"\"\",1.5\nf,(N 2),\"\"\"c\"\"\",2.0", "(\n)"}));
}

TEST(Program, PrintFunctionMarksWhatHasNoTerm) {
  EXPECT_EQ(outputs_of(R"((datatype T (N i64) (M i64 :unextractable)) (function f (i64) T :no-merge)
                   (set (f 1) (M 1)) (print-function f))")
                .back(),
            "(\n   (f 1) -> Unextractable\n)");
}

TEST(Program, ExtractGivesVariantsFromTheCheapest) {
  EXPECT_EQ(outputs_of(R"((datatype T (N i64) (B i64 :cost 5) (G T T))
                   (let x (B 1)) (union x (N 2)) (union x (G (N 2) (N 3)))
                   (extract x 2) (extract x 9) (extract x 0) (extract 7 3))"),
            (std::vector<std::string>{"(\n   (N 2)\n   (G (N 2) (N 3))\n)",
                                      "(\n   (N 2)\n   (G (N 2) (N 3))\n   (B 1)\n)", "(N 2)",
                                      "(\n   7\n)"}));
  EXPECT_EQ(error_of("(extract 1 -1)"),
            "t.egg:1:12: how many variants to extract is a natural number, found -1");
  EXPECT_EQ(error_of("(extract 1 \"x\")"),
            "t.egg:1:12: how many variants to extract is a natural number, found a value of sort "
            "String");
}

TEST(Program, ARunStopsBeforeTheIterationWhereUntilHolds) {
  constexpr const char* kCount =
      "(relation r (i64)) (r 0) (rule ((r x)) ((r (+ x 1)))) (ruleset other)";
  EXPECT_EQ(outputs_of(std::string(kCount) + "(run 9 :until (r 3)) (print-size r)").back(), "4");
  EXPECT_EQ(outputs_of(std::string(kCount) + "(run 9 :until (r 3) (r 5)) (print-size r)").back(),
            "6");
  EXPECT_EQ(outputs_of(std::string(kCount) +
                       "(run-schedule (saturate (run other) (run :until (r 4)))) (print-size r)")
                .back(),
            "5");
}

TEST(Program, ACombinedRulesetRunsTheRulesOfItsParts) {
  EXPECT_EQ(outputs_of(R"((relation r (i64)) (r 0) (ruleset a)
                   (unstable-combined-ruleset both a b) (ruleset b)
                   (unstable-combined-ruleset more both a)
                   (rule ((r 0)) ((r 1)) :ruleset a)
                   (run more 1) (print-size r))"
                       "\n"),
            std::vector<std::string>{"2"});
  EXPECT_EQ(outputs_of(R"((relation r (i64)) (r 0) (ruleset a) (ruleset b)
                   (unstable-combined-ruleset both a b)
                   (rule ((r 0)) ((r 1)) :ruleset a) (run both 5)
                   (rule ((r 1)) ((r 2)) :ruleset b) (run both 5) (print-size r))")
                .back(),
            "3");
}

TEST(Program, ACombinedRulesetHasNoRulesOfItsOwnAndNeedsItsParts) {
  EXPECT_EQ(error_of("(unstable-combined-ruleset c) (rule () () :ruleset c)"),
            "t.egg:1:31: ruleset 'c' is combined of others; add the rule to one of those");
  EXPECT_EQ(error_of("(unstable-combined-ruleset c a) (run c 1)"),
            "t.egg:1:33: ruleset 'a' of the combined ruleset 'c' doesn't exist; declare it with "
            "(ruleset a)");
}

TEST(Program, ANaiveRuleLooksFunctionsUpAndSeesTheirChanges) {
  EXPECT_EQ(outputs_of(R"((relation r (i64)) (relation out (i64)) (function f () i64 :merge new)
                   (rule ((r x)) ((out (f))) :naive)
                   (r 0) (set (f) 1) (run 1) (set (f) 2) (run 1) (print-size out))")
                .back(),
            "2");
}

TEST(Program, ANaiveRuleRunsAgainAfterADelete) {
  EXPECT_EQ(outputs_of(R"((relation r (i64)) (relation out (i64)) (ruleset a)
                   (rule ((r x)) ((out x)) :naive :ruleset a)
                   (r 0) (run a 1) (delete (out 0)) (run a 1) (print-size out))")
                .back(),
            "1");
}

TEST(Program, AMergeMayLookFunctionsUp) {
  EXPECT_EQ(outputs_of(R"((function most () i64 :merge new) (set (most) 5)
                   (function f (i64) i64 :merge (min (most) (+ old new)))
                   (set (f 0) 2) (set (f 0) 9) (extract (f 0)))")
                .back(),
            "5");
}

TEST(Program, RowsOfARelationAreEqualWhenTheirArgumentsAre) {
  EXPECT_EQ(outputs_of(R"((relation r (i64)) (relation q (i64)) (r 1) (r 2) (relation out (i64))
                   (rule ((= (r 1) (r 2))) ((out 0)))
                   (rule ((= (r 1) (r x))) ((out x)))
                   (run 1) (print-function out))")
                .back(),
            "(\n   (out 1) -> (out 1)\n)");
  EXPECT_EQ(error_of("(relation r (i64)) (relation q (i64)) (check (= (r 1) (q 1)))"),
            "t.egg:1:55: a row of 'q' is never one of 'r'; state both on their own");
}

TEST(Program, ARewriteMayStartFromAVariableThatAConditionBinds) {
  EXPECT_EQ(outputs_of(R"((datatype T (N i64) (Wrap T)) (relation r (T)) (r (N 1))
                   (rewrite x (Wrap x) :when ((r x))) (run 1) (check (= (N 1) (Wrap (N 1))))
                   (print-size Wrap))")
                .back(),
            "1");
}

TEST(Program, StatisticsAddUpRuns) {
  const std::string text =
      outputs_of(R"((relation r (i64)) (r 0) (rule ((r 0)) ((r 1)) :name "one") (run 1) (run 1)
             (print-stats))")
          .back();
  EXPECT_NE(text.find("one"), std::string::npos) << text;
}

TEST(Program, DeepTextsAreAnErrorAndNoOverflow) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "(f ";
  EXPECT_NE(error_of(deep).find("nested deeper"), std::string::npos);
  std::string nested = "(datatype T (A) (F T)) (let x ";
  for (int i = 0; i < 900; ++i) nested += "(F ";
  nested += "(A)" + std::string(900, ')') + ")";
  EXPECT_EQ(error_of(nested), "no error");
}

}  // namespace
}  // namespace luminal::egraph
