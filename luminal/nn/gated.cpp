#include "luminal/nn/gated.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/nn/linear.h"

namespace luminal::nn {

Tensor gated_feed_forward(const Scope& scope, const Tensor& x, int64_t hidden,
                          const GatedOptions& options) {
  const std::optional<int64_t> features = x.rank() > 0 ? x.dim(-1).to_int() : std::nullopt;
  if (!features) {
    throw UserError(fmt::format("nn::gated_feed_forward '{}': x is {}; its last dim must be fixed",
                                scope.prefix(), text(x.dims())));
  }
  const LinearOptions bias{.bias = options.bias};
  const Tensor gate = linear(scope.child(options.names.gate), x, hidden, bias);
  const Tensor up = linear(scope.child(options.names.up), x, hidden, bias);
  return linear(scope.child(options.names.down), options.activation(gate) * up, *features, bias);
}

}  // namespace luminal::nn
