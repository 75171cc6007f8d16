// Encoder: what embedding needs of a model that reads a text as a whole, whatever its architecture.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "luminal/graph/tensor.h"
#include "luminal/io/weight_source.h"
#include "luminal/nn/scope.h"

namespace luminal::llm {

// A configuration that was read and checked, and how to build its graph.
struct Encoder {
  std::string architecture;  // as its file calls it
  int64_t vocab_size = 0;
  int64_t context = 0;   // the most tokens of a text
  int64_t features = 0;  // of a token's state
  // The states [s, features] of the token ids [s] of one text.
  std::function<Tensor(const nn::Scope&, const Tensor& ids)> build;
  // The name that a file has for a weight; null: the weight's own.
  std::function<std::string(const WeightSource&, const std::string& weight)> name_in_file = nullptr;
};

}  // namespace luminal::llm
