// Decoder: what generation needs of a model that predicts the next token, whatever its
// architecture.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "luminal/graph/tensor.h"
#include "luminal/io/weight_source.h"
#include "luminal/nn/scope.h"

namespace luminal::llm {

struct DecoderOptions {
  // Tokens the kv cache holds: a number, or a variable of at most the model's context, whose value
  // is the same in every run. 0: the model's context.
  Expr room = 0;
  int64_t longest_chunk = 0;  // the most tokens of one run; 0: as many as there is room for
  bool every_logit = false;   // of every token, not only of the last
  DType cache = DType::F32;   // that keys and values are held in
};

// What a run takes and gives: the variables "s" (tokens of this run) and "past" (tokens before it,
// which the cache holds; a model without a cache needn't have it). The kv cache is state: runs one
// after another, each with the tokens that follow, are one sequence; a smaller past goes back to a
// prefix of it, and 0 begins a new one.
struct DecoderGraph {
  Expr s, past;
  Tensor ids;     // the input "ids", i32 [s]
  Tensor logits;  // the output "logits", f32 [1, vocab] or [s, vocab]
};

// A configuration that was read and checked, and how to build its graph.
struct Decoder {
  std::string architecture;  // as its file calls it
  int64_t vocab_size = 0;
  int64_t context = 0;  // the most positions the model is made for
  // A weight that a run reads a few rows of; empty where the last layer reads all of it.
  std::string lookup_table;
  std::function<DecoderGraph(const nn::Scope&, const DecoderOptions&)> build;
  // The name that a file has for a weight; null: the weight's own.
  std::function<std::string(const WeightSource&, const std::string& weight)> name_in_file = nullptr;
};

}  // namespace luminal::llm
