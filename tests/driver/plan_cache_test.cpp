// Plans from the cache: the same plans, reports and bits as planned ones; and what is damaged, of
// another question or of no use is planned anew, and said so.
#include "luminal/driver/compile/plan_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "luminal/base/byte_stream.h"
#include "luminal/graph/custom_op.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A product, a norm and a state over a dynamic length: several kernels, panels and a note or two.
struct Program {
  Program() {
    const Expr s = Expr::var("s", 1, 64);
    x = graph.input("x", {s, 32});
    const Tensor w = graph.weight("w", {32, 48});
    w.set(std::vector<float>(32 * 48, 0.125f));
    const Tensor held = graph.state("held", {48});
    const Tensor product = matmul(x, w).materialize();
    y = (softmax(product, -1) + held).output("y");
    graph.update(held, held + 1.0f);
  }
  Graph graph;
  Tensor x, y;
};

struct Compiled {
  CompileReport report;
  std::vector<float> result;

  std::vector<std::string> plan_summaries() const {
    std::vector<std::string> summaries;
    for (const StageReport& stage : report.stages) {
      if (stage.name == "plan") summaries.push_back(stage.summary);
    }
    return summaries;
  }
  // Of the plans of all variants.
  int n_from_cache() const {
    int count = 0;
    for (const std::string& summary : plan_summaries()) {
      count += summary.find("from the cache") != std::string::npos;
    }
    return count;
  }
  bool from_cache() const { return n_from_cache() > 0; }
};

// All that a plan says of itself, without times and without where it came from.
std::string said(const CompileReport& report) {
  std::string text;
  for (const KernelReport& kernel : report.kernels) {
    text += kernel.name + " " + kernel.result + " " + std::to_string(kernel.model_us) + " " +
            std::to_string(kernel.model_bytes) + " " + std::to_string(kernel.model_flops) + " " +
            std::to_string(kernel.launch) + "\n" + kernel.text;
    for (const std::string& op : kernel.ops) text += op + ", ";
    for (const std::string& rule : kernel.rules) text += rule + ", ";
  }
  for (const StoredReport& stored : report.stored) {
    text += stored.value + stored.type + stored.kernel + stored.because + stored.why + "\n";
    for (const std::string& reader : stored.readers) text += reader + ", ";
  }
  for (const RuleGrowth& rule : report.rules) {
    text += rule.rule + rule.group + rule.numeric_class + std::to_string(rule.matches) + "\n";
  }
  for (const std::string& note : report.notes) text += note + "\n";
  for (uint64_t figure : {report.egraph_nodes, report.egraph_classes}) {
    text += std::to_string(figure) + " ";
  }
  for (int figure : {report.search_bits, report.search_candidates, report.search_kernels}) {
    text += std::to_string(figure) + " ";
  }
  return text + std::to_string(report.model_us);
}

class PlanCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("luminal_plan_cache_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Compiled run(CompileOptions options = {}) const {
    Program program;
    Compiled compiled;
    options.storage.cache_folder = folder_.string();
    options.report = &compiled.report;
    Executable exe = compile(program.graph, options);
    std::vector<float> x(5 * 32);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) * 0.25f;
    exe.set(program.x, x);
    exe.run({{"s", 5}});
    compiled.result = exe.get<float>(program.y);
    return compiled;
  }

  std::vector<std::filesystem::path> plans() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".plan") files.push_back(entry.path());
    }
    return files;
  }
  // The content of the only entry, and another one put in its place, checksum and all.
  std::string content() const {
    return base::FileCache(folder_, base::kCachedPlans).find(plans().at(0).stem().string()).value();
  }
  void replace(std::string_view content) const {
    base::FileCache(folder_, base::kCachedPlans).store(plans().at(0).stem().string(), content);
  }

  std::filesystem::path folder_;
};

TEST_F(PlanCacheTest, ThePlanTheReportAndTheBitsAreTheSame) {
  const Compiled planned = run(), kept = run();
  EXPECT_FALSE(planned.from_cache());
  EXPECT_TRUE(kept.from_cache()) << kept.report.text();
  EXPECT_GT(planned.report.kernels.size(), 1u);
  EXPECT_FALSE(planned.report.stored.empty());
  EXPECT_EQ(said(kept.report), said(planned.report));
  EXPECT_EQ(kept.result, planned.result);
  EXPECT_THAT(kept.plan_summaries().at(0),
              HasSubstr(plans().at(0).filename().string().substr(0, 12)));
  EXPECT_THAT(kept.report.text(), HasSubstr("from the cache"));
}

TEST_F(PlanCacheTest, EveryVariantHasItsPlan) {
  const CompileOptions options{.plan = {.variants = {{"s", {1, 16}}}}};
  const Compiled planned = run(options), kept = run(options);
  EXPECT_EQ(plans().size(), 3u);
  EXPECT_EQ(said(kept.report), said(planned.report));
  EXPECT_EQ(kept.result, planned.result);
  EXPECT_EQ(kept.n_from_cache(), 3);
  EXPECT_EQ(run({.plan = {.variants = {{"s", {1, 17}}}}}).n_from_cache(), 1) << "that of s = 1";
}

TEST_F(PlanCacheTest, WhatIsAskedForIsPartOfTheQuestion) {
  run();
  EXPECT_FALSE(run({.plan = {.fusion = FusionPolicy::Never}}).from_cache());
  EXPECT_FALSE(run({.plan = {.numerics = Numerics::Exact}}).from_cache());
  EXPECT_FALSE(run({.plan = {.disable_rules = {"algebra"}}}).from_cache());
  EXPECT_FALSE(run({.search = {.seed = 2}}).from_cache());
  EXPECT_FALSE(run({.plan = {.typical_sizes = {{"s", 7}}}}).from_cache());
  EXPECT_FALSE(run({.plan = {.rules = {{"mine.egg", "; nothing\n"}}}}).from_cache());
  EXPECT_TRUE(run({.backend = {.threads = 1}}).from_cache())
      << "plans are for any number of threads";
  EXPECT_TRUE(run({.plan = {.fusion = FusionPolicy::Never}}).from_cache());
}

TEST_F(PlanCacheTest, AnotherGraphIsAnotherQuestion) {
  const auto from_cache = [&](auto change) {
    Graph graph;
    const Tensor x = graph.input("x", {8, 8});
    change(graph, x);
    Compiled compiled;
    compile(graph, {.storage = {.cache_folder = folder_.string()}, .report = &compiled.report});
    return compiled.from_cache();
  };
  const auto plain = [](Graph&, Tensor x) { (x * 2.0f).output("y"); };
  EXPECT_FALSE(from_cache(plain));
  EXPECT_TRUE(from_cache(plain));
  EXPECT_FALSE(from_cache([](Graph&, Tensor x) { (x * 3.0f).output("y"); }));
  EXPECT_FALSE(from_cache([](Graph&, Tensor x) { (x * 2.0f).output("z"); }));
  EXPECT_FALSE(from_cache([](Graph&, Tensor x) { (x * 2.0f).name("twice").output("y"); }));
  EXPECT_FALSE(from_cache([](Graph&, Tensor x) { (x * 2.0f).materialize().output("y"); }));
  EXPECT_FALSE(from_cache([](Graph& graph, Tensor x) {
    (x * 2.0f).output("y");
    graph.input("unused", {1});
  }));
}

TEST_F(PlanCacheTest, ADamagedFileIsPlannedAnewAndSaid) {
  const Compiled planned = run();
  const auto size = std::filesystem::file_size(plans().at(0));
  for (const auto at : {size_t{0}, size_t{12}, size_t{40}, static_cast<size_t>(size) / 2}) {
    {
      std::fstream file(plans().at(0), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(at));
      file.put('\x7e');
    }
    const Compiled again = run();
    EXPECT_FALSE(again.from_cache()) << at;
    EXPECT_THAT(again.report.text(), HasSubstr("plans in"));
    EXPECT_EQ(again.result, planned.result);
    EXPECT_TRUE(run().from_cache()) << "it was written anew";
  }
  std::filesystem::resize_file(plans().at(0), size - 1);
  EXPECT_FALSE(run().from_cache());
}

// Past the checksum, as a bug in writing would be.
TEST_F(PlanCacheTest, AnEntryThatIsNoAnswerIsPlannedAnewAndSaid) {
  const Compiled planned = run();
  const std::string whole = content();
  std::string other_question = whole, no_plan = whole;
  other_question[20] ^= 1;
  base::ByteReader parts(whole);
  parts.text();  // the question
  parts.text();  // the report
  no_plan[static_cast<size_t>(parts.text().data() - whole.data()) + 5] ^= 0x40;
  for (const std::string& entry : {std::string(), std::string("\0", 1), whole + "more", no_plan,
                                   other_question, whole.substr(0, whole.size() - 9)}) {
    replace(entry);
    const Compiled again = run();
    EXPECT_FALSE(again.from_cache());
    EXPECT_THAT(again.report.text(), HasSubstr("is not used"));
    EXPECT_EQ(again.result, planned.result);
    EXPECT_EQ(content(), whole) << "it was written anew";
  }
}

TEST_F(PlanCacheTest, WithoutAFolderAllIsPlanned) {
  Program program;
  for (int k = 0; k < 2; ++k) {
    Compiled compiled;
    compile(program.graph, {.storage = {.cache_folder = "none"}, .report = &compiled.report});
    EXPECT_FALSE(compiled.from_cache());
  }
  EXPECT_FALSE(std::filesystem::exists("none"));
}

TEST_F(PlanCacheTest, StagesThatArePrintedRun) {
  run();
  Program program;
  for (const char* stage : {"terms", "saturated"}) {
    CompileReport report;
    EXPECT_THROW(compile(program.graph, {.storage = {.cache_folder = folder_.string()},
                                         .inspect = {.stop_after = stage},
                                         .report = &report}),
                 CompileStopped);
    EXPECT_EQ(report.stages.back().name, stage);
  }
}

TEST_F(PlanCacheTest, CustomOpsArePlannedEachTime) {
  Graph graph;
  const Tensor x = graph.input("x", {4});
  custom_op({.name = "same",
             .shape_rule = [](const std::vector<TensorType>& types) { return types[0]; },
             .compute =
                 [](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
                   std::copy(inputs[0].bytes.begin(), inputs[0].bytes.end(), result.bytes.begin());
                 }},
            {x})
      .output("y");
  for (int k = 0; k < 2; ++k) {
    Compiled compiled;
    compile(graph, {.storage = {.cache_folder = folder_.string()}, .report = &compiled.report});
    EXPECT_FALSE(compiled.from_cache());
  }
  EXPECT_THAT(plans(), IsEmpty());
}

TEST_F(PlanCacheTest, ManyMayCompileTheSameGraphAtOnce) {
  const std::vector<float> expected = run().result;
  std::filesystem::remove_all(folder_);
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = run().result; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(results, ElementsAre(expected, expected, expected, expected));
  EXPECT_TRUE(run().from_cache());
}

}  // namespace
}  // namespace luminal
