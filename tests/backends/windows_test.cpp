// Convolutions on the cpu: GEMMs that read windows from a padded copy of the image, right at every
// size, stride and edge, on every target.
#include <fmt/format.h>

#include "against_interpreter.h"
#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/backends/cpu/schedule/schedule_text.h"
#include "luminal/driver/compile/compilation.h"

namespace luminal {
namespace {

struct Shape {
  int64_t images, channels, out, height, width;
  int down, across;  // of the kernel
  Conv2dOptions options = {};
  DType dtype = DType::F32;
};

std::string shown(const Shape& s) {
  return fmt::format(
      "{} of {} × {} × {} to {}, {} × {}, stride {} {}, padding {} {}, dilation {} {}, groups {}, "
      "{}",
      s.images, s.channels, s.height, s.width, s.out, s.down, s.across, s.options.stride.h.text(),
      s.options.stride.w.text(), s.options.padding.h.text(), s.options.padding.w.text(),
      s.options.dilation.h.text(), s.options.dilation.w.text(), s.options.groups, name(s.dtype));
}

Tensor convolution(Graph& graph, const Shape& s) {
  const Tensor x = graph.input("x", {s.images, s.channels, s.height, s.width}, s.dtype);
  const Tensor w =
      graph.weight("w", {s.out, s.channels / s.options.groups, s.down, s.across}, s.dtype);
  const Tensor bias = graph.weight("b", {s.out}, s.dtype);
  return relu(conv2d(x, w, bias, s.options));
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {1, 8, 18, 14, 14, 3, 3, {.padding = 1}},
      {2, 6, 24, 13, 13, 3, 3, {.padding = 1}},
      {1, 3, 130, 7, 7, 3, 3, {.padding = 1}},
      {1, 3, 17, 28, 28, 3, 3, {.padding = 1}},
      {1, 3, 16, 33, 35, 3, 3, {.stride = 2}},
      {1, 2, 9, 31, 30, 7, 7, {.stride = 2, .padding = 3}},
      {1, 3, 10, 15, 17, 5, 5, {.padding = 2}},
      {1, 6, 10, 17, 17, 1, 7, {.padding = {0, 3}}},
      {1, 6, 10, 17, 17, 7, 1, {.padding = {3, 0}}},
      {1, 24, 33, 16, 15, 1, 1, {.stride = 2}},
      {3, 16, 32, 9, 11, 3, 3, {.padding = 1, .groups = 4}},
      {1, 16, 32, 16, 16, 3, 3, {.stride = 2, .padding = 1, .groups = 8}},
      {1, 8, 16, 20, 19, 3, 3, {.padding = 2, .dilation = 2}},
      {1, 8, 16, 25, 24, 3, 3, {.stride = 2, .padding = 3, .dilation = 3}},
      {1, 4, 16, 23, 22, 3, 4, {.stride = {3, 2}, .padding = {0, 1}, .dilation = {1, 3}}},
      {1, 4, 16, 4, 40, 3, 3, {.padding = {0, 1}}},
      {1, 4, 16, 40, 2, 3, 3, {.padding = {1, 1}}},
      {1, 120, 9, 4, 35, 3, 3, {.padding = 1}},
      {2, 16, 24, 13, 13, 3, 3, {.padding = 1}, DType::BF16},
      {1, 16, 24, 14, 13, 3, 3, {.stride = 2, .padding = 1}, DType::F16}};
  return all;
}

TEST(Windows, AreRightAtEverySizeRunAfterRun) {
  for (size_t k = 0; k < shapes().size(); ++k) {
    const Shape& shape = shapes()[k];
    // Half of the sizes on each of the other targets.
    for (const char* target : {"", k % 2 == 0 ? "avx2" : "sse2"}) {
      SCOPED_TRACE(shown(shape) + " " + target);
      Graph graph;
      const Tensor y = convolution(graph, shape).output("y");
      Comparison{graph, {y}, {.backend = {.target = target}}, {}, 1e-4}.run({{}, {}});
    }
  }
}

TEST(Windows, OfAVariableNumberOfImagesAreRightRunAfterRun) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16, DType::I32}) {
    SCOPED_TRACE(name(dtype));
    Graph graph;
    const Tensor x = graph.input("x", {Expr::var("n", 0, 8), 4, 13, 15}, dtype);
    const Tensor w = graph.weight("w", {9, 4, 3, 3}, dtype);
    const Tensor y = conv2d(x, w, std::nullopt, {.stride = 2, .padding = 1}).output("y");
    Comparison{graph, {y}}.run({{{"n", 1}}, {{"n", 3}}, {{"n", 0}}, {{"n", 2}}});
  }
}

TEST(Windows, HaveTheSameBitsOnAnyNumberOfThreads) {
  for (const Shape& shape : {shapes()[0], shapes()[5], shapes()[10]}) {
    Graph graph;
    const Tensor y = convolution(graph, shape).output("y");
    expect_same_bits(graph, y);
  }
}

TEST(Windows, OfSeveralConvolutionsOfOneInputAreRight) {
  Graph graph;
  const Tensor x = graph.input("x", {1, 16, 14, 14});
  const auto conv = [&](const char* name, int kernel) {
    const Tensor w = graph.weight(name, {24, 16, kernel, kernel});
    return conv2d(x, w, std::nullopt, {.padding = kernel / 2}).output(std::string(name) + "y");
  };
  Comparison{graph, {conv("a", 1), conv("b", 3), conv("c", 5)}}.run({{}, {}});
}

// The text of the schedules of all GEMMs.
std::string schedules(Graph& graph) {
  const CompileOptions options{.storage = {.cache_folder = "none"}};
  Compilation compilation(graph, options);
  compilation.verify();
  compilation.plan();
  std::string text;
  compilation.choose(0, [&](kernel::KernelStep& step) {
    const auto schedule = backends::cpu::make_schedule(
        step.lowered.kernel, backends::cpu::Target::named("avx512"), {.strategy = step.strategy});
    text += backends::cpu::text(schedule);
  });
  return text;
}

TEST(Windows, AreReadByConvolutionsOfAllKinds) {
  for (const Shape& shape : shapes()) {
    if (shape.dtype != DType::F32) continue;
    SCOPED_TRACE(shown(shape));
    Graph graph;
    convolution(graph, shape).output("y");
    EXPECT_NE(schedules(graph).find("right as windows"), std::string::npos);
  }
}

// How often `part` is in `text`.
int count_of(const std::string& text, std::string_view part) {
  int count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Windows, ImagesOfSeveralConvolutionsInAKernelArePackedOnce) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (int64_t side : {3, 7, 14}) {
      SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(side));
      Graph graph;
      const Tensor x = graph.input("x", {1, 40, side, side}, dtype);
      const auto conv = [&](const char* name, int64_t first) {
        const Tensor w = graph.weight(name, {24, 32, 1, 1}, dtype);
        return conv2d(x.narrow(1, first, 32), w);
      };
      // The last one reads other channels. Sums of what isn't negative keep errors small.
      const Tensor both = relu(conv("a", 0)) + relu(conv("b", 0));
      const Tensor y = (both + relu(conv("c", 8))).output("y");
      if (dtype == DType::F32) {
        EXPECT_EQ(count_of(schedules(graph), "right as contraction"), 1);
      }
      Comparison{graph, {y}}.run({{}, {}});
    }
  }
}

}  // namespace
}  // namespace luminal
