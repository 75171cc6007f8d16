// ChatTemplate: a conversation as the text a model was trained on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/text/text_range.h"

namespace luminal {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant" …; set it in the program, not from a text
  std::string content;
};

struct ChatOptions {
  // Ends the text where the model's answer begins.
  bool add_generation_prompt = true;
  std::string bos_token{};
  std::string eos_token{};
  // More variables for the template, as the text of a JSON object: tools, enable_thinking …
  std::string variables = "{}";
  // What the template's clock shows, in seconds since 1970 (UTC); none for the system's.
  std::optional<int64_t> now{};
};

// A conversation as text, and which bytes of it came from messages and variables rather than from
// the template: special tokens spelt there are text like any other (EncodeOptions::plain).
struct ChatText {
  std::string text;
  std::vector<TextRange> from_messages;
};

// A template in the part of Jinja that published models use, set up as transformers does it. It is
// text from someone else: it can print and fail, nothing else, and within bounds of steps and
// output.
class LUMINAL_API ChatTemplate {
 public:
  // UserError with the line for a template that can't be read.
  explicit ChatTemplate(std::string_view source);

  // The conversation as text. UserError when the template refuses it or fails.
  std::string render(const std::vector<ChatMessage>& messages,
                     const ChatOptions& options = {}) const;
  // The same with its origin, for Tokenizer::encode. A role is the template's own if it is a plain
  // word (letters, digits, '_', '-').
  ChatText render_marked(const std::vector<ChatMessage>& messages,
                         const ChatOptions& options = {}) const;
  // With messages that have more than a role and a content, as the text of a JSON list.
  std::string render_json(std::string_view messages, const ChatOptions& options = {}) const;
  ChatText render_json_marked(std::string_view messages, const ChatOptions& options = {}) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace luminal
