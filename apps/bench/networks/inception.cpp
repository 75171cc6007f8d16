// Inception-v3 (Szegedy et al. 2016), without the auxiliary classifier, which training alone has.
#include <algorithm>
#include <string>
#include <vector>

#include "apps/bench/networks/builders.h"
#include "apps/bench/networks/conv_layers.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

struct Layer {
  int64_t out;
  Window window;
};

// By height and width of the kernel; the image keeps its size.
Window flat(int height, int width) {
  return {.kernel = Size2(height, width), .padding = Size2(height / 2, width / 2)};
}

constexpr int kStride = 2;
Window halving() { return {.kernel = 3, .stride = kStride}; }

// A module of parallel branches, numbered; the image is what they all read.
class Module {
 public:
  Module(const nn::Scope& scope, const Tensor& x, int64_t narrower)
      : scope_(scope), x_(x), narrower_(narrower) {}

  // Convolutions in a row, numbered.
  Tensor row(const Tensor& x, const std::vector<Layer>& layers) {
    const nn::Scope scope = scope_.child(number_++);
    Tensor y = x;
    for (size_t i = 0; i < layers.size(); ++i) {
      y = conv_norm_relu(scope.child(static_cast<int>(i)), y, layers[i].out / narrower_,
                         layers[i].window);
    }
    return y;
  }
  void branch(const std::vector<Layer>& layers) { results_.push_back(row(x_, layers)); }
  // A row whose result is read by a 1 × 3 and a 3 × 1 convolution.
  void split_branch(const std::vector<Layer>& layers, int64_t out) {
    const Tensor y = row(x_, layers);
    results_.push_back(row(y, {{out, flat(1, 3)}}));
    results_.push_back(row(y, {{out, flat(3, 1)}}));
  }
  void averages(int64_t out) {
    const Tensor y = avg_pool2d(x_, 3, {.stride = 1, .padding = 1});
    results_.push_back(row(y, {{out, same(1)}}));
  }
  void maxima() { results_.push_back(max_pool2d(x_, 3, {.stride = kStride})); }
  Tensor result() const { return concat(results_, 1); }

 private:
  nn::Scope scope_;
  Tensor x_;
  int64_t narrower_;
  int number_ = 0;
  std::vector<Tensor> results_;
};

// The modules, by the names of the original's figures: 5, 10, 6, 7.
Tensor module_a(Module of, int64_t pooled) {
  of.branch({{64, same(1)}});
  of.branch({{48, same(1)}, {64, same(5)}});
  of.branch({{64, same(1)}, {96, same(3)}, {96, same(3)}});
  of.averages(pooled);
  return of.result();
}

Tensor module_b(Module of) {
  of.branch({{384, halving()}});
  of.branch({{64, same(1)}, {96, same(3)}, {96, halving()}});
  of.maxima();
  return of.result();
}

Tensor module_c(Module of, int64_t n) {
  of.branch({{192, same(1)}});
  of.branch({{n, same(1)}, {n, flat(1, 7)}, {192, flat(7, 1)}});
  of.branch({{n, same(1)}, {n, flat(7, 1)}, {n, flat(1, 7)}, {n, flat(7, 1)}, {192, flat(1, 7)}});
  of.averages(192);
  return of.result();
}

Tensor module_d(Module of) {
  of.branch({{192, same(1)}, {320, halving()}});
  of.branch({{192, same(1)}, {192, flat(1, 7)}, {192, flat(7, 1)}, {192, halving()}});
  of.maxima();
  return of.result();
}

Tensor module_e(Module of) {
  of.branch({{320, same(1)}});
  of.split_branch({{384, same(1)}}, 384);
  of.split_branch({{448, same(1)}, {384, same(3)}}, 384);
  of.averages(192);
  return of.result();
}

}  // namespace

Tensor inception_v3(Graph& graph, const NetworkSize& size) {
  const nn::Scope scope(graph);
  const auto stem = [&](const char* name, const Tensor& x, const std::vector<Layer>& layers) {
    return Module(scope.child(name), x, size.narrower).row(x, layers);
  };
  const auto pooled = [](const Tensor& x) { return max_pool2d(x, 3, {.stride = kStride}); };
  Tensor x = image(graph, size, 299);
  x = pooled(stem("stem1", x, {{32, halving()}, {32, {.kernel = 3}}, {64, same(3)}}));
  x = pooled(stem("stem2", x, {{80, same(1)}, {192, {.kernel = 3}}}));
  int number = 0;
  const auto next = [&] { return Module(scope.child("mixed").child(number++), x, size.narrower); };
  const auto some = [&](std::vector<int64_t> list) {
    list.resize(std::min<size_t>(list.size(), static_cast<size_t>(size.repeats)));
    return list;
  };
  for (int64_t n : some({32, 64, 64})) x = module_a(next(), n);
  x = module_b(next());
  for (int64_t n : some({128, 160, 160, 192})) x = module_c(next(), n);
  x = module_d(next());
  for (int i = 0; i < std::min(2, size.repeats); ++i) x = module_e(next());
  return classify(scope, x, 1000 / size.narrower).output("y");
}

}  // namespace luminal::bench
