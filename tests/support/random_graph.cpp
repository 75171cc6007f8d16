// One step after another, each adding a few nodes on top of what is there. A step whose arguments
// turn out not to fit (a reshape that can't be proved, say) is a UserError, and another one is
// taken; what it left behind is dead code, which a compiler meets too.
#include "tests/support/random_graph.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/traverse.h"
#include "luminal/shape/scalar.h"

namespace luminal::tests {
namespace {

size_t at(int axis) { return static_cast<size_t>(axis); }

// −x, computed by a callback.
CustomOp negation() {
  return {.name = "negation",
          .shape_rule = [](const std::vector<TensorType>& types) { return types[0]; },
          .compute =
              [](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
                const DType dtype = inputs[0].dtype;
                for (int64_t i = 0; i < inputs[0].n_elements(); ++i) {
                  const std::byte* from = inputs[0].bytes.data();
                  if (is_float(dtype)) {
                    store_float(dtype, result.bytes.data(), i, -load_float(dtype, from, i));
                  } else {
                    store_int(dtype, result.bytes.data(), i,
                              wrap_to(dtype, -load_int(dtype, from, i)));
                  }
                }
              }};
}

class Maker {
 public:
  Maker(RandomSource& random, const RandomGraphOptions& options)
      : random_(random), options_(options), graph_(std::make_unique<Graph>()) {}

  RandomGraph make() {
    choose_variables();
    const int64_t leaves = random_.between(1, 3);
    for (int64_t k = 0; k < leaves; ++k) another_leaf();
    const int64_t states = random_.chance(0.25) ? random_.between(1, 2) : 0;
    for (int64_t k = 0; k < states; ++k) {
      const Dims dims = random_dims();
      add(graph_->state("state" + std::to_string(k), dims, random_dtype()));
    }
    const auto wanted =
        static_cast<size_t>(random_.between(options_.least_nodes, options_.most_nodes));
    for (int attempts = 0; graph_->size() < wanted && attempts < 400; ++attempts) step();
    choose_results();
    return {std::move(graph_), std::move(variables_)};
  }

 private:
  // ---- Sizes ---------------------------------------------------------------------------------

  void choose_variables() {
    static const char* const kNames[] = {"s", "t", "u"};
    const int64_t count = random_.chance(0.4) ? 0 : random_.between(1, 3);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t least = random_.below(2);
      variables_.push_back(Expr::var(kNames[k], least, random_.between(3, 20)));
    }
  }

  Expr random_size() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 32, 33, 48};
    if (variables_.empty() || random_.chance(0.6)) {
      return random_.of(std::span<const int64_t>(kSizes));
    }
    const Expr variable = random_.of(variables_);
    switch (random_.below(8)) {
      case 0:
        return variable + random_.between(1, 3);
      case 1:
        return variable * random_.between(2, 4);
      case 2:
        return variable + random_.of(variables_);
      default:
        return variable;
    }
  }

  bool fits(const Dims& dims) const {
    int64_t count = 1;
    for (Expr dim : dims) {
      if (dim.lower_bound() < 0 || dim.upper_bound() > options_.most_elements) return false;
      count *= std::max<int64_t>(dim.upper_bound(), 1);
      if (count > options_.most_elements) return false;
    }
    return dims.size() <= 5;
  }

  Dims random_dims() {
    static constexpr int kRanks[] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4};
    Dims dims;
    for (int rank = random_.of(std::span<const int>(kRanks)); rank > 0; --rank) {
      dims.push_back(random_size());
    }
    while (!fits(dims)) dims.pop_back();
    return dims;
  }

  // ---- Tensors -------------------------------------------------------------------------------

  DType random_dtype() {
    static constexpr DType kFrequent[] = {DType::F32, DType::F32, DType::BF16,
                                          DType::F16, DType::F64, DType::I32};
    if (random_.chance(0.7)) return random_.of(std::span<const DType>(kFrequent));
    return computing_dtype();
  }
  DType computing_dtype() {
    static constexpr DType kAll[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                                     DType::I32, DType::I16, DType::I8,  DType::U8,   DType::Bool};
    return random_.of(std::span<const DType>(kAll));
  }

  Tensor add(const Tensor& tensor) {
    if (!fits(tensor.dims())) throw UserError("larger than this test wants");
    pool_.push_back(tensor);
    return tensor;
  }

  Tensor leaf(const Dims& dims, DType dtype) {
    const std::string name = "x" + std::to_string(graph_->leaves().size());
    return random_.chance(0.2) ? graph_->weight(name, dims, dtype)
                               : graph_->input(name, dims, dtype);
  }

  // What came last is taken more often, so that graphs grow deep.
  Tensor any() {
    const auto size = static_cast<int64_t>(pool_.size());
    const int64_t back =
        random_.chance(0.6) ? random_.below(std::min<int64_t>(size, 4)) : random_.below(size);
    return pool_[static_cast<size_t>(size - 1 - back)];
  }
  Tensor any_computing() {
    Tensor x = any();
    return x.dtype() == DType::U4 ? x.cast(computing_dtype()) : x;
  }
  Tensor any_float() {
    static constexpr DType kFloats[] = {DType::F32, DType::F32, DType::BF16, DType::F16,
                                        DType::F64};
    Tensor x = any();
    return is_float(x.dtype()) ? x : x.cast(random_.of(std::span<const DType>(kFloats)));
  }
  Tensor any_integer() {
    static constexpr DType kIntegers[] = {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8};
    Tensor x = any();
    return is_int(x.dtype()) ? x : x.cast(random_.of(std::span<const DType>(kIntegers)));
  }
  int any_axis(const Tensor& x) { return static_cast<int>(random_.below(x.rank())); }

  // A tensor of the same dims and dtype as `x`, from wherever.
  Tensor partner(const Tensor& x) {
    switch (random_.below(6)) {
      case 0:
        return broadcast_leaf(x);
      case 1:
        return prim::full_like(x, random_scalar(x.dtype()));
      case 2:
        if (x.rank() > 0) return row_statistic(x);
        break;
      case 3:
        if (x.rank() > 0) return shuffled(x);
        break;
      default:
        break;
    }
    std::vector<Tensor> alike;
    for (const Tensor& other : pool_) {
      if (same_dims(other.dims(), x.dims())) alike.push_back(other);
    }
    return alike.empty() ? broadcast_leaf(x) : random_.of(alike).cast(x.dtype());
  }

  Scalar random_scalar(DType dtype) {
    static constexpr double kReals[] = {0.5, 2, -1, 0.25, 1, 3, -0.3, 0.0};
    if (is_float(dtype)) return random_.of(std::span<const double>(kReals));
    return random_.between(-3, 5);
  }

  Tensor broadcast_leaf(const Tensor& x) {
    Dims dims = x.dims();
    for (Expr& dim : dims) {
      if (random_.chance(0.3)) dim = 1;
    }
    const bool shorter = !dims.empty() && random_.chance(0.3);
    if (shorter) dims.erase(dims.begin());
    return add(leaf(dims, x.dtype())).expand_as(x);
  }

  // A reduction along an axis, spread over the axis again: what softmax and norms are made of.
  Tensor row_statistic(const Tensor& x) {
    const int axis = random_.chance(0.7) ? x.rank() - 1 : any_axis(x);
    const Tensor reduced = prim::reduce(x.transpose(axis, -1), random_reducer(x.dtype()));
    return reduced.unsqueeze(-1).transpose(axis, -1).expand_as(x);
  }

  // Products leave the range of a type soon: they are rarer.
  Reducer random_reducer(DType) {
    return random_.chance(0.15) ? Reducer::Prod : random_.chance(0.5) ? Reducer::Sum : Reducer::Max;
  }

  // The same dims, other elements.
  Tensor shuffled(const Tensor& x) {
    const int axis = any_axis(x);
    if (random_.chance(0.5) || x.dim(axis).lower_bound() < 1) return x.flip({axis});
    return x.roll(random_.between(1, 3), axis);
  }

  // ---- Steps ---------------------------------------------------------------------------------

  void step() {
    using Step = void (Maker::*)();
    static constexpr struct {
      int weight;
      Step step;
    } kSteps[] = {{14, &Maker::unary},   {16, &Maker::binary},     {4, &Maker::integer_binary},
                  {5, &Maker::compare},  {6, &Maker::select},      {6, &Maker::cast},
                  {1, &Maker::bitcast},  {18, &Maker::view},       {9, &Maker::reduce},
                  {3, &Maker::scan},     {4, &Maker::gather},      {3, &Maker::scatter},
                  {4, &Maker::join},     {4, &Maker::padded},      {2, &Maker::iota},
                  {1, &Maker::custom},   {2, &Maker::composite},   {1, &Maker::packed},
                  {2, &Maker::raw_view}, {2, &Maker::another_leaf}};
    int total = 0;
    for (const auto& entry : kSteps) total += entry.weight;
    int64_t choice = random_.below(total);
    for (const auto& entry : kSteps) {
      choice -= entry.weight;
      if (choice >= 0) continue;
      try {
        (this->*entry.step)();
      } catch (const UserError&) {
      }
      return;
    }
  }

  // Arguments of a call have no order: what is drawn at random is drawn before it.
  void another_leaf() {
    const Dims dims = random_dims();
    add(leaf(dims, random_dtype()));
  }

  void unary() {
    Tensor x = any_float();
    switch (random_.below(6)) {
      case 0:
        add(prim::exp2(random_.chance(0.3) ? x : prim::sin(x)));
        return;
      case 1:
        add(prim::log2(random_.chance(0.2) ? x : positive(x)));
        return;
      case 2:
        add(prim::recip(random_.chance(0.2) ? x : positive(x)));
        return;
      case 3:
        add(prim::sqrt(random_.chance(0.2) ? x : positive(x)));
        return;
      default:
        add(prim::sin(x));
        return;
    }
  }
  Tensor positive(const Tensor& x) { return prim::add(prim::mul(x, x), prim::full_like(x, 0.5)); }

  void binary() {
    const Tensor x = any_computing();
    const Tensor y = partner(x);
    const bool swap = random_.chance(0.3);
    const Tensor& a = swap ? y : x;
    const Tensor& b = swap ? x : y;
    if (x.dtype() != DType::Bool && random_.chance(0.12)) {
      add(prim::mod(a, b));
    } else {
      add(random_.chance(0.55) ? prim::add(a, b) : prim::mul(a, b));
    }
  }

  void integer_binary() {
    const Tensor x = any_integer();
    const Tensor y = partner(x);
    switch (random_.below(3)) {
      case 0:
        add(prim::int_div(x, y));
        return;
      case 1:
        add(prim::bit_and(x, y));
        return;
      default:
        add(prim::mod(x, y));
        return;
    }
  }

  Tensor comparison(const Tensor& x) {
    const Tensor y = partner(x);
    return random_.chance(0.75) ? prim::less_than(x, y) : prim::equal(x, y);
  }
  void compare() { add(comparison(any_computing())); }

  void select() {
    const Tensor x = any_computing();
    std::vector<Tensor> conditions;
    for (const Tensor& other : pool_) {
      if (other.dtype() == DType::Bool && same_dims(other.dims(), x.dims())) {
        conditions.push_back(other);
      }
    }
    const Tensor condition = conditions.empty() || random_.chance(0.3)
                                 ? (random_.chance(0.5) ? comparison(x) : index_mask(x))
                                 : random_.of(conditions);
    const Tensor y = partner(x);
    add(random_.chance(0.5) ? prim::select(condition, x, y) : prim::select(condition, y, x));
  }

  // A predicate on the index: a triangle, a stripe, an edge.
  Tensor index_mask(const Tensor& x) {
    if (x.rank() == 0) return prim::iota(*graph_, 1, {}, DType::Bool);
    const int axis = any_axis(x), other = any_axis(x);
    const Expr i = Expr::index(axis, x.dim(axis)), j = Expr::index(other, x.dim(other));
    const Expr masks[] = {i < j + 1, i % 3 < 1, i >= 2 && j < 5, i < x.dim(axis) - 1, i >= 1};
    return prim::iota(*graph_, random_.of(std::span<const Expr>(masks)), Dims(x.dims()),
                      DType::Bool);
  }

  void cast() { add(any().cast(computing_dtype())); }

  void bitcast() {
    const Tensor x = any_computing();
    static constexpr DType kPairs[][2] = {{DType::F32, DType::I32}, {DType::F64, DType::I64},
                                          {DType::F16, DType::I16}, {DType::BF16, DType::I16},
                                          {DType::I8, DType::U8},   {DType::U8, DType::I8},
                                          {DType::I32, DType::F32}, {DType::I16, DType::BF16}};
    for (const auto& pair : kPairs) {
      if (pair[0] == x.dtype()) {
        add(x.bitcast(pair[1]));
        return;
      }
    }
  }

  void view() { add(random_view(any())); }

  Tensor random_view(const Tensor& x) {
    if (x.rank() == 0) {
      return random_.chance(0.5) ? x.unsqueeze(0) : x.expand({random_size(), random_size()});
    }
    const int axis = any_axis(x);
    const Expr size = x.dim(axis);
    const int64_t least = size.lower_bound();
    switch (random_.below(13)) {
      case 0: {
        std::vector<int> order(at(x.rank()));
        std::iota(order.begin(), order.end(), 0);
        for (size_t k = order.size(); k > 1; --k) {
          std::swap(order[k - 1],
                    order[static_cast<size_t>(random_.below(static_cast<int64_t>(k)))]);
        }
        return x.permute(order);
      }
      case 1: {
        const int place = static_cast<int>(random_.below(x.rank() + 1));
        Dims wide = x.dims();
        wide.insert(wide.begin() + place, random_size());
        return x.unsqueeze(place).expand(wide);
      }
      case 2:
        return x.slice(axis, random_.between(0, std::max<int64_t>(least / 2, 0)), size);
      case 3:
        return x.slice(axis, 0, size, random_.between(2, 3));
      case 4:
        return x.slice(axis, -1, -1 - 2 * size.upper_bound(), -random_.between(1, 2));
      case 5:
        return x.flip({axis});
      case 6:
        if (x.rank() > 1) return x.merge_dims(std::min(axis, x.rank() - 2));
        break;
      case 7: {
        const Expr factor = random_.between(2, 4);
        return x.split_dims(axis, {size / factor, factor});
      }
      case 8: {
        const int64_t window = random_.between(1, 3), dilation = random_.between(1, 2);
        if ((window - 1) * dilation + 1 > least) break;
        return x.unfold(axis, window, random_.between(1, 2), dilation);
      }
      case 9:
        if (least >= 1) return x.roll(random_.between(-2, 3), axis);
        break;
      case 10: {
        Dims times(at(x.rank()), Expr(1));
        times[at(axis)] = random_.between(2, 3);
        return x.repeat(times);
      }
      case 11:
        if (least >= 1) return x.select(axis, random_.chance(0.5) ? Expr(0) : size - 1);
        break;
      default:
        return x.reshape({-1});
    }
    return x.unsqueeze(static_cast<int>(random_.below(x.rank() + 1)));
  }

  // A map that no call of the tensor surface makes: any total expression will do.
  void raw_view() {
    const Tensor x = any();
    const Dims dims = random_dims();
    std::vector<Expr> exprs;
    for (Expr size : x.dims()) {
      if (size.lower_bound() < 1) return;
      Expr position = random_.between(0, 3);
      for (size_t k = 0; k < dims.size(); ++k) {
        if (random_.chance(0.6)) {
          position = position + Expr::index(static_cast<int>(k), dims[k]) * random_.between(1, 3);
        }
      }
      switch (random_.below(4)) {
        case 0:
          exprs.push_back(min(position, size - 1));
          break;
        case 1:
          exprs.push_back(size - 1 - position % size);
          break;
        case 2:
          exprs.push_back(position / 2 % size);
          break;
        default:
          exprs.push_back(position % size);
          break;
      }
    }
    add(prim::view(x, IndexMap(dims, x.dims(), std::move(exprs))));
  }

  void reduce() {
    Tensor x = any_computing();
    if (x.rank() == 0) return;
    if (random_.chance(0.3)) x = x.transpose(any_axis(x), -1);
    if (random_.chance(0.3)) {
      add(prim::add(x, row_statistic(x)));
    } else {
      add(prim::reduce(x, random_reducer(x.dtype())));
    }
  }

  void scan() {
    Tensor x = any_computing();
    if (x.rank() == 0) return;
    if (random_.chance(0.4)) x = x.transpose(any_axis(x), -1);
    add(prim::scan(x, random_reducer(x.dtype())));
  }

  // Indices in [0, rows), made of a new leaf or of integers that are there; rows ≥ 1.
  Tensor indices(Expr rows) {
    const DType dtype = random_.chance(0.5) ? DType::I64 : DType::I32;
    Tensor x = random_.chance(0.5) ? any_integer().cast(dtype) : leaf({random_size()}, dtype);
    if (x.rank() > 2) x = x.reshape({-1});
    const Tensor positive = prim::bit_and(x, prim::full_like(x, INT32_MAX));
    return prim::mod(positive, prim::full_like(x, rows));
  }

  void gather() {
    const Tensor x = any();
    if (x.rank() == 0 || x.dim(0).lower_bound() < 1) return;
    add(prim::gather(x, indices(x.dim(0))));
  }

  void scatter() {
    const Tensor x = any_computing();
    if (x.rank() == 0 || x.dim(0).lower_bound() < 1) return;
    const Tensor index = indices(x.dim(0));
    Dims dims = index.dims();
    dims.insert(dims.end(), x.dims().begin() + 1, x.dims().end());
    if (!fits(dims)) return;
    std::optional<Reducer> combine;
    if (random_.chance(0.5)) combine = random_reducer(x.dtype());
    add(prim::scatter(x, index, leaf(dims, x.dtype()), combine));
  }

  void join() {
    const Tensor x = any_computing();
    if (x.rank() == 0 || random_.chance(0.2)) {
      add(stack({x, partner(x)}, 0));
      return;
    }
    const int axis = any_axis(x);
    std::vector<Tensor> parts{x, partner(x)};
    if (random_.chance(0.4)) parts.push_back(x.slice(axis, 0, x.dim(axis), 2));
    add(concat(parts, axis));
  }

  void padded() {
    const Tensor x = any_computing();
    if (x.rank() == 0) return;
    const int axis = any_axis(x);
    const Padding padding{random_.between(0, 3), random_.between(0, 3)};
    add(pad_axis(x, axis, padding, random_scalar(x.dtype())));
  }

  void iota() {
    const Dims dims = random_dims();
    Expr expr = random_.between(-3, 3);
    for (size_t k = 0; k < dims.size(); ++k) {
      const Expr i = Expr::index(static_cast<int>(k), dims[k]);
      const Expr term = random_.chance(0.3) ? i / 2 : i % 5;
      expr = expr + term * random_.between(1, 3);
    }
    add(prim::iota(*graph_, expr, dims, computing_dtype()));
  }

  void custom() {
    const Tensor x = any_computing();
    if (x.dtype() != DType::Bool) add(custom_op(negation(), {x}));
  }

  void composite() {
    const Tensor x = any_float();
    if (x.rank() == 0) return;
    if (random_.chance(0.5)) {
      add(softmax(x, any_axis(x)));
      return;
    }
    add(matmul(x, leaf({x.dim(-1), random_.between(1, 9)}, x.dtype())));
  }

  void packed() {
    Tensor x = leaf(random_dims(), DType::U4);
    if (random_.chance(0.5)) x = random_view(x);
    add(x);
    add(x.cast(computing_dtype()));
  }

  // ---- Results -------------------------------------------------------------------------------

  void choose_results() {
    const std::vector<NodeId> leaves = graph_->leaves();  // a new value may bring leaves of its own
    for (NodeId id : leaves) {
      const Node& node = graph_->node(id);
      if (node.as<InputAttr>().role != Role::State || random_.chance(0.2)) continue;
      const Tensor state = graph_->tensor(id);
      graph_->update(state, partner(state));
    }
    // What nothing reads yet, so that most of the graph is alive; and now and then an inner value.
    const auto readers = consumers(*graph_);
    std::vector<Tensor> outputs;
    for (size_t k = pool_.size(); k-- > 0 && outputs.size() < 4;) {
      const bool last = readers[pool_[k].id().index()].empty();
      if (random_.chance(last ? 0.85 : 0.05)) outputs.push_back(pool_[k]);
    }
    if (outputs.empty()) outputs.push_back(pool_.front());
    for (Tensor& x : outputs) {
      // No kernel writes u4, and nothing but a reader makes use of it.
      if (x.dtype() == DType::U4) x = x.cast(DType::U8);
      x.output("y" + std::to_string(&x - outputs.data()));
    }
  }

  RandomSource& random_;
  const RandomGraphOptions& options_;
  std::unique_ptr<Graph> graph_;
  std::vector<Expr> variables_;
  std::vector<Tensor> pool_;
};

}  // namespace

RandomGraph random_graph(RandomSource& random, const RandomGraphOptions& options) {
  return Maker(random, options).make();
}

}  // namespace luminal::tests
