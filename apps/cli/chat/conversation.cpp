#include "apps/cli/chat/conversation.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"

namespace luminal::cli {

Conversation Conversation::of(const std::vector<ChatMessage>& messages) {
  Conversation made;
  for (size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    if (i == 0 && message.role == "system") {
      made.system_ = message.content;
      continue;
    }
    const char* expected = made.waits_for_answer() ? "assistant" : "user";
    if (message.role != expected) {
      throw UserError("message " + std::to_string(i + 1) + " is of '" + message.role +
                      "' where one of '" + expected +
                      "' is due: a chat has a system message or none, then user and assistant in "
                      "turns");
    }
    made.said_.push_back(message);
  }
  return made;
}

void Conversation::ask(std::string question) {
  LUMINAL_CHECK(!waits_for_answer(), "a question before the last one was answered");
  said_.push_back({"user", std::move(question)});
}

void Conversation::answer(std::string text) {
  LUMINAL_CHECK(waits_for_answer(), "an answer without a question");
  said_.push_back({"assistant", std::move(text)});
}

void Conversation::withdraw() {
  if (!waits_for_answer()) return;
  said_.pop_back();
  if (first_shown_ >= said_.size()) first_shown_ = 0;
}

bool Conversation::withdraw_answer() {
  if (said_.empty() || waits_for_answer()) return false;
  said_.pop_back();
  return true;
}

std::vector<ChatMessage> Conversation::messages() const {
  std::vector<ChatMessage> all;
  if (!system_.empty()) all.push_back({"system", system_});
  all.insert(all.end(), said_.begin(), said_.end());
  return all;
}

std::vector<ChatMessage> Conversation::shown() const {
  std::vector<ChatMessage> part;
  if (!system_.empty()) part.push_back({"system", system_});
  part.insert(part.end(), said_.begin() + static_cast<std::ptrdiff_t>(first_shown_), said_.end());
  return part;
}

bool Conversation::leave_out_oldest() {
  if (first_shown_ + 2 >= said_.size()) return false;
  first_shown_ += 2;
  return true;
}

bool Conversation::fit(const TokenCount& count, int64_t most, int64_t wanted) {
  if (count(shown()) <= most) return false;
  bool left_out = false;
  while (count(shown()) > wanted && leave_out_oldest()) left_out = true;
  return left_out;
}

}  // namespace luminal::cli
