// luminal chat: a conversation with a language model, line by line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/answer.h"
#include "apps/cli/command.h"
#include "luminal/base/errors.h"
#include "luminal/base/os_terminal.h"

namespace luminal::cli {
namespace {

class Chat {
 public:
  explicit Chat(const ModelArguments& arguments)
      : arguments_(arguments), session_(open_session(talking_model(arguments), arguments, line_)) {
    reset();
  }

  // False when the conversation is over.
  bool take(const std::string& text) {
    if (text == "/quit") return false;
    if (text == "/reset") {
      reset();
    } else if (text.starts_with("/")) {
      std::cerr << "luminal: there is no command '" << text << "'; there are /reset and /quit\n";
    } else if (text.find_first_not_of(" \t\r") != text.npos) {
      say(text);
    }
    return true;
  }

 private:
  static llm::Model talking_model(const ModelArguments& arguments) {
    llm::Model model = open_model(arguments);
    if (model.chat_template()) return model;
    throw UserError(fmt::format(
        "'{}' has no chat template: it continues text; use `luminal run` with -p", arguments.path));
  }

  void reset() {
    messages_.clear();
    if (!arguments_.system.empty()) messages_.push_back({"system", arguments_.system});
  }

  void say(const std::string& text) {
    messages_.push_back({"user", text});
    const std::vector<TokenId> prompt = chat_prompt(session_.model(), messages_);
    if (static_cast<int64_t>(prompt.size()) >= session_.context()) {
      messages_.pop_back();
      std::cerr << fmt::format(
          "luminal: with this the conversation has {} tokens, and the context has room for {}: say "
          "less, or begin anew with /reset\n",
          prompt.size(), session_.context());
      return;
    }
    // The session keeps what this prompt shares with the conversation so far.
    messages_.push_back({"assistant", answer(session_, prompt, arguments_, line_).text});
  }

  const ModelArguments& arguments_;
  ProgressLine line_;
  llm::Session session_;
  std::vector<ChatMessage> messages_;
};

void chat(const ModelArguments& arguments) {
  Chat conversation(arguments);
  const bool typed = base::input_is_terminal();
  if (typed) std::cerr << "/reset begins anew, /quit ends\n";
  std::string text;
  while (true) {
    if (typed) std::cerr << "> " << std::flush;
    if (!std::getline(std::cin, text) || !conversation.take(text)) return;
  }
}

}  // namespace

void define_chat(CLI::App& app) {
  auto arguments = std::make_shared<ModelArguments>();
  app.add_option("model", arguments->path, "A GGUF file, or a folder in Hugging Face's layout")
      ->required();
  arguments->add_to(app);
  arguments->add_shared_to(app);
  app.footer("A line of standard input is a message; /reset begins anew, /quit ends.");
  app.callback([arguments] {
    arguments->search.apply(arguments->compile);
    chat(*arguments);
  });
}

}  // namespace luminal::cli
