// luminal chat: a conversation with a language model, on a terminal or from a stream.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/chat/chat.h"
#include "apps/cli/options/command.h"
#include "apps/cli/terminal/colours.h"
#include "apps/cli/terminal/editline_lines.h"
#include "apps/cli/terminal/stream_lines.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "luminal/base/os/terminal.h"

namespace luminal::cli {
namespace {

// Empty if the user has no folder for it.
std::filesystem::path history_file() {
  try {
    return base::state_folder() / "chat-history";
  } catch (const UserError&) {
    return {};
  }
}

std::unique_ptr<LineSource> lines_of_input() {
  const bool typed = base::input_is_terminal();
  if (typed && base::output_is_terminal()) {
    if (auto lines = editline_lines(history_file())) return lines;
  }
  return std::make_unique<StreamLines>(std::cin, typed);
}

}  // namespace

void chat(const ModelArguments& arguments) {
  Chat conversation(arguments);
  const std::unique_ptr<LineSource> lines = lines_of_input();
  if (base::input_is_terminal() && !arguments.quiet) {
    std::cerr << styled("Enter sends a message; /help lists commands, Ctrl-D leaves.", Style::Dim,
                        error_has_colours())
              << std::endl;
  }
  MessageReader messages(*lines);
  while (true) {
    const ReadLine message = messages.read();
    if (message.state == ReadLine::State::End) return;
    if (message.state == ReadLine::State::Line && !conversation.take(message.text)) return;
  }
}

void define_chat(CLI::App& app) {
  auto arguments = std::make_shared<ModelArguments>();
  app.add_option("model", arguments->path, "GGUF file, or folder in Hugging Face's layout")
      ->required();
  arguments->add_to(app);
  arguments->add_shared_to(app);
  app.callback([arguments] {
    arguments->search.apply(arguments->compile);
    chat(*arguments);
  });
}

}  // namespace luminal::cli
