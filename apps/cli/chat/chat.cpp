#include "apps/cli/chat/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "apps/cli/chat/saved_chat.h"
#include "apps/cli/chat/settings.h"
#include "apps/cli/terminal/colours.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/terminal.h"
#include "luminal/base/text/printable.h"

namespace luminal::cli {
namespace {

llm::Model talking_model(const ModelArguments& arguments) {
  llm::Model model = open_model(arguments);
  if (model.chat_template()) return model;
  throw UserError(fmt::format(
      "'{}' has no chat template: it continues text; use `luminal run` with -p", arguments.path));
}

void note(const std::string& text) {
  std::cerr << styled(text, Style::Dim, error_has_colours()) << std::endl;
}

void complain(const std::string& message) {
  std::cerr << "luminal: " << base::printable(message, 1000, true) << std::endl;
}

// The file argument of /save or /load.
const std::string& file_of(const TypedCommand& typed, const char* name) {
  if (typed.argument.empty()) throw UserError(fmt::format("write {} FILE", name));
  return typed.argument;
}

void append(llm::Generated& whole, llm::Generated part) {
  if (whole.ids.empty()) {
    whole = std::move(part);
    return;
  }
  whole.text += part.text;
  whole.ids.insert(whole.ids.end(), part.ids.begin(), part.ids.end());
  whole.reason = part.reason;
}

}  // namespace

Chat::Chat(const ModelArguments& arguments)
    : arguments_(arguments),
      session_(open_session(talking_model(arguments), arguments, line_)),
      conversation_(arguments.system) {}

bool Chat::take(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) return true;
  try {
    // A message of several lines, such as pasted text, may begin with a path.
    if (text.starts_with("/") && text.find('\n') == text.npos) {
      return obey(parse_chat_command(text));
    }
    conversation_.ask(text);
    reply();
  } catch (const UserError& error) {
    complain(error.what());
  }
  return true;
}

bool Chat::obey(const TypedCommand& typed) {
  switch (typed.command) {
    case ChatCommand::Help:
      std::cerr << chat_commands_text() << std::flush;
      return true;
    case ChatCommand::Reset:
      conversation_ = Conversation(conversation_.system());
      note("a new conversation");
      return true;
    case ChatCommand::Regenerate:
      regenerate();
      return true;
    case ChatCommand::System:
      show_or_set_system(typed.argument);
      return true;
    case ChatCommand::Set:
      show_or_change_setting(typed.argument);
      return true;
    case ChatCommand::Save:
      save_chat(conversation_, arguments_.path, file_of(typed, "/save"));
      note(fmt::format("written to {}", typed.argument));
      return true;
    case ChatCommand::Load:
      conversation_ = load_chat(file_of(typed, "/load"));
      note(fmt::format("{} messages read", conversation_.messages().size()));
      return true;
    case ChatCommand::Stats:
      show_stats();
      return true;
    case ChatCommand::Quit:
      return false;
  }
  return true;
}

void Chat::regenerate() {
  if (!conversation_.withdraw_answer()) throw UserError("there is no answer yet to make again");
  reply();
}

void Chat::show_or_set_system(const std::string& text) {
  if (!text.empty()) {
    conversation_.set_system(text);
    note("it takes effect with the next message");
    return;
  }
  note(conversation_.system().empty() ? "there is no system message; /system TEXT sets one"
                                      : base::printable(conversation_.system(), 1000, true));
}

void Chat::show_or_change_setting(const std::string& text) {
  if (!text.empty()) change_setting(arguments_, session_.model(), text);
  std::cerr << settings_text(arguments_, session_.model()) << std::flush;
}

void Chat::show_stats() {
  if (!last_) throw UserError("there is no answer yet");
  print_stats(session_, last_->generated, last_->sampling, arguments_.compile.backend.threads);
}

void Chat::reply() {
  try {
    if (!make_room()) return conversation_.withdraw();
    const llm::GenerateOptions options = arguments_.generate_options(session_.model());
    llm::Generated generated = generate_reply(options);
    // An unanswered question must not precede the next one.
    if (generated.text.empty() && generated.reason == llm::EndReason::Cancelled) {
      conversation_.withdraw();
    } else {
      conversation_.answer(generated.text);
    }
    last_ = {.generated = std::move(generated), .sampling = options.sampling};
    if (arguments_.stats) show_stats();
  } catch (...) {
    conversation_.withdraw();
    throw;
  }
}

bool Chat::make_room() {
  const auto tokens = [&](const std::vector<ChatMessage>& messages) {
    return static_cast<int64_t>(chat_prompt(session_.model(), messages).size());
  };
  // An answer gets at least a quarter of the context. If messages must be dropped, half of the
  // context is freed at once, because the remaining tokens are computed again each time.
  const int64_t context = session_.context();
  int64_t room = context / 4;
  if (arguments_.max_tokens > 0) room = std::min(room, arguments_.max_tokens);
  if (conversation_.fit(tokens, context - room, context / 2)) {
    say_once_that_messages_are_left_out();
  }
  const int64_t length = tokens(conversation_.shown());
  if (length < context) return true;
  complain(
      fmt::format("this message has {} tokens with its chat template, and the context has room for "
                  "{}: shorten it, or start with a larger --context",
                  length, context));
  return false;
}

void Chat::say_once_that_messages_are_left_out() {
  if (told_left_out_) return;
  told_left_out_ = true;
  line_.clear();
  note(
      fmt::format("the conversation outgrew the context of {} tokens: from here on the model "
                  "doesn't see the oldest messages",
                  session_.context()));
}

llm::Generated Chat::generate_reply(const llm::GenerateOptions& options) {
  base::CatchInterrupt interrupt;
  WrappingWriter writer = output_writer();
  const AnswerOutput output{
      .line = line_, .writer = writer, .interrupted = [&] { return interrupt.interrupted(); }};
  llm::Generated whole;
  bool left_out = false;
  llm::GenerateOptions rest = options;
  while (true) {
    std::vector<TokenId> prompt = chat_prompt(session_.model(), conversation_.shown());
    prompt.insert(prompt.end(), whole.ids.begin(), whole.ids.end());
    rest.continues = static_cast<int64_t>(whole.ids.size());
    if (options.max_tokens > 0) rest.max_tokens = options.max_tokens - rest.continues;
    append(whole, stream_answer(session_, prompt, rest, output));
    // Continues the answer without the oldest messages.
    if (whole.reason != llm::EndReason::ContextFull || !conversation_.leave_out_oldest()) break;
    left_out = true;
  }
  writer.finish();
  if (left_out) say_once_that_messages_are_left_out();  // not earlier: it would split the answer
  if (whole.reason == llm::EndReason::Cancelled) note("stopped");
  note_full_context(session_, whole.reason);
  return whole;
}

}  // namespace luminal::cli
