// Chat: a conversation with a compiled model, message by message.
#pragma once

#include <optional>
#include <string>

#include "apps/cli/chat/answer.h"
#include "apps/cli/chat/commands.h"
#include "apps/cli/chat/conversation.h"

namespace luminal::cli {

class Chat {
 public:
  // UserError for a model without a chat template.
  explicit Chat(const ModelArguments& arguments);

  // A message, which is answered, or a command. False when the conversation is over.
  bool take(const std::string& text);

 private:
  struct LastAnswer {
    llm::Generated generated;
    llm::SamplingOptions sampling;
  };

  bool obey(const TypedCommand& typed);
  void regenerate();
  void show_or_set_system(const std::string& text);
  void show_or_change_setting(const std::string& text);
  void show_stats();

  // Answers the question that waits.
  void reply();
  // Makes the conversation fit into the context, with room for an answer; false, with a message,
  // for a question that can't.
  bool make_room();
  void say_once_that_messages_are_left_out();
  llm::Generated generate_reply(const llm::GenerateOptions& options);

  ModelArguments arguments_;
  ProgressLine line_;
  llm::Session session_;
  Conversation conversation_;
  std::optional<LastAnswer> last_;
  bool told_left_out_ = false;
};

// Reads messages from standard input until it ends: with editing and a history on a terminal.
void chat(const ModelArguments& arguments);

}  // namespace luminal::cli
