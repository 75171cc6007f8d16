#include "apps/cli/run_model.h"

#include <iostream>
#include <vector>

#include "apps/cli/answer.h"
#include "apps/cli/files.h"
#include "luminal/base/errors.h"

namespace luminal::cli {
namespace {

std::vector<TokenId> prompt_ids(const llm::Model& model, const RunModelOptions& options) {
  const std::string prompt = options.has_prompt ? options.prompt : read_text("-");
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

}  // namespace

void run_model(const RunModelOptions& options) {
  ProgressLine line;
  const llm::Model model = open_model(options.model);
  const std::vector<TokenId> prompt = prompt_ids(model, options);
  check_prompt(model, options.model.session_options(), prompt);
  llm::Session session = open_session(model, options.model, line);
  Trace trace;
  if (!options.trace.empty()) session.set_trace(&trace);
  answer(session, prompt, options.model, line);
  // Beside the answer, which is what standard output is for.
  if (!options.trace.empty()) std::cerr << write_trace(options.trace, trace);
}

}  // namespace luminal::cli
