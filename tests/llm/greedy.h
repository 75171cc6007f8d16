// Greedy generation with a compiled Llama, step by step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/llm/models/llama/llama.h"

namespace luminal::llm {

class Greedy {
 public:
  Greedy(const DecoderGraph& model, Executable exe) : model_(model), exe_(std::move(exe)) {}

  // A new sequence: the logits after its last token.
  std::vector<float> start(const std::vector<int32_t>& ids) {
    past_ = 0;
    return feed(ids);
  }

  std::vector<float> feed(const std::vector<int32_t>& ids) {
    const auto length = static_cast<int64_t>(ids.size());
    exe_.set(model_.ids, ids);
    exe_.run({{"s", length}, {"past", past_}});
    past_ += length;
    return exe_.get<float>(model_.logits);
  }

  static int32_t best(const std::vector<float>& logits) {
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }

 private:
  DecoderGraph model_;
  Executable exe_;
  int64_t past_ = 0;
};

}  // namespace luminal::llm
