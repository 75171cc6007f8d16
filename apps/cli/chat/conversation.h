// Conversation: the messages so far, and the part of them still shown to the model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "luminal/text/chat_template.h"

namespace luminal::cli {

// Messages alternate: a user's question, then the answer. The last question may be unanswered.
class Conversation {
 public:
  explicit Conversation(std::string system = {}) : system_(std::move(system)) {}
  // UserError for messages that don't alternate; the first may be a system message.
  static Conversation of(const std::vector<ChatMessage>& messages);

  const std::string& system() const { return system_; }
  void set_system(std::string text) { system_ = std::move(text); }
  bool empty() const { return said_.empty(); }
  bool waits_for_answer() const { return said_.size() % 2 == 1; }

  void ask(std::string question);
  void answer(std::string text);
  // Removes the unanswered question.
  void withdraw();
  // Removes the last answer, so that its question is unanswered again; false if there is none.
  bool withdraw_answer();

  // All messages, the system message first.
  std::vector<ChatMessage> messages() const;
  // The system message and the messages that weren't dropped.
  std::vector<ChatMessage> shown() const;

  // Drops the oldest question and its answer; false if only one question is left.
  bool leave_out_oldest();
  using TokenCount = std::function<int64_t(const std::vector<ChatMessage>&)>;
  // If the shown messages have more than `most` tokens, drops the oldest ones until at most
  // `wanted` remain, or nothing more can be dropped. Returns whether something was dropped.
  bool fit(const TokenCount& count, int64_t most, int64_t wanted);

 private:
  std::string system_;
  std::vector<ChatMessage> said_;
  size_t first_shown_ = 0;  // index into said_; even
};

}  // namespace luminal::cli
