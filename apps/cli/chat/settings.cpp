#include "apps/cli/chat/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "apps/cli/options/closest_word.h"
#include "luminal/base/errors.h"

namespace luminal::cli {
namespace {

template <typename T>
T number(std::string_view name, std::string_view text) {
  T value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UserError(fmt::format("{} takes a {}, not '{}'", name,
                                std::is_integral_v<T> ? "whole number" : "number", text));
  }
  return value;
}

int64_t count(std::string_view name, std::string_view text) {
  const auto value = number<int64_t>(name, text);
  if (value < 0) throw UserError(fmt::format("{} can't be below 0", name));
  return value;
}

struct Setting {
  const char* name;
  void (*change)(ModelArguments& arguments, std::string_view name, std::string_view value);
  std::string (*show)(const llm::GenerateOptions& options, const ModelArguments& arguments);
};

using Arguments = ModelArguments;
using Options = llm::GenerateOptions;

const Setting kSettings[] = {
    {"temperature",
     [](Arguments& to, std::string_view name, std::string_view value) {
       to.temperature = number<double>(name, value);
       to.greedy = false;
     },
     [](const Options& of, const Arguments&) {
       return fmt::format("{}{}", of.sampling.temperature,
                          of.sampling.temperature == 0 ? " (greedy)" : "");
     }},
    {"top-k",
     [](Arguments& to, std::string_view name, std::string_view value) {
       to.top_k = count(name, value);
     },
     [](const Options& of, const Arguments&) { return fmt::format("{}", of.sampling.top_k); }},
    {"top-p",
     [](Arguments& to, std::string_view name, std::string_view value) {
       to.top_p = number<double>(name, value);
     },
     [](const Options& of, const Arguments&) { return fmt::format("{}", of.sampling.top_p); }},
    {"min-p",
     [](Arguments& to, std::string_view name, std::string_view value) {
       to.min_p = number<double>(name, value);
     },
     [](const Options& of, const Arguments&) { return fmt::format("{}", of.sampling.min_p); }},
    {"repeat-penalty",
     [](Arguments& to, std::string_view name, std::string_view value) {
       to.repeat_penalty = number<double>(name, value);
     },
     [](const Options& of, const Arguments&) {
       return fmt::format("{}", of.sampling.repeat_penalty);
     }},
    {"seed",
     [](Arguments& to, std::string_view name, std::string_view value) {
       to.seed = value == "random" ? std::nullopt : std::optional(number<uint64_t>(name, value));
     },
     [](const Options&, const Arguments& of) {
       return of.seed ? fmt::format("{}", *of.seed) : std::string("random");
     }},
    {"max-tokens",
     [](Arguments& to, std::string_view name, std::string_view value) {
       to.max_tokens = count(name, value);
     },
     [](const Options& of, const Arguments&) {
       return of.max_tokens == 0 ? std::string("0 (as many as the context has room for)")
                                 : fmt::format("{}", of.max_tokens);
     }},
};

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& setting : kSettings) names.emplace_back(setting.name);
  return names;
}

}  // namespace

void change_setting(ModelArguments& arguments, const llm::Model& model, std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of(" \t="));
  std::string_view value = text.substr(name.size());
  value.remove_prefix(std::min(value.find_first_not_of(" \t="), value.size()));
  for (const Setting& setting : kSettings) {
    if (name != setting.name) continue;
    if (value.empty()) throw UserError(fmt::format("write /set {} VALUE", name));
    ModelArguments changed = arguments;
    setting.change(changed, name, value);
    changed.generate_options(model);  // throws for invalid combinations
    arguments = std::move(changed);
    return;
  }
  const std::string guess = did_you_mean(name, setting_names());
  throw UserError(fmt::format(
      "there is no setting '{}'{}", name,
      guess.empty() ? fmt::format("; there are {}", fmt::join(setting_names(), ", ")) : guess));
}

std::string settings_text(const ModelArguments& arguments, const llm::Model& model) {
  const llm::GenerateOptions options = arguments.generate_options(model);
  std::string text;
  for (const Setting& setting : kSettings) {
    text += fmt::format("  {:<16}{}\n", setting.name, setting.show(options, arguments));
  }
  return text;
}

}  // namespace luminal::cli
