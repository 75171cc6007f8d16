#include "tests/contractions/contraction_graph.h"

#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/graph/composite/matmul.h"

namespace luminal::tests {
namespace {

class Builder {
 public:
  Builder(const ContractionCase& one, const Extents& extents) : one_(one), extents_(extents) {
    made_.graph = std::make_unique<Graph>();
  }

  ContractionGraph done() {
    if (one_.form == Form::Matmul) {
      add_matmul();
    } else {
      add_conv();
    }
    return std::move(made_);
  }

 private:
  static AxisOfDim whole(Expr size) { return {.size = size}; }
  AxisOfDim rows() const { return {.axis = Axis::Rows, .size = extents_.rows}; }
  AxisOfDim columns() const { return {.axis = Axis::Columns, .size = extents_.columns}; }
  AxisOfDim depth() const { return whole(extents_.depth); }

  Tensor leaf(const std::string& name, Role role, const Axes& axes, DType dtype) {
    Dims dims;
    for (const AxisOfDim& dim : axes) dims.push_back(dim.extent());
    Graph& graph = *made_.graph;
    const Tensor tensor = role == Role::Input    ? graph.input(name, dims, dtype)
                          : role == Role::Weight ? graph.weight(name, dims, dtype)
                                                 : graph.state(name, dims, dtype);
    made_.leaves.push_back({tensor.id(), name, axes});
    if (role == Role::State && dtype != DType::U4) {
      const Tensor next = tensor + tensor;
      graph.update(tensor, next);
      made_.results.push_back({tensor.id(), next.id(), axes});
    }
    return tensor;
  }

  // [batch…, first, second], in memory as the layout says.
  Tensor operand(const std::string& name, Role role, Axes axes, Layout layout, DType dtype) {
    AxisOfDim &first = axes[axes.size() - 2], &second = axes.back();
    switch (layout) {
      case Layout::Plain:
        return leaf(name, role, axes, dtype);
      case Layout::Transposed:
        std::swap(first, second);
        return leaf(name, role, axes, dtype).t();
      case Layout::Sliced: {
        for (AxisOfDim* dim : {&first, &second}) dim->before = 2, dim->after = 3;
        return leaf(name, role, axes, dtype)
            .slice(-2, 2, first.size + 2)
            .slice(-1, 2, second.size + 2);
      }
      case Layout::Flipped: {
        AxisOfDim& flipped = one_.seed % 2 == 0 ? first : second;
        flipped.flipped = true;
        return leaf(name, role, axes, dtype).flip({one_.seed % 2 == 0 ? -2 : -1});
      }
      case Layout::Strided:
        axes.push_back(whole(2));
        return leaf(name, role, axes, dtype).select(-1, 1);
      case Layout::Repeated: {
        AxisOfDim& repeated = first.axis == Axis::Whole ? second : first;
        const Expr size = repeated.size;
        const bool is_first = &repeated == &first;
        repeated = whole(1);
        const Tensor once = leaf(name, role, axes, dtype);
        Dims dims = once.dims();
        dims[dims.size() - (is_first ? 2 : 1)] = size;
        return once.expand(dims);
      }
    }
    return {};
  }

  Tensor weight(const std::string& name, const Axes& axes) {
    return leaf(name, Role::Weight, axes, one_.types.product);
  }

  Tensor left(const Axes& batch) {
    Axes axes = batch;
    axes.insert(axes.end(), {rows(), depth()});
    Tensor x = operand("x", Role::Input, axes, one_.left, one_.types.left).cast(one_.types.product);
    if (one_.prologue == Prologue::LeftScaled) x = x * weight("g", {depth()});
    return one_.prologue == Prologue::LeftSilu ? silu(x) : x;
  }

  Tensor right(const std::string& name, const Axes& batch) {
    const DType product = one_.types.product;
    if (is_quantised(one_.prologue) && one_.prologue != Prologue::RightI8) {
      return from_blocks(name, batch).t();
    }
    Axes axes = batch;
    axes.insert(axes.end(), {depth(), columns()});
    if (one_.prologue == Prologue::RightI8) {
      const Tensor q = operand(name, one_.right_role, axes, one_.right, DType::I8);
      return q.cast(product) * weight(name + " scale", {columns()});
    }
    return operand(name, one_.right_role, axes, one_.right, one_.types.right).cast(product);
  }

  // [columns, depth / size] as [columns, depth].
  Tensor per_block(const std::string& name, int64_t size, DType dtype) {
    const Expr n = extents_.columns, blocks = extents_.depth / size;
    const Tensor x = leaf(name, Role::Weight, {columns(), whole(blocks)}, dtype);
    return x.cast(one_.types.product)
        .unsqueeze(-1)
        .expand({n, blocks, size})
        .reshape({n, extents_.depth});
  }

  Tensor from_blocks(const std::string& name, const Axes& batch) {
    const DType product = one_.types.product;
    const bool bytes =
        one_.prologue == Prologue::RightQ8 || one_.prologue == Prologue::RightQ6Super;
    Axes axes = batch;
    axes.insert(axes.end(), {columns(), depth()});
    const Tensor q = leaf(name, one_.right_role, axes, bytes ? DType::I8 : DType::U4).cast(product);
    switch (one_.prologue) {
      case Prologue::RightU4:
        return (q - 8) * per_block(name + " scale", 32, product);
      case Prologue::RightQ8:
        return q * per_block(name + " scale", 32, DType::F16);
      case Prologue::RightQ4:
        return q * per_block(name + " scale", 32, product) +
               per_block(name + " offset", 32, product);
      case Prologue::RightQ4Super:
        return per_block(name + " d", 256, DType::F16) * per_block(name + " scale", 32, DType::U8) *
                   q -
               per_block(name + " dmin", 256, DType::F16) *
                   per_block(name + " offset", 32, DType::U8);
      default:
        return per_block(name + " d", 256, DType::F16) * per_block(name + " scale", 16, DType::I8) *
               q;
    }
  }

  // [b, s, h · d] as [b, h, s, d].
  Tensor heads_of(const std::string& name, Role role, const AxisOfDim& along, DType dtype) {
    const Expr b = one_.batches, h = one_.heads, d = extents_.depth;
    const Tensor x = leaf(name, role, {whole(b), along, whole(h * d)}, dtype);
    return x.reshape({b, along.size, h, d}).permute({0, 2, 1, 3}).cast(one_.types.product);
  }

  Tensor left_of_batch() {
    const AxisOfDim b = whole(one_.batches);
    switch (one_.batch) {
      case Batch::None:
      case Batch::SharedLeft:
        return left({});
      case Batch::Equal:
      case Batch::SharedRight:
        return left({b});
      case Batch::Crossed:
        return left({b, whole(1)});
      case Batch::Grouped:
        return left({b, whole(one_.heads * one_.groups)});
      case Batch::SplitHeads:
      case Batch::MergedHeads:
        return heads_of("x", Role::Input, rows(), one_.types.left);
    }
    return {};
  }

  Tensor right_of_batch(const std::string& name) {
    const AxisOfDim b = whole(one_.batches), h = whole(one_.heads);
    switch (one_.batch) {
      case Batch::None:
      case Batch::SharedRight:
        return right(name, {});
      case Batch::Equal:
      case Batch::SharedLeft:
        return right(name, {b});
      case Batch::Crossed:
        return right(name, {h});
      case Batch::Grouped: {
        const Tensor each = right(name, {b, h}).unsqueeze(2);
        const Expr k = extents_.depth, n = extents_.columns;
        return each.expand({b.size, h.size, one_.groups, k, n})
            .reshape({b.size, h.size * one_.groups, k, n});
      }
      case Batch::SplitHeads:
      case Batch::MergedHeads:
        return heads_of(name, one_.right_role, columns(), one_.types.right).t();
    }
    return {};
  }

  Axes batch_axes() const {
    const AxisOfDim b = whole(one_.batches), h = whole(one_.heads);
    switch (one_.batch) {
      case Batch::None:
        return {};
      case Batch::Equal:
      case Batch::SharedRight:
      case Batch::SharedLeft:
        return {b};
      case Batch::Grouped:
        return {b, whole(one_.heads * one_.groups)};
      case Batch::Crossed:
      case Batch::SplitHeads:
      case Batch::MergedHeads:
        return {b, h};
    }
    return {};
  }

  void add_matmul() {
    const Tensor x = left_of_batch();
    const Tensor product = matmul(x, right_of_batch("w"));
    Axes axes = batch_axes();
    axes.insert(axes.end(), {rows(), columns()});
    const Axes bias = {columns()};
    if (one_.epilogue == Epilogue::SwiGlu) {
      add_result(silu(product) * matmul(x, right_of_batch("up")), axes, "y");
    } else if (one_.epilogue == Epilogue::RowScale) {
      add_result(product * leaf("r", Role::Input, {rows(), whole(1)}, product.dtype()), axes, "y");
    } else {
      add_epilogue(product, axes, bias);
    }
  }

  void add_conv() {
    const Window& w = one_.window;
    const bool flat = one_.form == Form::Conv1d;
    Axes image = {whole(one_.batches), whole(w.channels), whole(w.positions)};
    // Channels of one group can't be told from those of another by their number.
    const AxisOfDim out = w.groups == 1 ? columns() : whole(extents_.columns);
    Axes taps = {out, whole(w.channels / w.groups), whole(w.kernel)};
    if (!flat) {
      image.push_back(whole(w.positions));
      taps.push_back(whole(w.kernel));
    }
    const DType product = one_.types.product;
    const Tensor x = leaf("x", Role::Input, image, one_.types.left).cast(product);
    const Tensor k = leaf("w", one_.right_role, taps, one_.types.right).cast(product);
    const Tensor y = flat ? conv1d(x, k, std::nullopt,
                                   {.stride = w.stride,
                                    .padding = w.padding,
                                    .dilation = w.dilation,
                                    .groups = w.groups})
                          : conv2d(x, k, std::nullopt,
                                   {.stride = w.stride,
                                    .padding = w.padding,
                                    .dilation = w.dilation,
                                    .groups = w.groups});
    Axes axes = {whole(one_.batches), out}, bias = {out};
    for (int axis = 2; axis < y.rank(); ++axis) {
      axes.push_back(whole(y.dim(axis)));
      bias.push_back(whole(1));
    }
    add_epilogue(y, axes, bias);
  }

  Tensor with_bias(const Tensor& y, const Axes& bias) { return y + weight("bias", bias); }
  Tensor with_residual(const Tensor& y, const Axes& axes) {
    return y + leaf("residual", Role::Input, axes, y.dtype());
  }

  void add_epilogue(const Tensor& y, const Axes& axes, const Axes& bias) {
    switch (one_.epilogue) {
      case Epilogue::Bias:
        return add_result(with_bias(y, bias), axes, "y");
      case Epilogue::BiasGelu:
        return add_result(gelu(with_bias(y, bias)), axes, "y");
      case Epilogue::BiasGeluTanh:
        return add_result(gelu(with_bias(y, bias), GeluApproximation::Tanh), axes, "y");
      case Epilogue::Relu:
        return add_result(relu(y), axes, "y");
      case Epilogue::Residual:
        return add_result(with_residual(y, axes), axes, "y");
      case Epilogue::BiasResidualRelu:
        return add_result(relu(with_residual(with_bias(y, bias), axes)), axes, "y");
      case Epilogue::Cast:
        return add_result(y.cast(y.dtype() == DType::BF16 ? DType::F16 : DType::BF16), axes, "y");
      case Epilogue::TwoResults:
        add_result(y, axes, "y");
        return add_result(relu(y), axes, "z");
      case Epilogue::None:
      case Epilogue::SwiGlu:
      case Epilogue::RowScale:
        break;
    }
    add_result(y, axes, "y");
  }

  void add_result(Tensor y, Axes axes, const char* name) {
    if (one_.batch == Batch::MergedHeads) {
      const Expr width = one_.heads * extents_.columns;
      y = y.permute({0, 2, 1, 3}).reshape({one_.batches, extents_.rows, width});
      axes = {axes[0], rows(), whole(width)};
    }
    if (one_.turned_result) {
      y = y.t();
      std::swap(axes[axes.size() - 2], axes.back());
    }
    y.output(name);
    made_.results.push_back({y.id(), y.id(), axes});
  }

  const ContractionCase& one_;
  const Extents& extents_;
  ContractionGraph made_;
};

}  // namespace

Extents extents_of(const ContractionCase& one) {
  Extents extents{.rows = one.rows, .columns = one.columns, .depth = one.depth};
  const Expr size = Expr::var(kDynamicSize, 0, one.most_dynamic);
  switch (one.dynamic) {
    case Dynamic::None:
      break;
    case Dynamic::Rows:
      extents.rows = size;
      break;
    case Dynamic::Columns:
      extents.columns = size;
      break;
    case Dynamic::Depth:
      extents.depth = size;
      break;
  }
  return extents;
}

ContractionGraph contraction_graph(const ContractionCase& one, const Extents& extents) {
  return Builder(one, extents).done();
}

}  // namespace luminal::tests
