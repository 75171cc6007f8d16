#include "luminal/egraph/primitives/primitives.h"

namespace luminal::egraph {
namespace {

// Maximum digits of a BigInt to parse, which takes quadratic time; results of 2^17 bits have fewer.
constexpr size_t kMostDigits = 40'000;

// The positions of `part` in `text`, without overlaps. The empty text matches before every UTF-8
// character and at the end.
std::vector<size_t> places_of(const std::string& part, const std::string& text) {
  std::vector<size_t> places;
  if (part.empty()) {
    for (size_t i = 0; i <= text.size(); ++i) {
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
        places.push_back(i);
      }
    }
    return places;
  }
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    places.push_back(at);
    at += part.size();
  }
  return places;
}

std::string replaced(const Constants& constants, const std::string& text, const std::string& part,
                     const std::string& by) {
  std::string result;
  size_t done = 0;
  for (size_t place : places_of(part, text)) {
    constants.expect_text(result.size() + text.size() - done + by.size());
    result += text.substr(done, place - done) + by;
    done = place + part.size();
  }
  return result + text.substr(done);
}

}  // namespace

void add_string_primitives(PrimitiveAdder& to) {
  const SortId string = to.schema().string();
  to.add_variadic("+", string, string,
                  [](Constants& constants, std::span<const Value> values) -> std::optional<Value> {
                    std::string all;
                    for (Value value : values) {
                      constants.expect_text(all.size() + constants.string(value).size());
                      all += constants.string(value);
                    }
                    return constants.intern(std::string_view(all));
                  });
  to.add("replace", {string, string, string}, string,
         [](Constants& c, std::span<const Value> a) -> std::optional<Value> {
           const std::string result = replaced(c, c.string(a[0]), c.string(a[1]), c.string(a[2]));
           return c.intern(std::string_view(result));
         });
  to.add<std::string, std::string>("count-matches",
                                   [](const std::string& text, const std::string& part) {
                                     return static_cast<int64_t>(places_of(part, text).size());
                                   });
  to.add<std::string>("from-string", [](const std::string& text) {
    return text.size() <= kMostDigits ? BigInt::from_string(text) : std::nullopt;
  });
}

}  // namespace luminal::egraph
