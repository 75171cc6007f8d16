// Conversation: what was said, and the part of it that the model is still shown.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "luminal/text/chat_template.h"

namespace luminal::cli {

// Messages alternate: a question of the user's, then the answer. The last question may wait for
// its answer.
class Conversation {
 public:
  explicit Conversation(std::string system = {}) : system_(std::move(system)) {}
  // UserError for messages that don't alternate, after a system message or none.
  static Conversation of(const std::vector<ChatMessage>& messages);

  const std::string& system() const { return system_; }
  void set_system(std::string text) { system_ = std::move(text); }
  bool empty() const { return said_.empty(); }
  bool waits_for_answer() const { return said_.size() % 2 == 1; }

  void ask(std::string question);
  void answer(std::string text);
  // The question that waits for its answer, taken back.
  void withdraw();
  // Takes the last answer back, so that its question waits again; false where there is none.
  bool withdraw_answer();

  // All of it, the system message first.
  std::vector<ChatMessage> messages() const;
  // The system message, and what wasn't left out.
  std::vector<ChatMessage> shown() const;

  // Leaves the oldest question out with its answer; false where only one question is left.
  bool leave_out_oldest();
  using TokenCount = std::function<int64_t(const std::vector<ChatMessage>&)>;
  // Where what is shown has more than `most` tokens: leaves the oldest out until it has at most
  // `wanted`, or nothing more can go. Whether something was left out.
  bool fit(const TokenCount& count, int64_t most, int64_t wanted);

 private:
  std::string system_;
  std::vector<ChatMessage> said_;
  size_t first_shown_ = 0;  // of said_; even
};

}  // namespace luminal::cli
