#include "apps/cli/chat/answer.h"

#include <fmt/format.h>

#include <iostream>

#include "luminal/base/os/limits.h"
#include "luminal/base/os/memory.h"
#include "luminal/machine/measure_peaks.h"

namespace luminal::cli {
namespace {

// The bandwidth at which a step reads weights and cache, compared to the machine's.
std::string reads_text(const llm::GenerateStats& stats, int threads) {
  const double rate = stats.bytes_per_token / stats.token_seconds / 1e9;
  const unsigned used = threads > 0 ? static_cast<unsigned>(threads) : base::usable_threads();
  const double most = machine::measured_peaks().read_bytes(static_cast<int>(used)) * 1e-9;
  return fmt::format("{:.1f} MB per token: {:.1f} GB/s, {:.0f} % of the {:.1f} GB/s measured",
                     stats.bytes_per_token / 1e6, rate, 100 * rate / most, most);
}

std::string sampling_text(const llm::SamplingOptions& sampling) {
  if (sampling.temperature == 0) return "greedy";
  std::string text = fmt::format("temperature {}", sampling.temperature);
  if (sampling.top_k > 0) text += fmt::format(", top-k {}", sampling.top_k);
  if (sampling.top_p < 1) text += fmt::format(", top-p {}", sampling.top_p);
  if (sampling.min_p > 0) text += fmt::format(", min-p {}", sampling.min_p);
  return text + fmt::format(", seed {}", sampling.seed);
}

}  // namespace

llm::Model open_model(const ModelArguments& arguments) {
  llm::Model model = llm::Model::open(arguments.path);
  check(arguments.generate_options(model).sampling);
  context_of(model, arguments.session_options());
  return model;
}

llm::Session open_session(const llm::Model& model, const ModelArguments& arguments,
                          ProgressLine& line) {
  llm::SessionOptions options = arguments.session_options();
  options.compile.progress = [&line](const CompileProgress& now) { line.show(now); };
  llm::Session session(model, options);
  line.clear();
  return session;
}

llm::Generated stream_answer(llm::Session& session, std::span<const TokenId> prompt,
                             llm::GenerateOptions options, const AnswerOutput& output) {
  const auto goes_on = [&] { return !output.interrupted || !output.interrupted(); };
  options.on_prompt = [&](int64_t done, int64_t total) {
    output.line.show_share("reading the prompt", done, total, "tokens");
    return goes_on();
  };
  options.on_text = [&](std::string_view piece) {
    output.line.clear();
    output.writer.write(piece);
    return static_cast<bool>(std::cout) && goes_on();  // the reader of a pipe may be gone
  };
  llm::Generated generated = generate(session, prompt, options);
  output.line.clear();
  return generated;
}

void note_full_context(const llm::Session& session, llm::EndReason reason) {
  if (reason != llm::EndReason::ContextFull) return;
  const int64_t most = session.model().decoder().context;
  std::cerr << fmt::format(
      "luminal: the text ends here: the context of {} tokens is full{}\n", session.context(),
      session.context() < most ? fmt::format("; --context makes it larger, up to {}", most) : "");
}

std::string speed_text(const llm::Generated& generated) {
  const llm::GenerateStats& stats = generated.stats;
  std::string text =
      fmt::format("{} token{}", generated.ids.size(), generated.ids.size() == 1 ? "" : "s");
  if (stats.tokens_per_second > 0)
    text += fmt::format(", {:.1f} tokens/s", stats.tokens_per_second);
  return text + fmt::format(", TTFT {:.2f} s", stats.first_token_seconds);
}

void print_stats(const llm::Session& session, const llm::Generated& generated,
                 const llm::SamplingOptions& sampling, int threads) {
  const auto line = [](const char* label, const std::string& text) {
    std::cerr << fmt::format("{:<10}{}\n", label, text);
  };
  const llm::GenerateStats& stats = generated.stats;
  const uint64_t resident = base::resident_bytes();  // before measuring allocates memory
  line("load", fmt::format("{:.3f} s", session.model().load_seconds()));
  line("compile", fmt::format("{:.3f} s", session.compile_seconds()));
  line("prompt", fmt::format("{} tokens, {} of them in the cache, TTFT {:.3f} s",
                             stats.prompt_tokens, stats.reused_tokens, stats.first_token_seconds));
  if (generated.ids.size() > 1) {
    line("tokens", fmt::format("{}, median TPOT {:.2f} ms, {:.1f} per second", generated.ids.size(),
                               1e3 * stats.token_seconds, stats.tokens_per_second));
    line("reads", reads_text(stats, threads));
  }
  line("memory", fmt::format("{:.0f} MB resident: weights {:.0f} MB, cache of {} tokens {:.0f} MB",
                             static_cast<double>(resident) / 1e6,
                             static_cast<double>(session.weight_bytes()) / 1e6, session.context(),
                             static_cast<double>(session.cache_bytes(session.context())) / 1e6));
  line("sampling", sampling_text(sampling));
  line("ended", std::string(text(generated.reason)));
}

}  // namespace luminal::cli
