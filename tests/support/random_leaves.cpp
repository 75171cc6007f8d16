// Steps that need nothing from others: leaves, index values, packed ones; and a callback.
#include "luminal/graph/custom_op.h"
#include "luminal/graph/primitives.h"
#include "luminal/shape/scalar.h"
#include "tests/support/random_steps.h"

namespace luminal::tests::steps {
namespace {

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
                    const auto value = static_cast<uint64_t>(load_int(dtype, from, i));
                    store_int(dtype, result.bytes.data(), i,
                              wrap_to(dtype, static_cast<int64_t>(0 - value)));
                  }
                }
              }};
}

}  // namespace

// Arguments of a call have no order: what is drawn at random is drawn before it.
void another_leaf(RandomTensors& from) {
  const Dims dims = from.random_dims();
  from.add(from.leaf(dims, from.random_dtype()));
}

void iota(RandomTensors& from) {
  const Dims dims = from.random_dims();
  Expr expr = from.random.between(-3, 3);
  for (size_t k = 0; k < dims.size(); ++k) {
    const Expr i = Expr::index(static_cast<int>(k), dims[k]);
    const Expr term = from.random.chance(0.3) ? i / 2 : i % 5;
    expr = expr + term * from.random.between(1, 3);
  }
  from.add(prim::iota(from.graph, expr, dims, from.computing_dtype()));
}

void custom(RandomTensors& from) {
  const Tensor x = from.any_computing();
  if (x.dtype() != DType::Bool) from.add(custom_op(negation(), {x}));
}

void packed(RandomTensors& from) {
  Tensor x = from.leaf(from.random_dims(), DType::U4);
  if (from.random.chance(0.5)) x = random_view(from, x);
  from.add(x);
  from.add(x.cast(from.computing_dtype()));
}

}  // namespace luminal::tests::steps
