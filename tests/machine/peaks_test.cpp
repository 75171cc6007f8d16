// Peaks: stated, measured, kept and given; what a file must hold.
#include "luminal/machine/peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "luminal/machine/kept_peaks.h"
#include "luminal/machine/measure_peaks.h"

namespace luminal::machine {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& json) {
  try {
    from_json(json, "some.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(Peaks, BandwidthGrowsEvenlyBetweenTheCountsThatAreKnown) {
  Peaks peaks;
  peaks.memory = {{1, 10e9, 8e9}, {5, 30e9, 16e9}};
  EXPECT_EQ(peaks.read_bytes(1), 10e9);
  EXPECT_EQ(peaks.read_bytes(3), 20e9);
  EXPECT_EQ(peaks.copy_bytes(3), 12e9);
  EXPECT_EQ(peaks.read_bytes(5), 30e9);
  EXPECT_EQ(peaks.read_bytes(64), 30e9);
}

TEST(Peaks, DefaultsOfABetterInstructionSetAreNoSmaller) {
  const char* sets[] = {"sse2", "avx2", "avx512", "amx"};
  for (int k = 1; k < 4; ++k) {
    const Peaks less = default_peaks(sets[k - 1], 4), more = default_peaks(sets[k], 4);
    EXPECT_LE(less.elementwise, more.elementwise);
    EXPECT_LE(less.f32_products, more.f32_products);
    EXPECT_LE(less.bf16_products, more.bf16_products);
    EXPECT_LE(less.i8_products, more.i8_products);
  }
  EXPECT_EQ(default_peaks("avx2", 1).memory.size(), 1u);
  EXPECT_EQ(default_peaks("avx2", 8).f32_products, 8 * default_peaks("avx2", 1).f32_products);
}

TEST(Peaks, KernelsOfASmallerInstructionSetGetLess) {
  const Peaks here = default_peaks(instruction_set_here(), 2);
  EXPECT_EQ(limited_to(here, instruction_set_here()), here);
  EXPECT_EQ(limited_to(here, "sse2").f32_products, default_peaks("sse2", 2).f32_products);
  EXPECT_EQ(limited_to(here, "sse2").memory, here.memory);
}

TEST(Peaks, AreTheSameAfterJson) {
  Peaks peaks = default_peaks("avx512", 3);
  peaks.origin = PeaksOrigin::Measured;
  peaks.source = "2026-11-17";
  EXPECT_EQ(from_json(to_json(peaks), "x"), peaks);
}

TEST(Peaks, DataThatACacheHoldsIsReadAtItsRate) {
  Peaks peaks = default_peaks("avx512", 2);
  peaks.l2 = 1 << 20;
  peaks.l3 = 32 << 20;
  peaks.l2_bytes = 100e9;
  peaks.l3_bytes = 40e9;
  const double memory = peaks.read_bytes(2);
  EXPECT_EQ(peaks.bytes_again(3 << 19), 100e9) << "each thread has its half";
  EXPECT_EQ(peaks.bytes_again((3 << 19) + 1), 40e9);
  EXPECT_EQ(peaks.bytes_again(24 << 20), 40e9);
  EXPECT_EQ(peaks.bytes_again((24 << 20) + 1), memory);
  peaks.l2_bytes = peaks.l3_bytes = 0;
  EXPECT_EQ(peaks.bytes_again(0), memory) << "not known";
}

TEST(Peaks, AStorePastTheCachesTakesWhatACopyTakesBesideItsRead) {
  Peaks peaks = default_peaks("avx512", 1);
  peaks.memory = {{.threads = 1, .read = 12e9, .copy = 8e9}};
  EXPECT_DOUBLE_EQ(peaks.write_bytes(), 6e9);
  peaks.memory = {{.threads = 1, .read = 12e9, .copy = 30e9}};
  EXPECT_EQ(peaks.write_bytes(), 12e9) << "never faster than reading";
}

TEST(Peaks, AFileOfBeforeHasNoRatesOfCaches) {
  std::string json = to_json(default_peaks("avx2", 2));
  for (const char* name : {"l2_bytes", "l3_bytes"}) {
    const size_t at = json.find(std::string("\"") + name);
    ASSERT_NE(at, std::string::npos);
    json.erase(at, json.find('\n', at) - at);
  }
  const Peaks peaks = from_json(json, "x");
  EXPECT_EQ(peaks.bytes_again(0), peaks.read_bytes(2));
  EXPECT_EQ(from_json(to_json(peaks), "x"), peaks);
}

TEST(Peaks, AFileThatHoldsNoneIsRefusedByField) {
  const std::string good = to_json(default_peaks("avx2", 2));
  EXPECT_THAT(error_of("nonsense"), HasSubstr("'some.json' holds no peaks of a machine"));
  EXPECT_THAT(error_of("[]"), HasSubstr("isn't a JSON object"));
  EXPECT_THAT(error_of(replaced(good, "\"format\": 1", "\"format\": 2")), HasSubstr("format"));
  EXPECT_THAT(error_of(replaced(good, "f32_product_flops", "f23")),
              HasSubstr("'f32_product_flops' is missing"));
  EXPECT_THAT(error_of(replaced(good, "\"threads\": 2", "\"threads\": -2")),
              HasSubstr("'threads'"));
  EXPECT_THAT(error_of(replaced(good, "\"threads\": 2", "\"threads\": 1.5")), HasSubstr("1.5"));
  EXPECT_THAT(error_of(replaced(good, "\"threads\": 2", "\"threads\": null")),
              HasSubstr("isn't a number"));
}

TEST(Peaks, OfAFileAreTakenAsTheyAre) {
  const base::TemporaryFolder folder;
  const auto file = folder.path() / "slow.json";
  std::ofstream(file) << to_json(default_peaks("sse2", 7));
  const Peaks given = peaks_of_this_machine(file);
  EXPECT_EQ(given.origin, PeaksOrigin::Given);
  EXPECT_EQ(given.threads, 7);
  EXPECT_THAT(text(given), HasSubstr("given by slow.json: on 7 threads reads"));
  EXPECT_THROW(peaks_of_this_machine(folder.path() / "none.json"), UserError);
}

// Whatever the umask: a file that others may write to isn't used.
TEST(Peaks, AreReadBackAsTheyWereKept) {
  const base::TemporaryFolder folder;
  ASSERT_EQ(setenv("XDG_CACHE_HOME", folder.path().c_str(), 1), 0);
  const mode_t before = umask(0);
  EXPECT_FALSE(read_kept_peaks(3));
  Peaks peaks = default_peaks("avx2", 3);
  peaks.origin = PeaksOrigin::Measured;
  peaks.source = "2026-11-17";
  keep(peaks);
  peaks.others = 0.5;
  keep(peaks);
  umask(before);
  EXPECT_EQ(read_kept_peaks(3), peaks);
  EXPECT_FALSE(read_kept_peaks(4)) << "they are of another number of threads";
  const auto files = std::filesystem::directory_iterator(peaks_file(3).parent_path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "nothing is left beside it";
}

TEST(Peaks, AreMeasuredInAMoment) {
  const Peaks peaks = measure_peaks(2);
  EXPECT_EQ(peaks.origin, PeaksOrigin::Measured);
  EXPECT_GT(peaks.read_bytes(1), 1e8);
  EXPECT_GT(peaks.f32_products, 1e8);
  EXPECT_GE(peaks.bf16_products, 0.5 * peaks.f32_products);
  EXPECT_LT(peaks.barrier_seconds, 1);
}

}  // namespace
}  // namespace luminal::machine
