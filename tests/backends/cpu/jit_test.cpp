// What the Jit remembers: in memory by text, on disk by what was compiled.
#include "luminal/backends/cpu/llvm/jit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "luminal/backends/cpu/launch/launch.h"
#include "luminal/base/os/memory.h"
#include "tests/backends/cpu/kernel_harness.h"
#include "tests/backends/cpu/kernel_recipes.h"

namespace luminal::backends::cpu {
namespace {

kernel::Kernel recipe(const std::string& wanted, Expr n) {
  for (const auto& [name, make] : recipes()) {
    if (name == wanted) return make(DType::F32, 4, n);
  }
  ADD_FAILURE() << "no recipe " << wanted;
  return {};
}

// A folder of its own, removed at the end.
class JitCache : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("luminal_jit_test_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Jit::Options options() const { return {.target = Target::host(), .cache_folder = folder_}; }
  std::vector<std::filesystem::path> files(const std::string& ending = ".o") const {
    std::vector<std::filesystem::path> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ending) result.push_back(entry.path());
    }
    return result;
  }
  // Whether the kernel adds: it runs on 4 × 8 ones.
  static void expect_adds(const CompiledKernel& kernel) {
    std::vector<float> x(32, 1), z(32, 2), y(32);
    std::vector<const void*> params = {x.data(), z.data(), y.data()};
    Launch launch = prepare_launch(kernel, {}, {});
    alignas(64) std::byte scratch[4096];
    run(launch, params, scratch);
    EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](float v) { return v == 3; }));
  }
  std::filesystem::path folder_;
};

TEST_F(JitCache, EqualKernelsAreCompiledOnce) {
  Jit jit(options());
  auto a = jit.compile(recipe("add", 8)), b = jit.compile(recipe("add", 8));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, jit.compile(recipe("add", 9)));
  EXPECT_NE(a, jit.compile(recipe("add", 8), {.choices = {{kernel::Knob::Unroll, 1}}}));
}

TEST_F(JitCache, AnotherProcessFindsTheObject) {
  {
    Jit jit(options());
    EXPECT_FALSE(jit.compile(recipe("add", 8))->from_cache());
    EXPECT_EQ(jit.cache_counters().misses, 1);
    EXPECT_EQ(files().size(), 1u);
    EXPECT_EQ(files(".name").size(), 1u);
  }
  Jit jit(options());
  auto kernel = jit.compile(recipe("add", 8));
  EXPECT_TRUE(kernel->from_cache());
  EXPECT_EQ(jit.cache_counters().hits, 1);
  expect_adds(*kernel);
}

// As after a change of the compiler that doesn't reach this kernel.
TEST_F(JitCache, WithoutItsNameTheObjectIsFoundByWhatIsEmitted) {
  {
    Jit(options()).compile(recipe("add", 8));
  }
  ASSERT_EQ(files(".name").size(), 1u);
  const std::filesystem::path name = files(".name")[0];
  std::filesystem::resize_file(name, 40);
  Jit jit(options());
  auto kernel = jit.compile(recipe("add", 8));
  EXPECT_TRUE(kernel->from_cache());
  expect_adds(*kernel);
  ASSERT_EQ(jit.cache_notes().size(), 1u);
  EXPECT_NE(jit.cache_notes()[0].find("names of kernels"), std::string::npos);
  EXPECT_GT(std::filesystem::file_size(name), 40u) << "it is written anew";
}

// Such as one that the system doesn't let use tiles: what it is given mustn't have them.
TEST_F(JitCache, ATargetThatDiffersInAFlagHasNamesOfItsOwn) {
  {
    Jit(options()).compile(recipe("add", 8));
  }
  Jit::Options other = options();
  other.target.amx_int8 = !other.target.amx_int8;
  Jit(other).compile(recipe("add", 8));
  EXPECT_EQ(files(".name").size(), 2u);
  EXPECT_EQ(files().size(), 1u) << "no tiles in it: the same code";
}

TEST_F(JitCache, ANameOfAnObjectThatIsGoneIsNoHit) {
  {
    Jit(options()).compile(recipe("add", 8));
  }
  for (const auto& file : files()) std::filesystem::remove(file);
  auto kernel = Jit(options()).compile(recipe("add", 8));
  EXPECT_FALSE(kernel->from_cache());
  expect_adds(*kernel);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(JitCache, DamagedObjectsAreCompiledAgain) {
  {
    Jit(options()).compile(recipe("add", 8));
  }
  ASSERT_EQ(files().size(), 1u);
  const auto size = std::filesystem::file_size(files()[0]);
  int damages = 0;
  auto expect_recovery = [&] {
    Jit jit(options());
    auto kernel = jit.compile(recipe("add", 8));
    EXPECT_FALSE(kernel->from_cache());
    EXPECT_EQ(jit.cache_counters().damaged, 1);
    expect_adds(*kernel);
    kernel.reset();
    EXPECT_TRUE(Jit(options()).compile(recipe("add", 8))->from_cache());
    ++damages;
  };
  {  // a flipped bit
    std::fstream file(files()[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(size / 2));
    char byte = static_cast<char>(file.get() ^ 4);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.put(byte);
  }
  expect_recovery();
  std::filesystem::resize_file(files()[0], size - 7);
  expect_recovery();
  std::filesystem::resize_file(files()[0], 0);
  expect_recovery();
  EXPECT_EQ(damages, 3);
}

TEST_F(JitCache, OtherTargetsHaveOtherObjects) {
  {
    Jit(options()).compile(recipe("add", 8));
  }
  Jit::Options other = options();
  other.target = Target::here().back();
  EXPECT_FALSE(Jit(other).compile(recipe("add", 8))->from_cache());
  EXPECT_EQ(files().size(), Target::here().size() > 1 ? 2u : 1u);
}

TEST_F(JitCache, AFolderThatCantBeWrittenIsCounted) {
  Jit jit({.target = Target::host(), .cache_folder = "/proc/luminal"});
  expect_adds(*jit.compile(recipe("add", 8)));
  EXPECT_EQ(jit.cache_counters().not_written, 1);
}

TEST_F(JitCache, AFolderThatOthersMayWriteToIsNotUsed) {
  std::filesystem::create_directories(options().cache_folder);
  std::filesystem::permissions(options().cache_folder, std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  Jit jit(options());
  jit.compile(recipe("add", 8));
  ASSERT_EQ(jit.cache_notes().size(), 1u);
  EXPECT_NE(jit.cache_notes()[0].find("other users may write to it"), std::string::npos);
  EXPECT_TRUE(files().empty());
}

TEST(Jit, ThreadsMayCompileTogether) {
  Jit jit({.target = Target::host(), .cache_folder = {}});
  std::vector<std::shared_ptr<const CompiledKernel>> made(12);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (size_t k = t; k < made.size(); k += 3) {
        made[k] = jit.compile(recipe("softmax", static_cast<int64_t>(16 + k / 6)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& kernel : made) EXPECT_NE(kernel->function(), nullptr);
  EXPECT_EQ(made[0], made[5]);
  EXPECT_NE(made[0], made[6]);
}

TEST(Jit, KernelsOutliveTheirJit) {
  auto jit = std::make_unique<Jit>(Jit::Options{.target = Target::host(), .cache_folder = {}});
  auto kernel = jit->compile(recipe("add", 8));
  jit.reset();
  EXPECT_NE(kernel->llvm_ir().find("define void @kernel"), std::string::npos);
  EXPECT_NE(kernel->assembly().find("kernel:"), std::string::npos);
}

// The last parameter after a run on copies; in place, it is the first one's.
Bytes launched(const Launch& launch, const std::vector<Bytes>& params, bool in_place = false) {
  std::vector<base::LargeBuffer> buffers;
  std::vector<const void*> addresses;
  for (const Bytes& bytes : params) {
    buffers.emplace_back(bytes.size());
    std::copy(bytes.begin(), bytes.end(), buffers.back().bytes().begin());
    addresses.push_back(buffers.back().bytes().data());
  }
  if (in_place) addresses.back() = addresses[0];
  base::LargeBuffer scratch(static_cast<size_t>(launch.threads * launch.scratch_bytes));
  run(launch, addresses, scratch.bytes().data());
  auto* out = static_cast<const std::byte*>(addresses.back());
  return Bytes(out, out + params.back().size());
}

// Choices that don't change results don't: other stores, unrolling and prefetching, and an output
// in the place of an input.
TEST(Launch, OptionsAndInPlaceOutputsGiveTheSameBits) {
  Jit jit({.target = Target::host(), .cache_folder = {}});
  const int64_t rows = 6, n = 256;
  for (const auto& [name, make] : recipes()) {
    for (DType dtype : {DType::F32, DType::BF16}) {
      kernel::Kernel kernel = make(dtype, rows, n);
      std::mt19937_64 random(3);
      std::vector<Bytes> params = random_params(kernel, {}, random, Fill::Usual);
      auto run_with = [&](const EmitOptions& options, bool in_place) {
        auto compiled = jit.compile(kernel, options);
        Launch launch = prepare_launch(*compiled, {}, {.threads = 2, .min_parallel_us = 0});
        return launched(launch, params, in_place);
      };
      const Bytes want = run_with({}, false);
      EXPECT_EQ(want, run_with({.nontemporal_stores = true}, false)) << name;
      EXPECT_EQ(want, run_with({.choices = {{kernel::Knob::Prefetch, 0}}}, false)) << name;
      // Rotary reads the other half of a head; the reductions' outputs are smaller than their
      // input.
      if (name == "rotary" || params.back().size() != params.front().size()) continue;
      EXPECT_EQ(want, run_with({}, true)) << name;
    }
  }
}

// However finely threads share the points, and whoever takes which piece.
TEST(Launch, PiecesGiveTheSameBits) {
  Jit jit({.target = Target::host(), .cache_folder = {}});
  for (const auto& [name, make] : recipes()) {
    kernel::Kernel kernel = make(DType::F32, 37, 200);
    std::mt19937_64 random(5);
    const std::vector<Bytes> params = random_params(kernel, {}, random, Fill::Usual);
    const auto compiled = jit.compile(kernel);
    auto run_with = [&](int threads, int pieces) {
      Launch launch = prepare_launch(*compiled, {}, {.threads = threads, .min_parallel_us = 0});
      launch.pieces = pieces;
      return launched(launch, params);
    };
    const Bytes want = run_with(1, 1);
    for (int pieces : {1, 2, 5, 1000}) {
      EXPECT_EQ(want, run_with(2, pieces)) << name << " in " << pieces;
      EXPECT_EQ(want, run_with(3, pieces)) << name << " in " << pieces;
    }
  }
}

TEST(Launch, SmallKernelsStayOnOneThread) {
  Jit jit({.target = Target::host(), .cache_folder = {}});
  auto small = jit.compile(recipe("add", 64)), large = jit.compile(recipe("add", 100000));
  EXPECT_EQ(prepare_launch(*small, {}, {.threads = 8}).threads, 1);
  EXPECT_EQ(prepare_launch(*large, {}, {.threads = 8}).threads, 8);
  EXPECT_EQ(prepare_launch(*small, {}, {.threads = 8, .min_parallel_us = 0}).threads, 4);
  auto rows = jit.compile(recipe("softmax", 100000));
  EXPECT_EQ(prepare_launch(*rows, {}, {.threads = 8}).threads, 4) << "there are four rows";
}

TEST(Launch, KernelsSideBySideShareThreads) {
  Jit jit({.target = Target::host(), .cache_folder = {}});
  auto small = jit.compile(recipe("add", 64)), large = jit.compile(recipe("add", 100000));
  const LaunchOptions options{.threads = 2};
  Launch a = prepare_launch(*small, {}, options), b = prepare_launch(*small, {}, options);
  Launch c = prepare_launch(*large, {}, options);
  share_threads(std::vector<Launch*>{&a, &b}, options);
  EXPECT_EQ(a.team, 1) << "both together aren't worth a second thread";
  share_threads(std::vector<Launch*>{&a, &b, &c}, options);
  EXPECT_EQ(a.team, 2);
  EXPECT_EQ(a.first_thread, 0);
  EXPECT_EQ(b.first_thread, 1) << "small ones go to different threads";
  EXPECT_EQ(c.threads, 2);
}

}  // namespace
}  // namespace luminal::backends::cpu
