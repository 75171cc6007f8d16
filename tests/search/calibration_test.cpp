// Fitting the cost model: planted factors are found, few samples change little, and the same
// samples give the same factors.
#include "luminal/search/cost/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "luminal/luminal.h"
#include "luminal/search/cost/cost_model.h"
#include "tests/search/planned.h"

namespace luminal::search {
namespace {

CostParts parts(KernelKind kind, double l2, double arithmetic, double launch = 1e-6) {
  CostParts of{.kind = kind};
  of.of(CostPart::L2) = l2;
  of.of(CostPart::Arithmetic) = arithmetic;
  of.of(CostPart::Launch) = launch;
  return of;
}

Calibration planted() {
  Calibration calibration = no_calibration();
  KindFactors& reduction = calibration.kinds[static_cast<size_t>(KernelKind::Reduction)];
  reduction.factors[static_cast<size_t>(CostPart::L2)] = 2;
  reduction.factors[static_cast<size_t>(CostPart::Arithmetic)] = 0.5;
  reduction.factors[static_cast<size_t>(CostPart::Launch)] = 4;
  KindFactors& indexed = calibration.kinds[static_cast<size_t>(KernelKind::Indexed)];
  indexed.factors[static_cast<size_t>(CostPart::Rows)] = 2.5;
  return calibration;
}

// Kernels of many sizes, as long as `truth` says, but for `noise`.
std::vector<CostSample> samples_by(const Calibration& truth, int count, double noise) {
  std::mt19937 random(1);
  const auto drawn = [&](double low, double high) {
    const double unit = static_cast<double>(random()) / 4294967296.0;
    return low * std::pow(high / low, unit);
  };
  std::vector<CostSample> samples;
  for (int i = 0; i < count; ++i) {
    CostParts of = parts(i % 2 == 0 ? KernelKind::Reduction : KernelKind::Indexed,
                         drawn(1e-7, 1e-3), drawn(1e-7, 1e-3));
    if (of.kind == KernelKind::Indexed) of.of(CostPart::Rows) = drawn(1e-7, 1e-3);
    CostSample sample{.name = std::to_string(i), .kernels = {of}};
    sample.seconds = seconds(sample, truth) * drawn(1 / (1 + noise), 1 + noise);
    samples.push_back(std::move(sample));
  }
  return samples;
}

double factor(const Calibration& calibration, KernelKind kind, CostPart part) {
  return calibration.of(kind).of(part);
}

TEST(Calibration, PlantedFactorsAreFound) {
  const Calibration fitted = fit(samples_by(planted(), 120, 0.1));
  EXPECT_NEAR(factor(fitted, KernelKind::Reduction, CostPart::L2), 2, 0.2);
  EXPECT_NEAR(factor(fitted, KernelKind::Reduction, CostPart::Arithmetic), 0.5, 0.05);
  EXPECT_NEAR(factor(fitted, KernelKind::Reduction, CostPart::Launch), 4, 0.8);
  EXPECT_NEAR(factor(fitted, KernelKind::Indexed, CostPart::Rows), 2.5, 0.3);
  EXPECT_NEAR(factor(fitted, KernelKind::Indexed, CostPart::Arithmetic), 1, 0.15);
}

TEST(Calibration, OutliersDontDecide) {
  std::vector<CostSample> samples = samples_by(planted(), 120, 0.05);
  for (size_t i = 0; i < samples.size(); i += 10) samples[i].seconds *= 30;
  EXPECT_NEAR(factor(fit(samples), KernelKind::Reduction, CostPart::L2), 2, 0.4);
}

TEST(Calibration, KindsWithoutSamplesStayAsTheyAre) {
  const Calibration fitted = fit(samples_by(planted(), 40, 0));
  EXPECT_EQ(fitted.of(KernelKind::Gemm).factors, no_calibration().of(KernelKind::Gemm).factors);
  EXPECT_EQ(fitted.of(KernelKind::Gemm).samples, 0);
  EXPECT_EQ(fitted.of(KernelKind::Reduction).samples, 20);
}

TEST(Calibration, OneSampleChangesLittle) {
  CostSample sample{.name = "one", .kernels = {parts(KernelKind::Gemm, 1e-5, 1e-4)}};
  sample.seconds = 1.3 * seconds(sample, no_calibration());
  const Calibration fitted = fit(std::span(&sample, 1));
  EXPECT_LT(seconds(sample, fitted), sample.seconds * 1.01);
  for (double of : fitted.of(KernelKind::Gemm).factors) EXPECT_LT(of, 1.4);
}

TEST(Calibration, TheOrderOfSamplesDoesntMatter) {
  std::vector<CostSample> samples = samples_by(planted(), 60, 0.2);
  const Calibration fitted = fit(samples);
  std::ranges::reverse(samples);
  const Calibration again = fit(samples);
  for (size_t k = 0; k < kKernelKinds; ++k) {
    EXPECT_EQ(fitted.kinds[k].factors, again.kinds[k].factors);
    EXPECT_EQ(fitted.kinds[k].waiting, again.kinds[k].waiting);
  }
}

TEST(Calibration, HeldOutKernelsAreNearerAfterwards) {
  const Calibration fitted = fit_validated(samples_by(planted(), 100, 0.05));
  EXPECT_GT(fitted.before.median_ratio, 1.2);
  EXPECT_LT(fitted.after.median_ratio, 1.1);
  EXPECT_GT(fitted.after.rank_correlation, 0.99);
  EXPECT_EQ(fitted.after.kernels, 100);
}

TEST(Calibration, SamplesWithoutATimeAreIgnored) {
  std::vector<CostSample> samples = samples_by(planted(), 20, 0.1);
  const Calibration fitted = fit(samples);
  samples.push_back({.name = "none", .kernels = {parts(KernelKind::Reduction, 1e-5, 0)}});
  samples.push_back(
      {.name = "nan", .kernels = {parts(KernelKind::Reduction, 1e-5, 0)}, .seconds = std::nan("")});
  samples.push_back({.name = "empty", .kernels = {}, .seconds = 1});
  EXPECT_EQ(fit(samples).samples, 20);
  EXPECT_EQ(fit(samples).of(KernelKind::Reduction).factors,
            fitted.of(KernelKind::Reduction).factors);
}

TEST(Calibration, RanksOfEqualTimesAreShared) {
  const std::vector<TimePair> times = {{1, 1}, {1, 1}, {2, 3}, {3, 2}};
  const ModelError error = error_of(times);
  EXPECT_NEAR(error.rank_correlation, 3.5 / 4.5, 1e-12);
  EXPECT_DOUBLE_EQ(error.median_ratio, 1.25);
}

// Whatever the factors, a kernel takes some time.
TEST(Calibration, ACalibratedModelGivesFiniteTimesAboveZero) {
  Graph graph;
  const Tensor x = graph.input("x", {64, 512});
  const Tensor w = graph.weight("w", {512, 256}, DType::BF16);
  const Tensor picked = gather(x, 0, graph.input("index", {64, 512}, DType::I32));
  softmax(matmul(picked, w.cast(DType::F32)), -1).output("y");
  sum(sin(x), {0}).output("z");
  Graph empty;
  (empty.input("x", {0, 4}) + 1).output("y");
  for (const Graph* of : {&graph, &empty}) {
    for (double extreme : {1.0 / 32, 1.0, 32.0}) {
      Calibration calibration = no_calibration();
      for (KindFactors& kind : calibration.kinds) kind.factors.fill(extreme);
      MachineModel machine;
      machine.calibration = std::make_shared<const Calibration>(calibration);
      for (const auto& step : plan(*of).plan.steps) {
        const auto* kernel = std::get_if<kernel::KernelStep>(&step);
        if (kernel == nullptr) continue;
        const double modelled = seconds(kernel->lowered, machine, {});
        EXPECT_TRUE(std::isfinite(modelled));
        EXPECT_GT(modelled, 0);
      }
    }
  }
}

// The parts that a calibration tells apart add up to the model without one, but for launches of one
// thread.
TEST(Calibration, FactorsOfOneLeaveLargeKernelsAsTheyAre) {
  Graph graph;
  const Tensor x = graph.input("x", {1024, 2048});
  sum(sin(x) * sqrt(x), {1}).output("y");
  MachineModel machine;
  for (const auto& step : plan(graph).plan.steps) {
    const kernel::Kernel& kernel = std::get<kernel::KernelStep>(step).lowered.kernel;
    const double before = seconds(kernel, machine, {});
    const double by_parts = seconds(cost_parts(kernel, machine, {}), no_calibration());
    EXPECT_NEAR(by_parts / before, 1, 1e-9);
  }
}

}  // namespace
}  // namespace luminal::search
