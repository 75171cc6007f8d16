// Steps that show, join and pad what is there.
#include <algorithm>
#include <numeric>

#include "luminal/graph/composite/movement.h"
#include "luminal/graph/primitives.h"
#include "tests/support/random_steps.h"

namespace luminal::tests::steps {
namespace {

size_t at(int axis) { return static_cast<size_t>(axis); }

}  // namespace

Tensor random_view(RandomTensors& from, const Tensor& x) {
  if (x.rank() == 0) {
    return from.random.chance(0.5) ? x.unsqueeze(0)
                                   : x.expand({from.random_size(), from.random_size()});
  }
  const int axis = from.any_axis(x);
  const Expr size = x.dim(axis);
  const int64_t least = size.lower_bound();
  switch (from.random.below(13)) {
    case 0: {
      std::vector<int> order(at(x.rank()));
      std::iota(order.begin(), order.end(), 0);
      for (size_t k = order.size(); k > 1; --k) {
        std::swap(order[k - 1],
                  order[static_cast<size_t>(from.random.below(static_cast<int64_t>(k)))]);
      }
      return x.permute(order);
    }
    case 1: {
      const int place = static_cast<int>(from.random.below(x.rank() + 1));
      Dims wide = x.dims();
      wide.insert(wide.begin() + place, from.random_size());
      return x.unsqueeze(place).expand(wide);
    }
    case 2:
      return x.slice(axis, from.random.between(0, std::max<int64_t>(least / 2, 0)), size);
    case 3:
      return x.slice(axis, 0, size, from.random.between(2, 3));
    case 4:
      return x.slice(axis, -1, -1 - 2 * size.upper_bound(), -from.random.between(1, 2));
    case 5:
      return x.flip({axis});
    case 6:
      if (x.rank() > 1) return x.merge_dims(std::min(axis, x.rank() - 2));
      break;
    case 7: {
      const Expr factor = from.random.between(2, 4);
      return x.split_dims(axis, {size / factor, factor});
    }
    case 8: {
      const int64_t window = from.random.between(1, 3), dilation = from.random.between(1, 2);
      if ((window - 1) * dilation + 1 > least) break;
      return x.unfold(axis, window, from.random.between(1, 2), dilation);
    }
    case 9:
      if (least >= 1) return x.roll(from.random.between(-2, 3), axis);
      break;
    case 10: {
      Dims times(at(x.rank()), Expr(1));
      times[at(axis)] = from.random.between(2, 3);
      return x.repeat(times);
    }
    case 11:
      if (least >= 1) return x.select(axis, from.random.chance(0.5) ? Expr(0) : size - 1);
      break;
    default:
      return x.reshape({-1});
  }
  return x.unsqueeze(static_cast<int>(from.random.below(x.rank() + 1)));
}

void view(RandomTensors& from) { from.add(random_view(from, from.any())); }

// A map that no call of the tensor surface makes: any total expression will do.
void raw_view(RandomTensors& from) {
  const Tensor x = from.any();
  const Dims dims = from.random_dims();
  std::vector<Expr> exprs;
  for (Expr size : x.dims()) {
    if (size.lower_bound() < 1) return;
    Expr position = from.random.between(0, 3);
    for (size_t k = 0; k < dims.size(); ++k) {
      if (from.random.chance(0.6)) {
        position = position + Expr::index(static_cast<int>(k), dims[k]) * from.random.between(1, 3);
      }
    }
    switch (from.random.below(4)) {
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
  from.add(prim::view(x, IndexMap(dims, x.dims(), std::move(exprs))));
}

void join(RandomTensors& from) {
  const Tensor x = from.any_computing();
  if (x.rank() == 0 || from.random.chance(0.2)) {
    from.add(stack({x, from.partner(x)}, 0));
    return;
  }
  const int axis = from.any_axis(x);
  std::vector<Tensor> parts{x, from.partner(x)};
  if (from.random.chance(0.4)) parts.push_back(x.slice(axis, 0, x.dim(axis), 2));
  from.add(concat(parts, axis));
}

void padded(RandomTensors& from) {
  const Tensor x = from.any_computing();
  if (x.rank() == 0) return;
  const int axis = from.any_axis(x);
  const Padding padding{from.random.between(0, 3), from.random.between(0, 3)};
  from.add(pad_axis(x, axis, padding, from.random_scalar(x.dtype())));
}

}  // namespace luminal::tests::steps
