#include "apps/cli/models/run_model.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/chat/answer.h"
#include "apps/cli/files/files.h"
#include "apps/cli/options/json_result.h"
#include "apps/cli/terminal/colours.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/terminal.h"

namespace luminal::cli {
namespace {

// -p or -f, then piped input; only standard input if neither is given.
std::string prompt_text(const RunModelOptions& options) {
  std::string text = options.prompt_file.empty() ? options.prompt : read_text(options.prompt_file);
  const bool told = options.has_prompt || !options.prompt_file.empty();
  if (told && (options.prompt_file == "-" || !base::input_is_piped())) return text;
  const std::string piped = read_text("-");
  if (text.empty() || piped.empty()) return text + piped;
  return text + (text.ends_with('\n') ? "\n" : "\n\n") + piped;
}

std::vector<TokenId> prompt_ids(const llm::Model& model, const RunModelOptions& options) {
  const std::string prompt = prompt_text(options);
  if (options.raw || !model.chat_template()) {
    if (!options.model.system.empty()) {
      throw UserError(
          "--system needs a chat template: leave it out, or write it into the prompt yourself");
    }
    return model.tokenizer().encode(prompt);
  }
  std::vector<ChatMessage> messages;
  if (!options.model.system.empty()) messages.push_back({"system", options.model.system});
  messages.push_back({"user", prompt});
  return chat_prompt(model, messages);
}

nlohmann::ordered_json json_of(const llm::Generated& generated,
                               const llm::SamplingOptions& sampling) {
  const llm::GenerateStats& stats = generated.stats;
  return {{"text", generated.text},
          {"ended", text(generated.reason)},
          {"prompt_tokens", stats.prompt_tokens},
          {"tokens", generated.ids.size()},
          {"first_token_seconds", stats.first_token_seconds},
          {"tokens_per_second", stats.tokens_per_second},
          {"seed", sampling.seed}};
}

}  // namespace

void run_model(const RunModelOptions& options) {
  ProgressLine line;
  const llm::Model model = open_model(options.model);
  const std::vector<TokenId> prompt = prompt_ids(model, options);
  check_prompt(model, options.model.session_options(), prompt);
  llm::Session session = open_session(model, options.model, line);
  Trace trace;
  if (!options.trace.empty()) session.set_trace(&trace);
  const llm::GenerateOptions generation = options.model.generate_options(model);
  WrappingWriter writer =
      options.json ? WrappingWriter([](std::string_view) {}, 0) : output_writer();
  const llm::Generated generated =
      stream_answer(session, prompt, generation, {.line = line, .writer = writer});
  writer.finish();
  if (options.json) print_json_result(json_of(generated, generation.sampling));
  // To standard error: standard output is for the answer.
  note_full_context(session, generated.reason);
  if (options.model.stats) {
    print_stats(session, generated, generation.sampling, options.model.compile.backend.threads);
  } else if (base::error_is_terminal() && !options.model.quiet) {
    std::cerr << styled(speed_text(generated), Style::Dim, error_has_colours()) << "\n";
  }
  if (!options.trace.empty()) std::cerr << write_trace(options.trace, trace);
}

}  // namespace luminal::cli
