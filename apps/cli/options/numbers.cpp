#include "apps/cli/options/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace luminal::cli {
namespace {

std::string refusal(const std::string& text, const char* wanted) {
  return "'" + text.substr(0, 60) + "' is not " + wanted;
}

CLI::Validator number_from(bool with_zero, const char* wanted) {
  return {[=](std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool is_number = !text.empty() && *end == '\0' && std::isfinite(value);
            const bool fits = with_zero ? value >= 0 : value > 0;
            return is_number && fits ? std::string() : refusal(text, wanted);
          },
          ""};
}

// The end of the leading digits if they fit into 64 bits.
const char* end_of_digits(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? end : nullptr;
}

}  // namespace

CLI::Validator not_negative() { return number_from(true, "a number of at least 0"); }
CLI::Validator positive() { return number_from(false, "a number above 0"); }

CLI::Validator whole_number() {
  return {[](std::string& text) {
            return end_of_digits(text) == text.data() + text.size()
                       ? std::string()
                       : refusal(text, "a whole number from 0 to 2^64 - 1");
          },
          ""};
}

CLI::Validator whole_bytes() {
  return {[](std::string& text) {
            const char* end = end_of_digits(text);
            const bool is_sized = end != nullptr && std::string_view(end).find_first_of(
                                                        "0123456789-+.") == std::string_view::npos;
            return is_sized ? std::string()
                            : refusal(text, "a number of bytes, as 1048576 or 512MB");
          },
          ""};
}

}  // namespace luminal::cli
