#include "luminal/pytorch/pt2/guards.h"

#include <charconv>

namespace luminal::pytorch {
namespace {

class GuardReader {
 public:
  explicit GuardReader(std::string_view text) : text_(text) {}

  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool at_end() const { return text_.empty(); }

  std::optional<InputSize> size() {
    if (!take("L")) return std::nullopt;
    InputSize found;
    while (!text_.starts_with(".")) {
      const auto key = this->key();
      if (!key) return std::nullopt;
      found.input += (found.input.empty() ? "" : "_") + *key;
    }
    if (!take(".size()[")) return std::nullopt;
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), found.axis);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    if (!take("]")) return std::nullopt;
    return found;
  }

 private:
  // ['name'] or [3]
  std::optional<std::string> key() {
    const bool is_name = take("['");
    if (!is_name && !take("[")) return std::nullopt;
    const std::string_view closing = is_name ? "']" : "]";
    const size_t end = text_.find(closing);
    if (end == text_.npos) return std::nullopt;
    std::string found(text_.substr(0, end));
    text_.remove_prefix(end + closing.size());
    return found;
  }

  std::string_view text_;
};

}  // namespace

std::optional<std::pair<InputSize, InputSize>> equal_sizes(std::string_view guard) {
  GuardReader reader(guard);
  auto first = reader.size();
  if (!first || !reader.take(" == ")) return std::nullopt;
  auto second = reader.size();
  if (!second || !reader.at_end()) return std::nullopt;
  return std::pair(std::move(*first), std::move(*second));
}

}  // namespace luminal::pytorch
