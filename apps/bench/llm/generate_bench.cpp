// Times a language model on request, so that generation.py can interleave it with other frameworks.
// Commands on standard input, one answer each on standard output:
//   prepare MODEL DTYPE THREADS CONTEXT [cold [CANDIDATES SECONDS]]
//             compiles it: "compile 2.5 weights 2471628800"; cold: without the caches of earlier
//             compiles; with the last two, a search over that many plans and seconds, and the
//             answer continues: "search tried 40, …; …", and why it ended, for each variant
//   run PROMPT NEW
//             feeds PROMPT tokens into an empty cache, then generates NEW − 1 tokens greedily: the
//             seconds to the first token (TTFT), then of each token after it
//   tokens    the tokens chosen in the last run
//   logits FILE
//             the logits after the last prompt, written as f32: "ok"
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "apps/bench/harness/answer_commands.h"
#include "apps/bench/harness/timed_runs.h"
#include "apps/bench/llm/greedy.h"
#include "luminal/base/errors.h"
#include "luminal/llm/session.h"

namespace luminal {
namespace {

struct Prepared {
  std::unique_ptr<llm::Session> session;
  std::vector<float> logits;
  std::vector<TokenId> tokens;
};

// Parses the end of the line of "prepare".
void read_search(std::istream& in, CompileOptions& options) {
  std::string rest, cold;
  std::getline(in, rest);
  std::istringstream words(rest);
  if (!(words >> cold)) return;
  if (cold != "cold") throw UserError("prepare: '" + cold + "' is not 'cold'");
  options.storage.cache_folder = options.storage.records = "none";
  if (words >> options.search.candidates >> options.search.seconds) {
    options.search.mode = SearchMode::Measured;
  }
}

std::string searched(const CompileReport& report) {
  std::string out;
  for (const SearchReport& search : report.searches) {
    out += fmt::format("{} tried {}, {}", out.empty() ? " search" : ";", search.candidates,
                       search.stopped);
  }
  return out;
}

std::string prepare(Prepared& prepared, std::istream& in) {
  std::string path, dtype;
  llm::SessionOptions options;
  in >> path >> dtype >> options.compile.backend.threads >> options.context;
  read_search(in, options.compile);
  options.dtype = dtype_from_name(dtype).value();
  CompileReport report;
  options.compile.report = &report;
  prepared.session = std::make_unique<llm::Session>(llm::Model::open(path), options);
  return fmt::format("compile {:.3f} weights {}{}", prepared.session->compile_seconds(),
                     prepared.session->weight_bytes(), searched(report));
}

std::string run(Prepared& prepared, std::istream& in) {
  int64_t length = 0, fresh = 0;
  in >> length >> fresh;
  llm::Session& session = *prepared.session;
  session.rewind(0);
  const std::vector<TokenId> ids =
      bench::spread_prompt(length, session.model().decoder().vocab_size);
  double start = bench::wall_seconds();
  std::span<const float> logits = session.prompt(ids);
  prepared.logits.assign(logits.begin(), logits.end());
  TokenId next = bench::likeliest(logits);
  prepared.tokens = {next};
  std::string out = fmt::format("{:.9f} ", bench::wall_seconds() - start);
  for (int64_t k = 1; k < fresh; ++k) {
    start = bench::wall_seconds();
    next = bench::likeliest(session.add(next));
    prepared.tokens.push_back(next);
    out += fmt::format("{:.9f} ", bench::wall_seconds() - start);
  }
  return out;
}

std::string chosen_tokens(Prepared& prepared, std::istream&) {
  return fmt::format("{}", fmt::join(prepared.tokens, " "));
}

std::string write_logits(Prepared& prepared, std::istream& in) {
  std::string path;
  in >> path;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(prepared.logits.data()),
             static_cast<std::streamsize>(prepared.logits.size() * sizeof(float)));
  return file ? "ok" : "can't write " + path;
}

}  // namespace
}  // namespace luminal

int main() {
  using namespace luminal;
  return bench::answer_commands<Prepared>(
      "generate_bench",
      {{"prepare", prepare}, {"run", run}, {"tokens", chosen_tokens}, {"logits", write_logits}});
}
