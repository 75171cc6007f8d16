// ChatTemplate: a conversation as the text a model was trained on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant" …
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
  // With messages that have more than a role and a content, as the text of a JSON list.
  std::string render_json(std::string_view messages, const ChatOptions& options = {}) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace luminal
