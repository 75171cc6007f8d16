#include "apps/bench/search/two_ways_graphs.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/search/latent_attention.h"
#include "luminal/base/errors.h"
#include "luminal/kernel/plan/strategy.h"

namespace luminal {
namespace {

using kernel::Knob;
using kernel::Strategy;

// Terms stay as they are written.
PlanOptions as_written(FusionPolicy fusion = FusionPolicy::Modelled) {
  return {
      .fusion = fusion, .numerics = Numerics::Finite, .disable_rules = {"sums", "convolutions"}};
}

TwoWays of_terms(std::string name, std::string what_a, BuildGraph a, std::string what_b,
                 BuildGraph b) {
  return {.name = std::move(name),
          .build = a,
          .ways = {{std::move(what_a), a, as_written()}, {std::move(what_b), b, as_written()}}};
}

// A value that is stored, since it is an output too, against one that each reader computes.
TwoWays of_cuts(std::string name, void (*build)(Graph& graph, bool stored)) {
  const auto built = [=](bool stored) { return [=](Graph& graph) { build(graph, stored); }; };
  return {.name = std::move(name),
          .choice = Choice::Cuts,
          .build = built(false),
          .ways = {{"stored", built(true), as_written()},
                   {"recomputed per use", built(false), as_written(FusionPolicy::Always)}}};
}

// Each kernel that allows its strategy runs by it.
TwoWays of_strategies(std::string name, const BuildGraph& build, Strategy a, Strategy b) {
  const auto by = [&](Strategy strategy) {
    // A model may take several kernels for faster, and those have no such strategy.
    return Way{std::string(text(strategy)), build, as_written(FusionPolicy::Always),
               LibraryPolicy::Never, [strategy](kernel::KernelStep& step) {
                 const bool allowed = step.packs.empty() && allows(step.lowered.kernel, strategy);
                 if (allowed) step.strategy = strategy;
               }};
  };
  return {
      .name = std::move(name), .choice = Choice::Schedule, .build = build, .ways = {by(a), by(b)}};
}

TwoWays of_tilings(std::string name, const BuildGraph& build, int64_t rows_a, int64_t rows_b) {
  const auto by = [&](int64_t rows) {
    return Way{fmt::format("tile_rows {}", rows), build, as_written(), LibraryPolicy::Never,
               [rows](kernel::KernelStep& step) {
                 if (step.strategy == Strategy::Matmul && step.packs.empty()) {
                   step.schedule.set(Knob::TileRows, rows);
                 }
               }};
  };
  return {.name = std::move(name),
          .choice = Choice::Schedule,
          .build = build,
          .ways = {by(rows_a), by(rows_b)}};
}

TwoWays of_library(std::string name, int64_t rows, int64_t width) {
  const BuildGraph build = [=](Graph& graph) {
    matmul(graph.input("x", {rows, width}), graph.weight("w", {width, width})).output("y");
  };
  return {.name = std::move(name),
          .choice = Choice::Library,
          .build = build,
          .library = LibraryPolicy::Measured,
          .ways = {{"own code", build, as_written()},
                   {"the library", build, as_written(), LibraryPolicy::Always}}};
}

TwoWays matrix_chain() {
  constexpr int64_t kWidth = 512;
  const auto chain = [](bool from_right) {
    return [=](Graph& graph) {
      const Tensor a = graph.input("a", {kWidth, kWidth}), b = graph.input("b", {kWidth, kWidth});
      const Tensor v = graph.input("v", {kWidth, 1});
      (from_right ? matmul(a, matmul(b, v)) : matmul(matmul(a, b), v)).output("y");
    };
  };
  return of_terms("matrix-chain", "(A·B)·v", chain(false), "A·(B·v)", chain(true));
}

// x·(A·B), where A and B are of rank `rank`.
TwoWays lora(std::string name, bool weights, int64_t rank) {
  const auto built = [=](bool low_rank) {
    return [=](Graph& graph) {
      constexpr int64_t kRows = 32, kWidth = 1024;
      const auto leaf = [&](const char* of, Dims dims) {
        return weights ? graph.weight(of, std::move(dims)) : graph.input(of, std::move(dims));
      };
      const Tensor x = graph.input("x", {kRows, kWidth});
      const Tensor a = leaf("a", {kWidth, rank}), b = leaf("b", {rank, kWidth});
      (low_rank ? matmul(matmul(x, a), b) : matmul(x, matmul(a, b))).output("y");
    };
  };
  return of_terms(std::move(name), "x·(A·B)", built(false), "(x·A)·B", built(true));
}

TwoWays linear_attention() {
  const auto built = [](bool linear) {
    return [=](Graph& graph) {
      const Dims dims = {4, 1024, 32};
      const Tensor q = graph.input("q", dims), v = graph.input("v", dims);
      const Tensor k = graph.input("k", dims).transpose(1, 2);
      (linear ? matmul(q, matmul(k, v)) : matmul(matmul(q, k), v)).output("y");
    };
  };
  return of_terms("linear-attention", "(q·kᵀ)·v", built(false), "q·(kᵀ·v)", built(true));
}

TwoWays latent_attention(std::string name, const LatentShape& shape) {
  return of_terms(
      std::move(name), "keys and values of every head",
      [=](Graph& graph) { add_latent_attention(graph, shape, false); },
      "absorbed into the query and the result",
      [=](Graph& graph) { add_latent_attention(graph, shape, true); });
}

// What batch_norm() does to each channel of a convolution, or to its filters.
TwoWays convolution_and_norm() {
  enum class Norm : uint8_t { Fused, Apart, InFilters };
  const auto built = [](Norm norm) {
    return [=](Graph& graph) {
      constexpr int64_t kChannels = 32;
      const Tensor x = graph.input("x", {1, kChannels, 112, 112});
      const Tensor w = graph.weight("w", {kChannels, kChannels, 1, 1});
      const auto channels = [&](const char* name) { return graph.weight(name, {kChannels}); };
      const Tensor mean = channels("mean"), gain = channels("gain"), shift = channels("shift");
      const Tensor variance = exp2(channels("log_variance"));
      if (norm != Norm::InFilters) {
        Tensor inner = conv2d(x, w);
        if (norm == Norm::Apart) inner = inner.output("stored");
        relu(batch_norm(inner, mean, variance, gain, shift)).output("y");
        return;
      }
      const Tensor scale = gain / sqrt(variance + 1e-5F);
      const Tensor scaled = w * scale.reshape({kChannels, 1, 1, 1}).expand(w.dims());
      relu(conv2d(x, scaled, shift - mean * scale)).output("y");
    };
  };
  return {.name = "convolution-and-norm",
          .choice = Choice::Cuts,
          .build = built(Norm::Fused),
          .ways = {{"two kernels", built(Norm::Apart), as_written()},
                   {"folded into the filters", built(Norm::InFilters), as_written()}}};
}

// Inputs x#1 and x#2 have the data of x: what reads another tensor shares no load.
TwoWays three_convolutions() {
  constexpr int64_t kChannels = 512, kOut = 16;
  const auto built = [](const std::vector<const char*>& inputs) {
    return [=](Graph& graph) {
      std::vector<Tensor> xs, filters, results;
      for (const char* input : inputs) xs.push_back(graph.input(input, {1, kChannels, 14, 14}));
      for (const char* name : {"u", "v", "w"}) {
        const Tensor filter = graph.weight(name, {kOut, kChannels, 1, 1});
        results.push_back(conv2d(xs[results.size() % xs.size()], filter));
        if (xs.size() > 1) results.back() = results.back().output("stored" + std::string(name));
      }
      (relu(results[0]) * results[1] + results[2]).output("y");
    };
  };
  const auto joined = [](Graph& graph) {
    std::vector<Tensor> filters, results;
    for (const char* name : {"u", "v", "w"}) {
      filters.push_back(graph.weight(name, {kOut, kChannels, 1, 1}));
    }
    const Tensor x = graph.input("x", {1, kChannels, 14, 14});
    const Tensor all = conv2d(x, concat(filters, 0)).output("stored");
    for (int64_t i = 0; i < 3; ++i) results.push_back(all.narrow(1, i * kOut, kOut));
    (relu(results[0]) * results[1] + results[2]).output("y");
  };
  return {.name = "three-convolutions",
          .choice = Choice::Cuts,
          .build = built({"x"}),
          .ways = {{"three products", built({"x", "x#1", "x#2"}), as_written()},
                   {"one product", joined, as_written()}}};
}

TwoWays last_token() {
  enum class Logits : uint8_t { Written, OfAll, OfLast };
  const auto built = [](Logits logits) {
    return [=](Graph& graph) {
      constexpr int64_t kTokens = 64, kWidth = 512;
      const Tensor h = graph.input("h", {kTokens, kWidth});
      const Tensor w = graph.weight("w", {kWidth, 8192});
      const auto last = [](const Tensor& rows) { return rows.narrow(0, kTokens - 1, 1); };
      if (logits == Logits::OfLast) {
        matmul(last(h), w).output("y");
        return;
      }
      Tensor all = matmul(h, w);
      if (logits == Logits::OfAll) all = all.output("stored");
      last(all).output("y");
    };
  };
  return {.name = "last-token",
          .choice = Choice::Cuts,
          .build = built(Logits::Written),
          .ways = {{"logits of all tokens", built(Logits::OfAll), as_written()},
                   {"of the last one", built(Logits::OfLast), as_written()}}};
}

// Few enough queries for ranges of keys, and enough for blocks of rows. Up to 256 keys, ranges are
// no default.
BuildGraph attention_over(int64_t keys) {
  return [=](Graph& graph) {
    const Tensor q = graph.input("q", {2, 8, 64});
    const Tensor k = graph.input("k", {2, keys, 64}), v = graph.input("v", {2, keys, 64});
    matmul(softmax(matmul(q, k.transpose(1, 2)) * 0.125F, -1), v).output("y");
  };
}

BuildGraph product_of(int64_t rows, int64_t width) {
  return [=](Graph& graph) {
    gelu(matmul(graph.input("x", {rows, width}), graph.weight("w", {width, width}))).output("y");
  };
}

// A filter per channel, so few products for each element that is copied.
void depthwise(Graph& graph) {
  constexpr int64_t kChannels = 64;
  const Tensor x = graph.input("x", {1, kChannels, 56, 56});
  const Tensor w = graph.weight("w", {kChannels, 1, 5, 5});
  conv2d(x, w, std::nullopt, {.padding = 2, .groups = kChannels}).output("y");
}

// Cheaper to compute again than to read.
void squares(Graph& graph, bool stored) {
  const Tensor x = graph.input("x", {2048, 2048});
  Tensor square = x * x;
  if (stored) square = square.output("stored");
  (square - mean(square, {0}).expand(square.dims())).output("y");
}

// Cheaper to read than to compute again.
void sines(Graph& graph, bool stored) {
  constexpr int64_t kWidth = 512;
  Tensor x = sin(exp2(sin(graph.input("x", {kWidth, kWidth}))));
  if (stored) x = x.output("stored");
  const Tensor of_row = mean(x, {1}).reshape({kWidth, 1}).expand(x.dims());
  (x - of_row - mean(x, {0}).expand(x.dims())).output("y");
}

const std::vector<TwoWays>& all() {
  static const std::vector<TwoWays> list = {
      matrix_chain(),
      lora("lora-input", false, 16),
      lora("lora-weight", true, 128),
      lora("lora-weight-wide", true, 768),
      linear_attention(),
      latent_attention(
          "mla",
          {.tokens = 512, .heads = 8, .width = 64, .latent = 256, .rotary = 32, .features = 512}),
      latent_attention("mla-4096", {}),
      convolution_and_norm(),
      three_convolutions(),
      last_token(),
      of_strategies("attention-160", attention_over(160), Strategy::RowBlocks,
                    Strategy::SplitAttention),
      of_strategies("attention-4096", attention_over(4096), Strategy::RowBlocks,
                    Strategy::SplitAttention),
      of_strategies("depthwise", depthwise, Strategy::Matmul, Strategy::Loops),
      of_library("library-small", 4, 256),
      of_library("library-medium", 96, 1024),
      of_library("library-large", 512, 2048),
      of_tilings("tilings", product_of(192, 512), 1, 8),
      of_tilings("tilings-wide", product_of(64, 1024), 1, 8),
      of_cuts("squares-per-use", squares),
      of_cuts("sines-per-use", sines),
  };
  return list;
}

}  // namespace

std::vector<std::string> two_ways_names() {
  std::vector<std::string> names;
  for (const TwoWays& each : all()) names.push_back(each.name);
  return names;
}

const TwoWays& two_ways(const std::string& name) {
  for (const TwoWays& each : all()) {
    if (each.name == name) return each;
  }
  throw UserError(fmt::format("there is no graph '{}'; there are: {}", name,
                              fmt::join(two_ways_names(), ", ")));
}

}  // namespace luminal
