// luminal_unicode_tables: what patterns match and what normal forms make of each code point, as
// JSON.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "luminal/text/regex/pattern.h"
#include "luminal/text/unicode/normalize.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

template <typename Use>
void for_each_code_point(const Use& use) {
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (c < 0xD800 || c >= 0xE000) use(c);
  }
}

void print_pattern(const char* expression) {
  const Pattern pattern(expression);
  nlohmann::json ranges = nlohmann::json::array();
  for_each_code_point([&](char32_t c) {
    const std::string text = utf8(c);
    if (pattern.match_at(text, 0) != text.size()) return;
    const auto value = static_cast<uint32_t>(c);
    if (!ranges.empty() && ranges.back()[1] == value - 1) {
      ranges.back()[1] = value;
    } else {
      ranges.push_back({value, value});
    }
  });
  std::cout << nlohmann::json{{"pattern", expression}, {"ranges", ranges}}.dump() << "\n";
}

template <typename Map>
void print_form(const char* form, const Map& map) {
  nlohmann::json mapped = nlohmann::json::array();
  for_each_code_point([&](char32_t c) {
    // All that change, and a part of those that don't.
    std::string text = map(utf8(c));
    if (text != utf8(c) || c % 64 == 0) mapped.push_back({static_cast<uint32_t>(c), text});
  });
  std::cout << nlohmann::json{{"form", form}, {"mapped", mapped}}.dump() << "\n";
}

}  // namespace
}  // namespace luminal::tokens

int main(int argc, char** argv) {
  using namespace luminal::tokens;
  for (int i = 1; i < argc; ++i) print_pattern(argv[i]);
  constexpr std::pair<const char*, NormalForm> kForms[] = {{"NFC", NormalForm::NFC},
                                                           {"NFD", NormalForm::NFD},
                                                           {"NFKC", NormalForm::NFKC},
                                                           {"NFKD", NormalForm::NFKD}};
  for (const auto& [name, form] : kForms) {
    print_form(name, [&](const std::string& text) { return normalized(text, form); });
  }
  print_form("lower", [](const std::string& text) { return lower(text); });
}
