// ChatTemplate: renders a conversation as the prompt text a model was trained on.
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
  std::string role;  // "system", "user", "assistant" …; from the program, not from a text
  std::string content;
};

struct ChatOptions {
  // End the text where the model's answer begins.
  bool add_generation_prompt = true;
  std::string bos_token{};
  std::string eos_token{};
  // Further template variables as a JSON object: tools, enable_thinking …
  std::string variables = "{}";
  // The template's clock, in seconds since 1970 (UTC); default: the system clock.
  std::optional<int64_t> now{};
};

// A conversation as text, and the byte ranges that came from messages and variables rather than
// from the template: special tokens spelt there are plain text (EncodeOptions::plain).
struct ChatText {
  std::string text;
  std::vector<TextRange> from_messages;
};

// A template in the subset of Jinja that published models use, configured as in transformers.
// Templates are untrusted: they can only print and fail, within limits on steps and output.
class LUMINAL_API ChatTemplate {
 public:
  // UserError with the line number for a template that can't be parsed.
  explicit ChatTemplate(std::string_view source);

  // Renders the conversation. UserError if the template rejects it or fails.
  std::string render(const std::vector<ChatMessage>& messages,
                     const ChatOptions& options = {}) const;
  // Like `render`, with the origin of each byte, for Tokenizer::encode. A role counts as the
  // template's own text if it is a plain word (letters, digits, '_', '-').
  ChatText render_marked(const std::vector<ChatMessage>& messages,
                         const ChatOptions& options = {}) const;
  // Renders messages with more fields than role and content, given as a JSON array.
  std::string render_json(std::string_view messages, const ChatOptions& options = {}) const;
  ChatText render_json_marked(std::string_view messages, const ChatOptions& options = {}) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace luminal
