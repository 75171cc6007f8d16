#include "tests/support/random_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"

namespace luminal::tests {
namespace {

// What a step of the body does. Values stay moderate, so that their errors do over 48 trips.
enum class Step : uint8_t {
  Add,           // two values
  Multiply,      // two values
  Bias,          // a weight of the trip's own
  Project,       // a matrix of the trip's own
  ProjectAlike,  // one that all trips share
  Static,        // a tensor computed before the loop
  SharedLater,   // one that the first trip computes, for all
  Again,         // one that every trip computes again, of the same
  Turn,          // a view
  Centre,        // a reduction, spread again
  Squash,        // floats: a sigmoid; else bits cleared
  Narrow,        // to another dtype and back
  Remember,      // a state of the trip's own, updated at a row
  PerTrip,       // a tensor that was computed for this trip before the loop
};
constexpr int64_t kSteps = 14;

struct Recipe {
  Step step;
  size_t a, b;  // values that are there by then
};

class LoopBuilder {
 public:
  explicit LoopBuilder(RandomSource& random) : random_(random) {}

  RandomLoop build() {
    loop_.made.graph = std::make_unique<Graph>();
    loop_.trips = random_.chance(0.5) ? random_.between(2, 6) : random_.between(2, 48);
    choose_types();
    choose_body();
    std::vector<Tensor> carried = first_values();
    shared_ = scaled(leaf("shared", {rows_, width_}) + row("shared_row"));
    if (has(Step::PerTrip)) prepare_trips();
    for (int64_t t = 0; t < loop_.trips; ++t) carried = trip(t, carried);
    for (size_t c = 0; c < carried.size(); ++c) {
      const Tensor last = random_.chance(0.5) ? carried[c] : scaled(carried[c] + shared_);
      last.output(fmt::format("last {}", c));
    }
    return std::move(loop_);
  }

 private:
  Graph& graph() { return *loop_.made.graph; }
  bool floats() const { return is_float(dtype_); }

  void choose_types() {
    static constexpr DType kDTypes[] = {DType::F32,  DType::F32, DType::F32, DType::F64,
                                        DType::BF16, DType::F16, DType::I32, DType::I16};
    dtype_ = random_.of(std::span<const DType>(kDTypes));
    width_ = random_.between(1, 8);
    rows_ = random_.between(1, 5);
    if (random_.chance(0.4)) {
      rows_ = Expr::var("s", 1, 6);
      loop_.made.variables.push_back(rows_);
    }
  }

  void choose_body() {
    n_carried_ = static_cast<size_t>(random_.between(1, 3));
    size_t n_values = n_carried_;
    const int64_t n = random_.between(2, 9);
    for (int64_t i = 0; i < n; ++i, ++n_values) {
      auto value = [&] {
        return static_cast<size_t>(random_.below(static_cast<int64_t>(n_values)));
      };
      // The first ones take in what is carried, so that something is.
      const size_t a = i < static_cast<int64_t>(n_carried_) ? static_cast<size_t>(i) : value();
      recipes_.push_back({static_cast<Step>(random_.below(kSteps)), a, value()});
    }
    // The last value goes on; others may be any: swapped, kept as they are, or one twice.
    for (size_t c = 0; c < n_carried_; ++c) {
      next_.push_back(c == 0 ? n_values - 1
                             : static_cast<size_t>(random_.below(static_cast<int64_t>(n_values))));
    }
    shown_ = static_cast<size_t>(random_.below(static_cast<int64_t>(n_values)));
    shown_every_ = random_.chance(0.5) ? 0 : random_.between(1, 3);
  }

  bool has(Step step) const {
    return std::ranges::any_of(recipes_, [&](const Recipe& r) { return r.step == step; });
  }

  std::vector<Tensor> first_values() {
    std::vector<Tensor> values;
    for (size_t c = 0; c < n_carried_; ++c) {
      const std::string name = fmt::format("first {}", c);
      switch (random_.below(4)) {
        case 0:
          values.push_back(row(name));  // a view of a weight
          break;
        case 1:
          values.push_back(scaled(leaf(name, {rows_, width_}) + row(name + " row")));
          break;
        case 2:
          if (!values.empty()) {  // of two carried values one tensor is the start
            values.push_back(values.front());
            break;
          }
          [[fallthrough]];
        default:
          values.push_back(leaf(name, {rows_, width_}));
      }
    }
    return values;
  }

  void prepare_trips() {
    for (int64_t t = 0; t < loop_.trips; ++t) {
      prepared_.push_back(scaled(shared_ * row(fmt::format("prepared {}", t))));
    }
  }

  Tensor leaf(const std::string& name, const Dims& dims) {
    return graph().input(name, dims, dtype_);
  }
  Tensor row(const std::string& name) {
    return graph().weight(name, {width_}, dtype_).expand({rows_, width_});
  }
  Tensor scaled(const Tensor& x) { return floats() ? x * 0.5 : x; }
  Tensor projected(const Tensor& x, const std::string& name) {
    const auto known = graph().find(name);
    const Tensor weight = known ? *known : graph().weight(name, {width_, width_}, dtype_);
    const Tensor y = matmul(x, weight);
    return floats() ? y * (0.25 / static_cast<double>(width_)) : y;
  }

  // A row of a table of the trip's own becomes the largest of the value's rows, and is read again.
  Tensor remembered(const Tensor& x, int64_t t, size_t number) {
    const Tensor table =
        graph().state(fmt::format("table {} of trip {}", number, t), {4, width_}, dtype_);
    const Tensor at = prim::iota(graph(), Expr(2), {1}, DType::I32);
    const Tensor filled = index_put(table, at, max(x.transpose(0, 1), -1).unsqueeze(0));
    graph().update(table, filled);
    return scaled(x + filled.select(0, 2).expand({rows_, width_}));
  }

  Tensor step(const Recipe& recipe, size_t number, int64_t t, const std::vector<Tensor>& values) {
    const Tensor& a = values[recipe.a];
    const Tensor& b = values[recipe.b];
    switch (recipe.step) {
      case Step::Add:
        return scaled(a + b);
      case Step::Multiply:
        return floats() ? a * b * 0.25 : a * b;
      case Step::Bias:
        return scaled(a + row(fmt::format("bias {} of trip {}", number, t)));
      case Step::Project:
        return projected(a, fmt::format("matrix {} of trip {}", number, t));
      case Step::ProjectAlike:
        return projected(a, fmt::format("matrix {}", number));
      case Step::Static:
        return scaled(a + shared_);
      case Step::SharedLater:
        if (!later_) later_ = scaled(exp2(scaled(shared_).cast(DType::F32)).cast(dtype_));
        return scaled(a + *later_);
      case Step::Again:
        return scaled(a + scaled(shared_ * shared_));
      case Step::Turn:
        return a.roll(1, 1).flip({1});
      case Step::Centre:
        return scaled(a + max(a, -1).unsqueeze(1).expand({rows_, width_}));
      case Step::Squash:
        return floats() ? sigmoid(a) : bitwise_and(a, graph().constant(0xff, dtype_).expand_as(a));
      case Step::Narrow:
        return floats() ? a.cast(DType::BF16).cast(dtype_) : a.cast(DType::I8).cast(dtype_);
      case Step::Remember:
        return remembered(a, t, number);
      case Step::PerTrip:
        return scaled(a + prepared_[static_cast<size_t>(t)]);
    }
    return a;
  }

  std::vector<Tensor> trip(int64_t t, const std::vector<Tensor>& carried) {
    std::vector<Tensor> values = carried;
    for (size_t i = 0; i < recipes_.size(); ++i) {
      values.push_back(step(recipes_[i], i, t, values));
    }
    if (shown_every_ > 0 && t % shown_every_ == 0) {
      values[shown_].output(fmt::format("shown {}", t));
    }
    std::vector<Tensor> next;
    for (size_t from : next_) next.push_back(values[from]);
    return next;
  }

  RandomSource& random_;
  RandomLoop loop_;
  DType dtype_ = DType::F32;
  Expr rows_;
  int64_t width_ = 1;
  size_t n_carried_ = 1;
  std::vector<Recipe> recipes_;
  std::vector<size_t> next_;  // by carried value
  size_t shown_ = 0;
  int64_t shown_every_ = 0;  // 0: never
  Tensor shared_;
  std::optional<Tensor> later_;
  std::vector<Tensor> prepared_;
};

}  // namespace

RandomLoop random_loop(RandomSource& random) { return LoopBuilder(random).build(); }

}  // namespace luminal::tests
