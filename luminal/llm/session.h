// Session: a model compiled, with the kv cache of one sequence of tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/trace.h"
#include "luminal/llm/model.h"
#include "luminal/text/token_id.h"

namespace luminal::llm {

struct SessionOptions {
  // Tokens the kv cache holds, prompt and answer together; 0: the model's context, 4096 at most.
  int64_t context = 0;
  // A longer prompt is fed in pieces of this many tokens: working memory is that of one piece.
  int64_t chunk = 256;
  DType dtype = DType::F32;  // that is computed in, and the cache held in: f32 or bf16
  // Threads, cache folder, report, progress …; variants and typical sizes are the session's own.
  CompileOptions compile = {};
};

// Tokens that a session of these options has room for. UserError when that isn't within the
// model's.
LUMINAL_API int64_t context_of(const Model& model, const SessionOptions& options);
// UserError for a prompt that such a session couldn't take: empty, longer than the context, or with
// an id that isn't in the vocabulary. Nothing has to be compiled for it.
LUMINAL_API void check_prompt(const Model& model, const SessionOptions& options,
                              std::span<const TokenId> ids);

// What a session makes of a model: its graph, and how that is compiled. For those who look at it
// without running it. UserError as of context_of, and for chunks without a token.
struct SessionForm {
  DecoderOptions decoder;
  CompileOptions compile;
};
LUMINAL_API SessionForm session_form(const Model& model, const SessionOptions& options);

// One executable serves prompts of any length and the steps of single tokens: two plans over the
// same weights and the same cache, compiled once.
class LUMINAL_API Session {
 public:
  // UserError when the context isn't within the model's.
  explicit Session(const Model& model, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Makes `ids` the sequence, of which the cache keeps the longest prefix that both share, and
  // gives the logits of the token that follows. They stay until the next call. UserError as of
  // check_prompt.
  std::span<const float> prompt(std::span<const TokenId> ids);
  // The same for the tokens held and one more.
  std::span<const float> add(TokenId id);
  // Back to the first `length` tokens; 0 begins anew.
  void rewind(int64_t length);

  // From now on the steps of runs are added to it, which stays while it is set; null for none.
  void set_trace(Trace* trace);

  const Model& model() const;
  // The tokens that the cache holds.
  const std::vector<TokenId>& ids() const;
  int64_t context() const;
  bool full() const { return static_cast<int64_t>(ids().size()) == context(); }

  // What was compiled, and how: variants and typical sizes are in it.
  const Graph& graph() const;
  const CompileOptions& compile_options() const;
  double compile_seconds() const;
  // What a step of one token must read: all weights but for tables of which it takes a row, and the
  // cache of `past` tokens.
  int64_t weight_bytes() const;
  int64_t cache_bytes(int64_t past) const;
  int64_t reused() const;  // tokens of the last prompt that the cache held already

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace luminal::llm
