#include "luminal/llm/pooling.h"

#include "luminal/graph/composite/norm.h"
#include "luminal/graph/composite/reduce.h"

namespace luminal::llm {
namespace {

Tensor pooled(const Tensor& states, PoolingMode mode) {
  switch (mode) {
    case PoolingMode::Mean:
      return mean(states, 0);
    case PoolingMode::First:
      return states.slice(0, 0, 1).reshape({states.dim(1)});
    case PoolingMode::Max:
      return max(states, 0);
  }
  return states;
}

const char* words(PoolingMode mode) {
  switch (mode) {
    case PoolingMode::Mean:
      return "the mean of all tokens";
    case PoolingMode::First:
      return "the first token";
    case PoolingMode::Max:
      return "the maximum over all tokens";
  }
  return "";
}

}  // namespace

std::string text(const Pooling& pooling) {
  return std::string(words(pooling.mode)) + (pooling.unit_length ? ", normalised to length 1" : "");
}

Tensor pool(const Tensor& states, const Pooling& pooling) {
  const Tensor embedding = pooled(states.cast(DType::F32), pooling.mode);
  return pooling.unit_length ? normalize(embedding, 0) : embedding;
}

}  // namespace luminal::llm
