// compile() with a measured search: right answers, records that are used, replays that give the
// same plan, and errors that tell the way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <thread>

#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "luminal/graph/custom_op.h"
#include "luminal/llm/models/llama/llama.h"
#include "luminal/luminal.h"
#include "luminal/records/store.h"
#include "tests/support/forge.h"

namespace luminal {
namespace {

using testing::Contains;
using testing::HasSubstr;

// A norm, a product and a softmax, over a dynamic length.
struct NormProgram {
  explicit NormProgram(DType dtype = DType::F32) {
    const Expr s = Expr::var("s", 1, 64);
    x = graph.input("x", {s, 32}, dtype);
    const Tensor w = graph.weight("w", {32, 48}, dtype);
    std::vector<float> values;
    for (int i = 0; i < 32 * 48; ++i) values.push_back(static_cast<float>(i % 11) / 16 - 0.25f);
    w.set(TensorData::copy_of<float>(values, {32, 48}).cast(dtype));
    y = softmax(matmul(rms_norm(x, {32}), w).cast(DType::F32), -1).output("y");
  }
  Graph graph;
  Tensor x, y;
};

struct CompiledPlan {
  CompileReport report;
  std::string plan;  // the text of all kernels
  std::vector<float> result;
};

CompiledPlan compiled(NormProgram& program, CompileOptions options, int64_t s = 5) {
  CompiledPlan made;
  options.report = &made.report;
  options.plan.typical_sizes = {{"s", 16}};
  Executable executable = compile(program.graph, options);
  for (const KernelReport& kernel : made.report.kernels) made.plan += kernel.text;
  std::vector<float> x;
  for (int64_t i = 0; i < s * 32; ++i) x.push_back(static_cast<float>(i % 13) - 6);
  executable.set(program.x, TensorData::copy_of<float>(x, {s, 32}).cast(program.x.dtype()));
  executable.run({{"s", s}});
  made.result = executable.get<float>(program.y);
  return made;
}

class Measured : public testing::Test {
 protected:
  CompileOptions options(SearchMode mode, int candidates = 4) const {
    CompileOptions asked;
    asked.storage.cache_folder = "none";
    asked.search.mode = mode;
    asked.search.seconds = 20;
    asked.search.candidates = candidates;
    asked.search.trials = 5;
    asked.search.keep_busy_times = true;  // other tests may run beside this one
    asked.storage.records = (folder_.path() / "records.sqlite").string();
    return asked;
  }
  base::TemporaryFolder folder_;
};

TEST_F(Measured, GivesRightAnswersInEveryDtype) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    NormProgram program(dtype);
    CompileOptions reference;
    reference.backend.name = "interp";
    const CompiledPlan expected = compiled(program, reference);
    const CompiledPlan found = compiled(program, options(SearchMode::Measured));
    ASSERT_EQ(found.report.searches.size(), 1u);
    EXPECT_EQ(found.report.searches[0].mode, "measured");
    EXPECT_GT(found.report.searches[0].timed, 0);
    ASSERT_EQ(found.result.size(), expected.result.size());
    for (size_t i = 0; i < expected.result.size(); ++i) {
      EXPECT_NEAR(found.result[i], expected.result[i], dtype == DType::F32 ? 1e-5 : 2e-2);
    }
  }
}

TEST_F(Measured, ReportsTimesOfItsKernels) {
  NormProgram program;
  const CompiledPlan found = compiled(program, options(SearchMode::Measured));
  for (const KernelReport& kernel : found.report.kernels) {
    if (kernel.packs) continue;
    EXPECT_GT(kernel.measured_us, 0) << kernel.name;
    EXPECT_LE(kernel.measured_low_us, kernel.measured_us);
    EXPECT_GE(kernel.measured_high_us, kernel.measured_us);
  }
  EXPECT_THAT(found.report.text(), HasSubstr("search (measured)"));
  EXPECT_THAT(found.report.json(), HasSubstr("\"searches\""));
}

TEST_F(Measured, TheSecondCompileTakesThePlanFromRecords) {
  NormProgram program;
  const CompiledPlan once = compiled(program, options(SearchMode::Measured));
  const CompiledPlan again = compiled(program, options(SearchMode::Measured), 7);
  EXPECT_EQ(again.plan, once.plan);
  ASSERT_EQ(again.report.searches.size(), 1u);
  EXPECT_EQ(again.report.searches[0].mode, "remembered");
  // One that asks for more goes on, but times nothing twice.
  const CompiledPlan more = compiled(program, options(SearchMode::Measured, 8));
  ASSERT_EQ(more.report.searches.size(), 1u);
  EXPECT_EQ(more.report.searches[0].mode, "measured");
  EXPECT_GT(more.report.searches[0].remembered, 0);
}

TEST_F(Measured, AReplayGivesTheSamePlanAndTimesNothing) {
  NormProgram program;
  const CompiledPlan once = compiled(program, options(SearchMode::Measured));
  for (int i = 0; i < 3; ++i) {
    const CompiledPlan replayed = compiled(program, options(SearchMode::Replay));
    EXPECT_EQ(replayed.plan, once.plan);
    EXPECT_EQ(replayed.result, once.result);
    ASSERT_EQ(replayed.report.searches.size(), 1u);
    EXPECT_EQ(replayed.report.searches[0].timed, 0);
    EXPECT_EQ(replayed.report.searches[0].compared, 0);
  }
}

TEST_F(Measured, AReplayWithoutRecordsSaysSo) {
  NormProgram program;
  EXPECT_THROW(
      {
        try {
          compiled(program, options(SearchMode::Replay));
        } catch (const UserError& error) {
          EXPECT_THAT(error.what(), HasSubstr("has no search of this graph on this device"));
          EXPECT_THAT(error.what(), HasSubstr("--search measured"));
          throw;
        }
      },
      UserError);
  CompileOptions nowhere = options(SearchMode::Replay);
  nowhere.storage.records = "none";
  EXPECT_THROW(compiled(program, nowhere), UserError);
}

// Times of another device, or of another compiler, say nothing.
TEST_F(Measured, ForeignRecordsAreNotUsed) {
  NormProgram program;
  compiled(program, options(SearchMode::Measured));
  CompileOptions other = options(SearchMode::Replay);
  other.backend.threads = 1;
  CompileOptions same = options(SearchMode::Replay);
  same.backend.threads = 0;
  if (std::thread::hardware_concurrency() > 1) {
    EXPECT_THROW(compiled(program, other), UserError);
  }
  EXPECT_NO_THROW(compiled(program, same));
}

TEST_F(Measured, WithoutRecordsNothingIsRemembered) {
  NormProgram program;
  CompileOptions asked = options(SearchMode::Measured);
  asked.storage.records = "none";
  compiled(program, asked);
  const CompiledPlan again = compiled(program, asked);
  EXPECT_EQ(again.report.searches[0].mode, "measured");
  EXPECT_EQ(again.report.searches[0].remembered, 0);
  EXPECT_FALSE(std::filesystem::exists("none"));
}

TEST_F(Measured, ProgressAndEventsAreTold) {
  NormProgram program;
  CompileOptions asked = options(SearchMode::Measured);
  std::vector<std::string> events;
  int shown = 0;
  asked.search.events = [&](const std::string& json) { events.push_back(json); };
  asked.progress = [&](const CompileProgress& now) {
    if (now.stage == "search") {
      ++shown;
      EXPECT_THAT(now.text, HasSubstr("of the roofline"));
    }
  };
  compiled(program, asked);
  ASSERT_FALSE(events.empty());
  EXPECT_THAT(events.front(), HasSubstr("\"event\": \"candidate\""));
  EXPECT_THAT(events.back(), HasSubstr("\"event\": \"stopped\""));
  EXPECT_EQ(static_cast<size_t>(shown), events.size());
}

TEST_F(Measured, AnInterruptedSearchGivesAPlan) {
  NormProgram program;
  CompileOptions asked = options(SearchMode::Measured);
  asked.search.stop = [] { return true; };
  const CompiledPlan found = compiled(program, asked);
  EXPECT_EQ(found.report.searches[0].stopped, "it was interrupted");
  EXPECT_EQ(found.result.size(), 5u * 48);
}

// The record says how far it went, so the same budget goes on from there.
TEST_F(Measured, AnInterruptedSearchIsGoneOnWith) {
  NormProgram program;
  CompileOptions asked = options(SearchMode::Measured);
  asked.search.stop = [] { return true; };
  compiled(program, asked);
  asked.search.stop = nullptr;
  const CompiledPlan again = compiled(program, asked);
  EXPECT_EQ(again.report.searches[0].mode, "measured");
  EXPECT_NE(again.report.searches[0].stopped, "it was interrupted");
  EXPECT_GT(again.report.searches[0].remembered, 0);
  // One that is interrupted after that doesn't take the place of the whole one.
  asked.search.seconds = 40;
  asked.search.stop = [] { return true; };
  compiled(program, asked);
  EXPECT_EQ(compiled(program, options(SearchMode::Measured)).report.searches[0].mode, "remembered");
}

// What a record file can't do is a note, as with the cache.
TEST_F(Measured, RecordsThatCannotBeUsedAreANote) {
  NormProgram program;
  const CompiledPlan expected = compiled(program, options(SearchMode::Modelled));
  const auto with_records = [&](const std::filesystem::path& file) {
    CompileOptions asked = options(SearchMode::Measured);
    asked.storage.records = file.string();
    const CompiledPlan found = compiled(program, asked);
    EXPECT_THAT(found.report.notes, Contains(HasSubstr("tuning records are not used")));
    EXPECT_EQ(found.report.searches[0].mode, "measured");
    EXPECT_EQ(found.result.size(), expected.result.size());
  };
  std::ofstream(folder_.path() / "damaged.sqlite") << std::string(5000, 'x');
  with_records(folder_.path() / "damaged.sqlite");
  std::filesystem::create_directory(folder_.path() / "a-folder.sqlite");
  with_records(folder_.path() / "a-folder.sqlite");
  with_records("/proc/no-such-place/records.sqlite");
}

// A plan that this user's secret didn't seal is never run as it is: the search that led to it is
// repeated by the times in the records, and what that gives is the plan.
TEST_F(Measured, PlansOfOthersAreDerivedAgain) {
  NormProgram program;
  const CompiledPlan once = compiled(program, options(SearchMode::Measured));
  const std::filesystem::path file = folder_.path() / "records.sqlite";
  ASSERT_EQ(tests::rewrite_plans(file, [](TunedPlan&) {}), 1);
  const CompiledPlan again = compiled(program, options(SearchMode::Measured));
  EXPECT_EQ(again.plan, once.plan);
  EXPECT_EQ(again.report.searches[0].mode, "remembered");
  EXPECT_EQ(again.report.searches[0].timed, 0);
  // It is this user's now.
  EXPECT_EQ(compiled(program, options(SearchMode::Measured)).report.searches[0].timed, 0);
}

TEST_F(Measured, ForgedPlansChangeNothing) {
  NormProgram program;
  const CompiledPlan once = compiled(program, options(SearchMode::Measured));
  const std::filesystem::path file = folder_.path() / "records.sqlite";
  const auto forged = [&](const std::function<void(kernel::Stage&)>& change) {
    tests::rewrite_plans(file, [&](TunedPlan& plan) {
      plan.seconds = 1e9;
      plan.candidates = 1 << 30;
      plan.trail.proposals = INT_MAX;
      tests::change_plan(plan.entry, [&](kernel::PlannedGraph& planned) {
        for (auto& step : planned.plan.steps) {
          auto* kernel = std::get_if<kernel::KernelStep>(&step);
          if (kernel == nullptr) continue;
          for (kernel::Stage& stage : kernel->lowered.kernel.stages) change(stage);
        }
      });
    });
    const CompiledPlan found = compiled(program, options(SearchMode::Measured));
    EXPECT_EQ(found.result, once.result);
  };
  forged([](kernel::Stage& stage) {
    for (kernel::Inst& inst : stage.body) {
      if (auto* constant = std::get_if<kernel::ConstInst>(&inst.what)) constant->real = 42;
    }
  });
  forged([](kernel::Stage& stage) {
    auto* output = std::get_if<kernel::OutputTarget>(&stage.target);
    if (output != nullptr && !output->index.empty()) {
      output->index[0] = output->index[0] + Expr(1 << 24);
    }
  });
}

// Layers that repeat, a cache of keys and values that is updated in place, two variants.
TEST_F(Measured, ARolledModelIsSearchedByOneTrip) {
  Graph graph;
  const llm::LlamaConfig config{.vocab_size = 64,
                                .features = 32,
                                .hidden = 64,
                                .layers = 6,
                                .heads = 2,
                                .kv_heads = 1,
                                .head_size = 16,
                                .context = 32};
  const llm::DecoderGraph model = llm::build_llama(nn::Scope(graph), config);
  uint64_t state = 1;
  for (NodeId leaf : graph.leaves()) {
    const Tensor tensor = graph.tensor(leaf);
    if (tensor.node().as<InputAttr>().role != Role::Weight) continue;
    std::vector<float> values(static_cast<size_t>(n_elements(tensor.dims()).to_int().value()));
    for (float& value : values) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = static_cast<float>(static_cast<double>(state >> 40) * 0x1p-24 - 0.5) * 0.3f;
    }
    tensor.set(values);
  }
  const auto logits = [&](CompileOptions asked, CompileReport* report) {
    asked.report = report;
    asked.plan.variants = {{"s", {1}}};
    asked.plan.typical_sizes = {{"s", 8}, {"past", 4}};
    Executable executable = compile(graph, asked);
    executable.set(model.ids, std::vector<int32_t>{3, 1, 4, 1, 5});
    executable.run({{"s", 5}, {"past", 0}});
    std::vector<float> all = executable.get<float>(model.logits);
    executable.set(model.ids, std::vector<int32_t>{9});
    executable.run({{"s", 1}, {"past", 5}});
    const std::vector<float> next = executable.get<float>(model.logits);
    all.insert(all.end(), next.begin(), next.end());
    return all;
  };
  CompileOptions reference;
  reference.backend.name = "interp";
  const std::vector<float> expected = logits(reference, nullptr);
  CompileReport report;
  const std::vector<float> found = logits(options(SearchMode::Measured), &report);
  ASSERT_EQ(report.searches.size(), 2u);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4);
}

TEST_F(Measured, AGraphWithCustomOpsIsSearchedButNotReplayed) {
  Graph graph;
  const Tensor x = graph.input("x", {16});
  CustomOp twice;
  twice.name = "twice";
  twice.shape_rule = [](const std::vector<TensorType>& types) { return types[0]; };
  twice.compute = [](const std::vector<TensorData>& in, TensorData::Writable& out) {
    const std::vector<double> values = in[0].to_doubles();
    auto* to = reinterpret_cast<float*>(out.bytes.data());
    for (size_t i = 0; i < values.size(); ++i) to[i] = static_cast<float>(2 * values[i]);
  };
  const Tensor y = (custom_op(twice, {x * 3.0f}) + 1.0f).output("y");
  Executable executable = compile(graph, options(SearchMode::Measured));
  executable.set(x, std::vector<float>(16, 1));
  executable.run();
  EXPECT_EQ(executable.get<float>(y), std::vector<float>(16, 7));
  EXPECT_THROW(compile(graph, options(SearchMode::Replay)), UserError);
}

}  // namespace
}  // namespace luminal
