// Kernels for every target: chosen by name they run here; for aarch64 they assemble.
#include "luminal/backends/cpu/target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>
#include <sstream>

#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/backends/cpu/math/host_math.h"
#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/base/os/cpu.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/luminal.h"
#include "tests/backends/cpu/kernel_recipes.h"

namespace luminal::backends::cpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Target, TheBestComesFirstAndOthersByName) {
  const base::CpuFeatures& has = base::cpu_info().features;
  EXPECT_EQ(&Target::named(""), &Target::host());
  EXPECT_EQ(Target::host().avx512, has.avx512f && has.avx512bw && has.avx512dq && has.avx512vl);
  EXPECT_EQ(Target::host().amx_bf16, has.amx_bf16 && base::may_use_amx());
  for (const Target& target : Target::here()) {
    EXPECT_EQ(Target::named(target.name).cpu, target.cpu);
    const bool tiles = target.amx_bf16 || target.amx_int8;
    EXPECT_EQ(target.features.find("+amx-tile") != std::string::npos, tiles) << target.name;
    EXPECT_EQ(target.name == "amx", tiles);
  }
  EXPECT_THROW(Target::named("aarch64-sve"), UserError);
}

// What each of these is, at every size: x + y is element-wise, the rest has reductions.
struct Sample {
  Graph graph;
  Tensor wave, softmax_row, product;
  explicit Sample(int64_t n) {
    Tensor x = graph.input("x", {3, n}), y = graph.input("y", {3, n});
    wave = luminal::sin(exp(x) * y + x).cast(DType::BF16).cast(DType::F32);
    softmax_row = softmax(x, -1);
    product = matmul(x, y.permute({1, 0}));
    wave.output("wave");
    softmax_row.output("softmax");
    product.output("product");
  }
};

std::vector<std::vector<float>> run_sample(const std::string& target, int64_t n) {
  Sample sample(n);
  CompileReport report;
  Executable exe = compile(
      sample.graph,
      {.backend = {.target = target}, .storage = {.cache_folder = "none"}, .report = &report});
  EXPECT_THAT(report.target, HasSubstr(target));
  EXPECT_THAT(report.text(), HasSubstr("target: " + target));
  EXPECT_THAT(report.target, HasSubstr(library_text()));
  std::vector<float> x, y;
  for (int64_t i = 0; i < 3 * n; ++i) {
    x.push_back(static_cast<float>(std::sin(i * 0.7)));
    y.push_back(static_cast<float>(std::cos(i * 1.3) * 20));
  }
  exe.set(sample.graph.tensor(sample.graph.leaves()[0]), x);
  exe.set(sample.graph.tensor(sample.graph.leaves()[1]), y);
  exe.run();
  return {exe.get<float>(sample.wave), exe.get<float>(sample.softmax_row),
          exe.get<float>(sample.product)};
}

TEST(Target, ResultsAreThoseOfTheBestTarget) {
  for (int64_t n : {1, 37, 256}) {
    const auto want = run_sample(Target::host().name, n);
    for (const Target& target : Target::here()) {
      const auto got = run_sample(target.name, n);
      EXPECT_EQ(got[0], want[0]) << target.name << ": element-wise ops have the same bits";
      for (size_t k : {1, 2}) {
        for (size_t i = 0; i < want[k].size(); ++i) {
          EXPECT_NEAR(got[k][i], want[k][i], 1e-4) << target.name;
        }
      }
    }
  }
}

TEST(Target, OneThatIsNotHereIsAnErrorThatNamesThoseThatAre) {
  Graph graph;
  graph.input("x", {4}).output("y");
  try {
    compile(graph, {.backend = {.target = "riscv"}});
    FAIL() << "compiled for riscv";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not run on this machine; it has"));
  }
  EXPECT_THROW(compile(graph, {.backend = {.name = "interp", .target = "avx2"}}), UserError);
}

// ---- aarch64

std::vector<kernel::Kernel> kernels_of(const Graph& graph) {
  CompileReport report;
  CompileOptions options{.plan = {.fusion = FusionPolicy::Always}};
  std::vector<NodeId> roots;
  for (const Output& output : graph.outputs()) roots.push_back(output.node);
  std::vector<kernel::Kernel> kernels;
  const auto planned = plan_graph(graph, roots, options, report);
  for (const auto& step : planned->plan.steps) {
    if (const auto* kernel = std::get_if<kernel::KernelStep>(&step)) {
      kernels.push_back(kernel->lowered.kernel);
    }
  }
  return kernels;
}

// A product whose epilogue has more constants than there are registers.
TEST(Target, SumsOfAProductStayInRegistersWhateverFollowsThem) {
  Graph graph;
  Tensor x = graph.input("x", {208, 96}), w = graph.input("w", {96, 192});
  erf(matmul(x, w) + graph.input("b", {192})).output("y");
  const std::vector<kernel::Kernel> kernels = kernels_of(graph);
  ASSERT_EQ(kernels.size(), 1U);
  // By label: multiply-adds, and vectors that go to or come from the stack.
  const std::regex spill("(\\(%rsp\\), %[yz]mm)|(%[yz]mm[0-9]+, [-0-9]*\\(%rsp\\))");
  for (const Target& target : Target::here()) {
    if (target.name == "sse2") continue;  // has no multiply-add
    std::istringstream assembly(compile_for(target, kernels[0], CodeForm::Assembly, {}));
    int most_products = 0;
    int products = 0, spills = 0;
    for (std::string line; std::getline(assembly, line);) {
      if (line.starts_with(".LBB")) products = spills = 0;
      products += static_cast<int>(line.find("vfmadd231ps") != std::string::npos);
      spills += static_cast<int>(std::regex_search(line, spill));
      most_products = std::max(most_products, products);
      EXPECT_FALSE(products >= 8 && spills > 0) << target.name << ": " << line;
    }
    EXPECT_GE(most_products, 8) << target.name;
  }
}

// A bit of everything that the emitter knows.
std::vector<kernel::Kernel> kernels_of_many_plans() {
  std::vector<kernel::Kernel> all;
  auto take = [&](const std::function<Tensor(Graph&)>& build) {
    Graph graph;
    build(graph).output("y");
    std::vector<kernel::Kernel> kernels = kernels_of(graph);
    all.insert(all.end(), kernels.begin(), kernels.end());
  };
  for (DType t : {DType::F64, DType::F32, DType::F16, DType::BF16}) {
    take([&](Graph& g) {
      Tensor x = g.input("x", {7, Expr::var("n")}, t);
      return fmod(luminal::sin(exp2(x)) * sqrt(x) + log2(x), reciprocal(x));
    });
    take([&](Graph& g) { return softmax(g.input("x", {5, 100}, t), -1); });
    take([&](Graph& g) { return matmul(g.input("a", {9, 33}, t), g.input("b", {33, 20}, t)); });
    take([&](Graph& g) { return gelu(g.input("x", {5, 64}, t)).cast(DType::I32); });
    take([&](Graph& g) {
      return embedding(g.input("x", {50, 12}, t), g.input("i", {4}, DType::I64));
    });
  }
  for (DType t : {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8}) {
    take([&](Graph& g) {
      Tensor x = g.input("x", {6, 40}, t), y = g.input("y", {6, 40}, t);
      return sum(where(x < y, x * y + x, fmod(x, y)), {-1}).cast(DType::F32);
    });
    take([&](Graph& g) { return concat({g.input("x", {3, 5}, t), g.input("y", {3, 6}, t)}, 1); });
  }
  take([](Graph& g) { return cumsum(g.input("x", {6, 40}), 1); });
  take([](Graph& g) { return pad_axis(g.input("x", {4, 30}).flip({1}), 1, {2, 3}); });
  for (const auto& [name, recipe] : recipes()) all.push_back(recipe(DType::BF16, 64, 1024));
  return all;
}

TEST(Aarch64, KernelsOfPlansAssembleWithNeonVectors) {
  std::set<std::string> known = {"memset", "memcpy"};
  for (const HostFunction& function : host_functions()) known.insert(function.name);
  const Target target = Target::aarch64();
  const std::regex call("\\bbl\\t([A-Za-z_0-9]+)");
  int with_vectors = 0, n = 0;
  for (const kernel::Kernel& kernel : kernels_of_many_plans()) {
    for (bool nontemporal : {false, true}) {
      const EmitOptions options{.nontemporal_stores = nontemporal};
      const std::string assembly = compile_for(target, kernel, CodeForm::Assembly, options);
      EXPECT_THAT(assembly, Not(HasSubstr("ymm")));
      with_vectors += std::regex_search(assembly, std::regex("v[0-9]+\\.(4s|2d|8h|16b)"));
      ++n;
      for (std::sregex_iterator it(assembly.begin(), assembly.end(), call), end; it != end; ++it) {
        EXPECT_TRUE(known.contains((*it)[1])) << "calls " << (*it)[1] << "\n" << text(kernel);
      }
    }
    const std::string object = compile_for(target, kernel, CodeForm::Object);
    ASSERT_GT(object.size(), 64u);
    EXPECT_EQ(object.substr(1, 3), "ELF");
    EXPECT_EQ(static_cast<unsigned char>(object[18]), 183) << "not an object for aarch64";
  }
  std::printf("%d kernels assembled, %d of them with vectors\n", n, with_vectors);
  EXPECT_GT(with_vectors, n * 3 / 4);
}

}  // namespace
}  // namespace luminal::backends::cpu
