#include "luminal/text/chat_template.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/text/jinja/template_render.h"

namespace luminal {
namespace {

using tokens::TemplateDict;
using tokens::TemplateList;
using tokens::TemplateValue;

constexpr size_t kMaxVariables = size_t{1} << 24;

// A role as a program would set it; it can't spell a special token by itself.
bool is_plain_word(std::string_view role) {
  return std::all_of(role.begin(), role.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// Converts JSON to values while parsing, so that dicts keep the order of the text. All strings are
// marked as part of the conversation, except roles.
class ValueReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add(TemplateValue::none()); }
  bool boolean(bool value) override { return add(TemplateValue::of(value)); }
  bool number_integer(int64_t value) override { return add(TemplateValue::of(value)); }
  bool number_unsigned(uint64_t value) override {
    const bool fits = value <= static_cast<uint64_t>(INT64_MAX);
    return add(fits ? TemplateValue::of(static_cast<int64_t>(value))
                    : TemplateValue::of(static_cast<double>(value)));
  }
  bool number_float(double value, const std::string&) override {
    return add(TemplateValue::of(value));
  }
  bool string(std::string& value) override {
    const bool of_message = open_.size() == 2 && !open_[0].is_dict && open_[1].is_dict;
    const bool is_role = of_message && open_[1].key == "role" && is_plain_word(value);
    return add(TemplateValue::of(tokens::MarkedText(std::move(value), !is_role)));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(true); }
  bool start_array(size_t) override { return open(false); }
  bool key(std::string& value) override {
    open_.back().key = value;
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    throw UserError("chat template: the JSON of its variables is broken at byte " +
                    std::to_string(position));
  }

  TemplateValue result() { return std::move(result_); }

 private:
  struct Open {
    bool is_dict;
    std::string key;
    TemplateDict dict;
    TemplateList list;
  };

  bool open(bool is_dict) {
    if (open_.size() >= 64) throw UserError("chat template: its variables are nested too deeply");
    open_.push_back({is_dict, {}, {}, {}});
    return true;
  }
  bool close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    return add(done.is_dict ? TemplateValue::of(std::move(done.dict), true)
                            : TemplateValue::of(std::move(done.list)));
  }
  bool add(TemplateValue value) {
    if (open_.empty()) {
      result_ = std::move(value);
    } else if (open_.back().is_dict) {
      open_.back().dict.emplace_back(open_.back().key, std::move(value));
    } else {
      open_.back().list.push_back(std::move(value));
    }
    return true;
  }

  std::vector<Open> open_;
  TemplateValue result_;
};

TemplateValue value_of(std::string_view json) {
  if (json.size() > kMaxVariables) throw UserError("chat template: its variables are too large");
  ValueReader reader;
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  return reader.result();
}

}  // namespace

struct ChatTemplate::Parsed {
  tokens::TemplateBody body;
};

ChatTemplate::ChatTemplate(std::string_view source)
    : parsed_(std::make_shared<const Parsed>(Parsed{tokens::parse_template(source)})) {}

std::string ChatTemplate::render(const std::vector<ChatMessage>& messages,
                                 const ChatOptions& options) const {
  return render_marked(messages, options).text;
}

std::string ChatTemplate::render_json(std::string_view messages, const ChatOptions& options) const {
  return render_json_marked(messages, options).text;
}

ChatText ChatTemplate::render_marked(const std::vector<ChatMessage>& messages,
                                     const ChatOptions& options) const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ChatMessage& message : messages) {
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  return render_json_marked(
      list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), options);
}

ChatText ChatTemplate::render_json_marked(std::string_view messages,
                                          const ChatOptions& options) const {
  TemplateDict context = {
      {"messages", value_of(messages)},
      {"add_generation_prompt", TemplateValue::of(options.add_generation_prompt)},
      {"bos_token", TemplateValue::of(options.bos_token)},
      {"eos_token", TemplateValue::of(options.eos_token)},
  };
  const TemplateValue more = value_of(options.variables);
  if (!more.dict()) throw UserError("chat template: its variables must be a JSON object");
  for (const auto& member : *more.dict()) context.push_back(member);
  const int64_t now = options.now.value_or(static_cast<int64_t>(std::time(nullptr)));
  const tokens::MarkedText result = tokens::render_template(parsed_->body, context, now);
  return {result.text(), result.marks()};
}

}  // namespace luminal
