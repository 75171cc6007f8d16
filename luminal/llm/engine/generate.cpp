#include "luminal/llm/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "luminal/base/errors.h"
#include "luminal/llm/stop_text.h"
#include "luminal/text/text_stream.h"

namespace luminal::llm {
namespace {

class Stopwatch {
 public:
  // Seconds since it was made or last asked.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> taken = now - last_;
    last_ = now;
    return taken.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class Generation {
 public:
  Generation(Session& session, const GenerateOptions& options)
      : session_(session),
        options_(options),
        sampler_(options.sampling),
        stream_(session.model().tokenizer(), {.skip_special = true}),
        stops_(options.stop) {}

  Generated run(std::span<const TokenId> prompt) {
    Stopwatch watch;
    const auto before = std::min(static_cast<size_t>(options_.continues), prompt.size());
    for (const TokenId id : prompt.last(before)) stream_.add(id);
    std::vector<double> seconds;
    std::span<const float> logits;
    if (!read(prompt, logits)) {
      result_.reason = EndReason::Cancelled;
      measure(prompt.size(), {watch.lap()});
      return std::move(result_);
    }
    sampler_.see(prompt);
    while (true) {
      const TokenId id = sampler_.next(tokens_of(logits));
      seconds.push_back(watch.lap());
      result_.ids.push_back(id);
      if (ended(id)) break;
      logits = session_.add(id);
    }
    if (result_.reason != EndReason::StopText && result_.reason != EndReason::Cancelled) {
      const bool whole = result_.reason == EndReason::EndToken;
      show(stops_.add(
          stream_.finish(whole ? TextStream::Broken::Shown : TextStream::Broken::Dropped)));
      show(stops_.finish());
    }
    measure(prompt.size(), seconds);
    return std::move(result_);
  }

 private:
  // False when on_prompt ended it: the session then holds the tokens that were computed.
  bool read(std::span<const TokenId> prompt, std::span<const float>& logits) {
    check_prompt(session_.model(), {.context = session_.context()}, prompt);
    const std::vector<TokenId>& held = session_.ids();
    const auto same = std::ranges::mismatch(held, prompt).in1 - held.begin();
    reused_ = std::min(static_cast<size_t>(same), prompt.size() - 1);
    constexpr size_t kPiece = 256;
    for (size_t done = reused_; done < prompt.size();) {
      if (options_.on_prompt &&
          !options_.on_prompt(static_cast<int64_t>(done), static_cast<int64_t>(prompt.size()))) {
        return false;
      }
      done = options_.on_prompt ? std::min(done + kPiece, prompt.size()) : prompt.size();
      logits = session_.prompt(prompt.first(done));
    }
    return true;
  }

  // A model's last layer may be wider than its vocabulary, to be a round number.
  std::span<const float> tokens_of(std::span<const float> logits) const {
    return logits.first(std::min(logits.size(), session_.model().tokenizer().size()));
  }

  bool ended(TokenId id) {
    const auto end = [&](EndReason reason) {
      result_.reason = reason;
      return true;
    };
    const std::vector<TokenId>& ends = session_.model().end_ids();
    if (std::binary_search(ends.begin(), ends.end(), id) ||
        std::find(options_.stop_ids.begin(), options_.stop_ids.end(), id) !=
            options_.stop_ids.end()) {
      return end(EndReason::EndToken);
    }
    const bool goes_on = show(stops_.add(stream_.add(id)));
    if (!stops_.found().empty()) {
      result_.stop = stops_.found();
      return end(EndReason::StopText);
    }
    if (!goes_on) return end(EndReason::Cancelled);
    if (static_cast<int64_t>(result_.ids.size()) == options_.max_tokens) {
      return end(EndReason::MaxTokens);
    }
    return session_.full() ? end(EndReason::ContextFull) : false;
  }

  bool show(const std::string& piece) {
    result_.text += piece;
    return piece.empty() || !options_.on_text || options_.on_text(piece);
  }

  void measure(size_t prompt_size, std::vector<double> seconds) {
    GenerateStats& stats = result_.stats;
    stats.prompt_tokens = static_cast<int64_t>(prompt_size);
    stats.reused_tokens = static_cast<int64_t>(reused_);
    stats.first_token_seconds = seconds.front();
    const auto mean_past = static_cast<int64_t>(prompt_size + result_.ids.size() / 2);
    stats.bytes_per_token =
        static_cast<double>(session_.weight_bytes() + session_.cache_bytes(mean_past));
    seconds.erase(seconds.begin());
    if (seconds.empty()) return;
    double sum = 0;
    for (double one : seconds) sum += one;
    stats.tokens_per_second = static_cast<double>(seconds.size()) / sum;
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    stats.token_seconds = *middle;
  }

  Session& session_;
  const GenerateOptions& options_;
  Sampler sampler_;
  TextStream stream_;
  StopText stops_;
  size_t reused_ = 0;  // tokens of the prompt that the session held already
  Generated result_;
};

}  // namespace

std::string_view text(EndReason reason) {
  switch (reason) {
    case EndReason::EndToken:
      return "the model ended its answer";
    case EndReason::StopText:
      return "a stop string appeared";
    case EndReason::MaxTokens:
      return "as many tokens as asked for";
    case EndReason::ContextFull:
      return "the context is full";
    case EndReason::Cancelled:
      return "cancelled";
  }
  return "";
}

Generated generate(Session& session, std::span<const TokenId> prompt,
                   const GenerateOptions& options) {
  return Generation(session, options).run(prompt);
}

std::vector<TokenId> chat_prompt(const Model& model, const std::vector<ChatMessage>& messages) {
  if (!model.chat_template()) {
    throw UserError(fmt::format(
        "'{}' has no chat template: it continues text, and takes no messages", model.path()));
  }
  const Tokenizer& tokenizer = model.tokenizer();
  const auto spelt = [&](std::optional<TokenId> id) {
    return id ? tokenizer.token(*id) : std::string();
  };
  const ChatText prompt = model.chat_template()->render_marked(
      messages, {.bos_token = spelt(tokenizer.bos()), .eos_token = spelt(tokenizer.eos())});
  // Templates write the special tokens themselves; those spelt in a message are text.
  return tokenizer.encode(prompt.text, {.add_special = false, .plain = prompt.from_messages});
}

}  // namespace luminal::llm
