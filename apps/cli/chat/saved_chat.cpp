#include "apps/cli/chat/saved_chat.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/cli/files/files.h"
#include "luminal/base/errors.h"
#include "luminal/base/text/json_depth.h"

namespace luminal::cli {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 100;  // maximum nesting of arrays and objects

void save_chat(const Conversation& conversation, const std::string& model,
               const std::string& file) {
  Json messages = Json::array();
  for (const ChatMessage& message : conversation.messages()) {
    messages.push_back({{"role", message.role}, {"content", message.content}});
  }
  const Json all = {{"model", model}, {"messages", std::move(messages)}};
  std::ofstream out(file);
  out << all.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  out.close();
  if (!out) throw UserError("can't write the conversation to '" + file + "'");
}

Conversation load_chat(const std::string& file) {
  const std::string text = read_text(file);
  const auto refuse = [&](const std::string& why) {
    throw UserError("'" + file + "' holds no conversation: " + why +
                    "; /save writes one: {\"messages\": [{\"role\": …, \"content\": …}, …]}");
  };
  if (base::json_depth(text) > kDeepest) refuse("it is nested too deeply");
  const Json all = Json::parse(text, nullptr, false);
  if (all.is_discarded()) refuse("it isn't JSON");
  if (!all.is_object() || !all.contains("messages") || !all["messages"].is_array()) {
    refuse("it has no list of messages");
  }
  std::vector<ChatMessage> messages;
  for (const Json& message : all["messages"]) {
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string() ||
        !message.contains("content") || !message["content"].is_string()) {
      refuse("a message lacks the strings role and content");
    }
    messages.push_back({message["role"], message["content"]});
  }
  Conversation loaded = Conversation::of(messages);
  loaded.withdraw();  // drops an unanswered question
  return loaded;
}

}  // namespace luminal::cli
