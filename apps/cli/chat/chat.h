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

  // Answers a message, or runs a command. Returns false if the conversation is over.
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

  // Answers the pending question.
  void reply();
  // Shortens the conversation to fit into the context, with room for an answer; prints a message
  // and returns false if the question doesn't fit.
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

// Reads messages from standard input until it ends; on a terminal with editing and history.
void chat(const ModelArguments& arguments);

}  // namespace luminal::cli
