#include "luminal/text/tokenize/normalizer.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/text/subword/byte_tokens.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

// The ranges that BERT's tokenizers use, including 2B920.
bool is_chinese(char32_t c) {
  return in_range(c, 0x4E00, 0x9FFF) || in_range(c, 0x3400, 0x4DBF) ||
         in_range(c, 0x20000, 0x2A6DF) || in_range(c, 0x2A700, 0x2B73F) ||
         in_range(c, 0x2B740, 0x2B81F) || in_range(c, 0x2B920, 0x2CEAF) ||
         in_range(c, 0xF900, 0xFAFF) || in_range(c, 0x2F800, 0x2FA1F);
}

// Applies `change(out, c)` to each code point of a text.
template <typename Change>
std::string mapped(std::string_view text, Change change) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    change(out, c.value);
    at += c.length;
  }
  return out;
}

void clean(std::string& out, char32_t c) {
  const Category of = category(c);
  const bool is_space = c == '\t' || c == '\n' || c == '\r';
  const bool is_control = of == Category::Cc || of == Category::Cf || of == Category::Co;
  if (c == 0 || c == kReplacement || (is_control && !is_space)) return;
  append_utf8(out, is_white_space(c) ? U' ' : c);
}

std::string apply_step(const BertCleaning& step, std::string text) {
  if (step.clean_text) text = mapped(text, clean);
  if (step.space_chinese) {
    text = mapped(text, [](std::string& out, char32_t c) {
      if (is_chinese(c)) out += ' ';
      append_utf8(out, c);
      if (is_chinese(c)) out += ' ';
    });
  }
  if (step.strip_accents) {
    text = mapped(normalized(text, NormalForm::NFD), [](std::string& out, char32_t c) {
      if (category(c) != Category::Mn) append_utf8(out, c);
    });
  }
  return step.lower_case ? lower(text) : text;
}

std::string apply_step(NormalForm form, const std::string& text) { return normalized(text, form); }

std::string apply_step(LowerCase, const std::string& text) { return lower(text); }

std::string apply_step(StripSpace step, const std::string& text) {
  size_t begin = 0;
  while (step.left && begin < text.size()) {
    const CodePoint c = code_point_at(text, begin);
    if (!is_white_space(c.value)) break;
    begin += c.length;
  }
  size_t end = begin;
  for (size_t at = begin; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    at += c.length;
    if (!step.right || !is_white_space(c.value)) end = at;
  }
  return text.substr(begin, end - begin);
}

std::string apply_step(StripAccents, const std::string& text) {
  return mapped(text, [](std::string& out, char32_t c) {
    if (!is_mark(c)) append_utf8(out, c);
  });
}

std::string apply_step(const ReplaceText& step, const std::string& text, size_t most) {
  return replaced(text, step.from, step.to, most);
}

std::string apply_step(const ReplacePattern& step, const std::string& text, size_t most) {
  std::string out;
  size_t at = 0;
  while (auto match = step.from->find(text, at)) {
    check_growth(out.size() + match->begin - at + step.to.size(), most);
    out.append(text, at, match->begin - at);
    out += step.to;
    at = match->end;
  }
  return out.append(text, at);
}

std::string apply_step(const PrependText& step, const std::string& text) {
  return text.empty() ? text : step.text + text;
}

std::string apply_step(NmtCleaning, const std::string& text) {
  return mapped(text, [](std::string& out, char32_t c) {
    if (in_range(c, 0x01, 0x08) || c == 0x0B || in_range(c, 0x0E, 0x1F) || c == 0x7F || c == 0x8F ||
        c == 0x9F) {
      return;
    }
    const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                       in_range(c, 0x200B, 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xFEFF || c == kReplacement;
    append_utf8(out, space ? U' ' : c);
  });
}

std::string apply_step(const MapCharacters& step, const std::string& text, size_t most) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Charsmap::Prefix prefix = step.map->prefix_at(text, at);
    check_growth(out.size() + prefix.text.size(), most);
    out += prefix.text;
    at += prefix.length;
  }
  return out;
}

std::string apply_step(ToByteLetters, const std::string& text) {
  std::string out;
  append_byte_letters(out, text);
  return out;
}

// SentencePiece's normalisation of the text at `at`.
Charsmap::Prefix next_part(const SentencePieceSpaces& step, std::string_view text, size_t at) {
  if (step.user_defined) {
    if (const auto whole = step.user_defined->longest(text, at)) {
      return {text.substr(at, whole->length), whole->length};
    }
  }
  if (step.map) return step.map->prefix_at(text, at);
  const CodePoint c = code_point_at(text, at);
  return {text.substr(at, c.length), c.length};
}

std::string apply_step(const SentencePieceSpaces& step, const std::string& text, size_t most) {
  size_t at = 0;
  while (step.remove_extra_spaces && at < text.size()) {
    const Charsmap::Prefix part = next_part(step, text, at);
    if (part.text != " ") break;
    at += part.length;
  }
  if (at == text.size()) return {};
  std::string out;
  if (step.add_dummy_prefix && !step.space_is_suffix) out += kSpaceMark;
  bool after_space = step.remove_extra_spaces;
  while (at < text.size()) {
    const Charsmap::Prefix part = next_part(step, text, at);
    std::string_view rest = part.text;
    check_growth(out.size() + rest.size() * kSpaceMark.size(), most);
    while (after_space && rest.starts_with(' ')) rest.remove_prefix(1);
    for (char c : rest) {
      if (c == ' ') {
        out += kSpaceMark;
      } else {
        out += c;
      }
    }
    if (!rest.empty()) after_space = step.remove_extra_spaces && rest.ends_with(' ');
    at += part.length;
  }
  while (step.remove_extra_spaces && out.ends_with(kSpaceMark)) {
    out.resize(out.size() - kSpaceMark.size());
  }
  if (step.add_dummy_prefix && step.space_is_suffix) out += kSpaceMark;
  return out;
}

}  // namespace

void check_growth(size_t bytes, size_t most) {
  if (bytes <= most) return;
  throw UserError(
      fmt::format("tokenizer: its steps make more than {} bytes of a text; the file is damaged, or "
                  "was made to exhaust memory",
                  most));
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     size_t most) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0;;) {
    const size_t found = text.find(from, at);
    if (found == text.npos || from.empty()) return out.append(text.substr(at));
    check_growth(out.size() + found - at + to.size(), most);
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
}

std::string Normalizer::apply(std::string_view text, size_t most) const {
  if (most == 0) most = most_bytes_made_of(text.size());
  std::string result(text);
  for (const NormalizerStep& step : steps) {
    result = std::visit(
        [&](const auto& kind) {
          if constexpr (requires { apply_step(kind, result, most); }) {
            return apply_step(kind, result, most);
          } else {
            return apply_step(kind, std::move(result));
          }
        },
        step);
    check_growth(result.size(), most);
  }
  return result;
}

}  // namespace luminal::tokens
