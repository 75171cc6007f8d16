// generate(): a model's text after a prompt, as it comes, and what it took.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/llm/sampler.h"
#include "luminal/llm/session.h"
#include "luminal/text/chat_template.h"
#include "luminal/text/token_id.h"

namespace luminal::llm {

enum class EndReason : uint8_t {
  EndToken,     // the model ended its answer
  StopText,     // one of GenerateOptions::stop appeared
  MaxTokens,    // as many tokens as were asked for
  ContextFull,  // no room for another token
  Cancelled,    // on_text or on_prompt returned false
};
// In words: "the model ended its answer".
LUMINAL_API std::string_view text(EndReason reason);

struct GenerateOptions {
  SamplingOptions sampling = {};
  int64_t max_tokens = 0;              // new ones; 0: as many as the context has room for
  std::vector<std::string> stop = {};  // ends before these; they aren't part of the text
  std::vector<TokenId> stop_ids = {};  // beside the model's own
  // Of the prompt's last tokens: those that the text began with, in an earlier call.
  int64_t continues = 0;
  // Before each piece of the prompt: how many of its tokens are computed, and how many there are;
  // false ends it.
  std::function<bool(int64_t done, int64_t total)> on_prompt = nullptr;
  // The text as it comes, in whole characters, and never the beginning of what becomes a stop
  // string; false ends it.
  std::function<bool(std::string_view)> on_text = nullptr;
};

struct GenerateStats {
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;       // of the prompt, that the cache held already
  double first_token_seconds = 0;  // until the first token is known
  double token_seconds = 0;        // per token after it, the median
  double tokens_per_second = 0;    // after the first
  double bytes_per_token = 0;      // weights and cache that a step reads, at the mean length
};

struct Generated {
  std::string text;
  std::vector<TokenId> ids;  // with the token that ended it, if one did
  EndReason reason = EndReason::MaxTokens;
  std::string stop;  // the string, for EndReason::StopText
  GenerateStats stats;
};

// Continues `prompt`, of which what the session holds already isn't computed again. Afterwards the
// session holds prompt and text, so that a conversation goes on from there. UserError as of
// Session::prompt.
LUMINAL_API Generated generate(Session& session, std::span<const TokenId> prompt,
                               const GenerateOptions& options = {});

// The prompt for the next answer of a conversation. Special tokens come from the model's template
// only: spelt in a message ("<|im_end|>") they are text like any other. UserError for a model
// without a chat template.
LUMINAL_API std::vector<TokenId> chat_prompt(const Model& model,
                                             const std::vector<ChatMessage>& messages);

}  // namespace luminal::llm
