// luminal_tokenizer_cases: a tokenizer against the ids that another one gave for the same texts.
//
// tokenizer_oracle.py writes the cases and runs this: see there for the format.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/text/text_stream.h"
#include "luminal/text/tokenizer.h"
#include "tests/text/vocabulary_file.h"

namespace luminal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kShown = 5;

struct Totals {
  int cases = 0;
  int different = 0;
  int same_text = 0;  // what comes back is what went in
  double encode_seconds = 0;
};

class Cases {
 public:
  explicit Cases(const std::string& path) : file_(path), reader_(file_.bytes(), path) {}

  bool done() const { return reader_.done(); }
  std::string text() { return reader_.text(); }
  std::vector<TokenId> ids() { return reader_.numbers(); }

 private:
  base::MappedFile file_;
  VocabularyReader reader_;
};

std::string list(const std::vector<TokenId>& ids) {
  std::string out;
  for (size_t i = 0; i < ids.size() && i < 40; ++i)
    out += fmt::format("{}{}", i ? " " : "", ids[i]);
  return out;
}

void report(const std::string& text, const std::string& what, Totals& totals) {
  if (++totals.different > kShown) return;
  std::string escaped;
  for (unsigned char c : text.substr(0, 200)) {
    escaped +=
        c >= 32 && c < 127 ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  }
  std::cout << "different: \"" << escaped << "\": " << what << "\n";
}

std::string streamed(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  TextStream stream(tokenizer);
  std::string out;
  for (TokenId id : ids) out += stream.add(id);
  return out + stream.finish();
}

void check(const Tokenizer& tokenizer, Cases& cases, bool parse_special,
           const std::vector<TokenId>& before, const std::vector<TokenId>& after, Totals& totals) {
  const std::string text = cases.text();
  const std::vector<TokenId> expected = cases.ids();
  const std::string expected_text = cases.text();
  ++totals.cases;

  const auto start = Clock::now();
  const std::vector<TokenId> ids =
      tokenizer.encode(text, {.add_special = false, .parse_special = parse_special});
  totals.encode_seconds += std::chrono::duration<double>(Clock::now() - start).count();
  if (ids != expected) return report(text, list(ids) + ", not " + list(expected), totals);

  std::vector<TokenId> around = before;
  around.insert(around.end(), expected.begin(), expected.end());
  around.insert(around.end(), after.begin(), after.end());
  if (tokenizer.encode(text, {.add_special = true, .parse_special = parse_special}) != around)
    return report(text, "other special tokens", totals);

  const std::string decoded = tokenizer.decode(ids);
  if (decoded != expected_text) {
    return report(text, "comes back as '" + decoded + "', not '" + expected_text + "'", totals);
  }
  totals.same_text += decoded == text;
  // Long texts are streamed by other cases.
  if (ids.size() < 2000 && streamed(tokenizer, ids) != decoded) {
    report(text, "streams as '" + streamed(tokenizer, ids) + "', not '" + decoded + "'", totals);
  }
}

Tokenizer open(const std::string& kind, const std::string& path) {
  if (kind == "vocabulary") return Tokenizer::from_vocabulary(read_vocabulary_file(path));
  return Tokenizer::open(path);
}

int run(const std::string& kind, bool parse_special, const std::string& path,
        const std::string& cases_path) {
  const auto start = Clock::now();
  const Tokenizer tokenizer = open(kind, path);
  const double load = std::chrono::duration<double>(Clock::now() - start).count();
  Cases cases(cases_path);
  const std::vector<TokenId> before = cases.ids();
  const std::vector<TokenId> after = cases.ids();
  Totals totals;
  while (!cases.done()) check(tokenizer, cases, parse_special, before, after, totals);
  std::cout << fmt::format(
      "{{\"cases\": {}, \"different\": {}, \"same_text\": {}, \"load_seconds\": {:.4f}, "
      "\"encode_seconds\": {:.4f}}}\n",
      totals.cases, totals.different, totals.same_text, load, totals.encode_seconds);
  return totals.different == 0 && totals.cases > 0 ? 0 : 1;
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: luminal_tokenizer_cases file|vocabulary special|plain TOKENIZER CASES\n";
    return 2;
  }
  try {
    return luminal::run(argv[1], std::string_view(argv[2]) == "special", argv[3], argv[4]);
  } catch (const std::exception& error) {
    std::cerr << "luminal_tokenizer_cases: " << error.what() << "\n";
    return 1;
  }
}
