// luminal generating text, as the LLM suite and generation.py ask for it. The case "generate" feeds
// a prompt into an empty cache and chooses tokens greedily; of `times` runs only the last goes on
// after the first token. Settings:
//   folder, gguf     the weights in Hugging Face's layout, and as GGUF for q8_0 and q4_0
//   dtype            bf16, f32, q8_0, q4_0
//   prompt_tokens, decode_tokens, max_cache_len, threads
//   warmups          runs when a model is loaded, before those that are timed
//   candidates       plans that a measured search may try; 0: the cost model chooses
//   search_seconds   limit of that search
//   cold             compile without what earlier compiles and searches kept
// Answers have ttft (seconds to the first token, one per run), tpot (seconds of each token after
// it), tokens (the last run's first ones), compile_seconds, weights (bytes) and a note about the
// search. `write` takes the logits after the prompt, as f32.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/harness/bench_main.h"
#include "apps/bench/harness/timed_runs.h"
#include "apps/bench/llm/greedy.h"
#include "luminal/base/errors.h"
#include "luminal/llm/session.h"
#include "luminal/version.h"

namespace luminal {
namespace {

constexpr int64_t kWarmUpTokens = 4;
constexpr size_t kKeptTokens = 16;

struct Generated {
  double first = 0;            // seconds
  std::vector<double> others;  // seconds of each token after the first
  std::vector<TokenId> tokens;
};

std::string search_note(const CompileReport& report) {
  std::string note;
  for (const SearchReport& search : report.searches) {
    note += fmt::format("{} tried {}, {}", note.empty() ? "searched:" : ";", search.candidates,
                        search.stopped);
  }
  return note;
}

// A model that was compiled for these settings.
class Generation {
 public:
  explicit Generation(const bench::Json& settings)
      : settings_(settings), prompt_tokens_(settings.at("prompt_tokens")) {
    const std::string dtype = settings.at("dtype");
    // Quantised weights stay quantised; what is computed with them is bf16.
    const bool blocks = dtype.starts_with("q");
    llm::SessionOptions options;
    options.dtype = dtype_from_name(blocks ? "bf16" : dtype).value();
    options.context = settings.at("max_cache_len");
    options.compile.backend.threads = settings.at("threads");
    if (settings.at("cold"))
      options.compile.storage.cache_folder = options.compile.storage.records = "none";
    if (const int candidates = settings.at("candidates"); candidates > 0) {
      options.compile.search.mode = SearchMode::Measured;
      options.compile.search.candidates = candidates;
      options.compile.search.seconds = settings.at("search_seconds");
    }
    CompileReport report;
    options.compile.report = &report;
    const std::string model = settings.at(blocks ? "gguf" : "folder");
    session_ = std::make_unique<llm::Session>(llm::Model::open(model), options);
    note_ = options.compile.search.mode == SearchMode::Measured ? search_note(report) : "";
    for (int64_t i = 0; i < settings.at("warmups"); ++i) {
      run(std::min<int64_t>(kWarmUpTokens, settings.at("decode_tokens").get<int64_t>() + 1));
    }
  }

  Generated run(int64_t n_tokens) {
    session_->rewind(0);
    const std::vector<TokenId> ids =
        bench::spread_prompt(prompt_tokens_, session_->model().decoder().vocab_size);
    Generated generated;
    TokenId next = 0;
    generated.first = bench::timed([&] {
      const std::span<const float> logits = session_->prompt(ids);
      logits_.assign(logits.begin(), logits.end());
      next = bench::likeliest(logits);
    });
    generated.tokens = {next};
    while (std::ssize(generated.tokens) < n_tokens) {
      generated.others.push_back(
          bench::timed([&] { next = bench::likeliest(session_->add(next)); }));
      generated.tokens.push_back(next);
    }
    return generated;
  }

  const bench::Json& settings() const { return settings_; }
  const llm::Session& session() const { return *session_; }
  const std::vector<float>& logits() const { return logits_; }
  const std::string& note() const { return note_; }

 private:
  bench::Json settings_;
  int64_t prompt_tokens_;
  std::unique_ptr<llm::Session> session_;
  std::vector<float> logits_;
  std::string note_;
};

bench::Json answer(std::unique_ptr<Generation>& last, const bench::Command& command) {
  if (!last || last->settings() != command.settings) {
    last.reset();
    last = std::make_unique<Generation>(command.settings);
  }
  std::vector<double> seconds, first, others;
  std::vector<TokenId> tokens;
  for (int64_t i = 1; i <= command.times; ++i) {
    const int64_t decoded = command.settings.at("decode_tokens");
    Generated generated = last->run(i == command.times ? decoded + 1 : 1);
    first.push_back(generated.first);
    others = std::move(generated.others);
    tokens = std::move(generated.tokens);
    seconds.push_back(generated.first);
    for (double each : others) seconds.back() += each;
  }
  tokens.resize(std::min(tokens.size(), kKeptTokens));
  if (!command.write.empty()) {
    bench::write_bytes(command.write, std::as_bytes(std::span(last->logits())));
  }
  return {{"seconds", seconds},
          {"ttft", first},
          {"tpot", others},
          {"tokens", tokens},
          {"compile_seconds", last->session().compile_seconds()},
          {"weights", last->session().weight_bytes()},
          {"note", last->note()}};
}

bench::Contestant contestant() {
  auto last = std::make_shared<std::unique_ptr<Generation>>();
  return {.name = "luminal",
          .version = LUMINAL_VERSION,
          .cases = {"generate"},
          .settings = {{"folder", ""},
                       {"gguf", ""},
                       {"dtype", "bf16"},
                       {"prompt_tokens", 128},
                       {"decode_tokens", 32},
                       {"max_cache_len", 161},
                       {"threads", 0},
                       {"warmups", 0},
                       {"candidates", 0},
                       {"search_seconds", 0.0},
                       {"cold", true}},
          .answer = [last](const bench::Command& command) { return answer(*last, command); }};
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  return luminal::bench::bench_main(luminal::contestant(), argc, argv);
}
