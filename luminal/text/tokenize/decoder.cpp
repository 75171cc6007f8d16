#include "luminal/text/tokenize/decoder.h"

#include "luminal/text/subword/byte_tokens.h"
#include "luminal/text/tokenize/normalizer.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

using Tokens = std::vector<std::string>;

std::string joined(const Tokens& tokens, std::string_view between = {}) {
  std::string out;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) out += between;
    out += tokens[i];
  }
  return out;
}

size_t bytes_of(const Tokens& tokens) {
  size_t bytes = 0;
  for (const std::string& token : tokens) bytes += token.size();
  return bytes;
}

// A token with other characters than byte letters, such as an added token, is kept as text.
std::string bytes_of_letters(const std::string& token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const CodePoint c = code_point_at(token, at);
    const auto byte = c.valid ? byte_of_letter(c.value) : std::nullopt;
    if (!byte) return token;
    bytes.push_back(static_cast<char>(*byte));
    at += c.length;
  }
  return bytes;
}

Tokens apply_step(DecodeByteLevel, Tokens tokens) {
  std::string bytes;
  for (const std::string& token : tokens) bytes += bytes_of_letters(token);
  return {valid_utf8(bytes)};
}

std::string cleaned_up(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kChanges) text = replaced(text, from, to);
  return text;
}

Tokens apply_step(const DecodeWordPiece& step, Tokens tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) {
      const bool goes_on = !step.prefix.empty() && tokens[i].starts_with(step.prefix);
      tokens[i] = goes_on ? tokens[i].substr(step.prefix.size()) : " " + tokens[i];
    }
    if (step.cleanup) tokens[i] = cleaned_up(std::move(tokens[i]));
  }
  return tokens;
}

Tokens apply_step(const DecodeMetaspace& step, Tokens tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = replaced(tokens[i], step.replacement, i == 0 && step.drop_first ? "" : " ");
  }
  return tokens;
}

// Decodes runs of byte tokens; each byte that isn't part of valid UTF-8 becomes one U+FFFD.
Tokens apply_step(DecodeByteFallback, Tokens tokens) {
  Tokens out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (is_utf8(bytes)) {
      out.push_back(bytes);
    } else {
      for (size_t i = 0; i < bytes.size(); ++i) out.emplace_back(kReplacementText);
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const auto byte = byte_of_token(token)) {
      bytes.push_back(static_cast<char>(*byte));
    } else {
      flush();
      out.push_back(std::move(token));
    }
  }
  flush();
  return out;
}

Tokens apply_step(DecodeFuse, Tokens tokens) { return {joined(tokens)}; }

Tokens apply_step(const DecodeStrip& step, Tokens tokens) {
  for (std::string& token : tokens) {
    std::string_view rest = token;
    for (size_t i = 0; i < step.start && rest.starts_with(step.content); ++i) {
      rest.remove_prefix(step.content.size());
    }
    for (size_t i = 0; i < step.stop && rest.ends_with(step.content); ++i) {
      rest.remove_suffix(step.content.size());
    }
    token = std::string(rest);
  }
  return tokens;
}

Tokens apply_step(const DecodeReplace& step, Tokens tokens) {
  const size_t all = bytes_of(tokens);
  for (std::string& token : tokens) {
    Normalizer one;
    if (const auto* text = std::get_if<std::string>(&step.from)) {
      one.steps.emplace_back(ReplaceText{*text, step.to});
    } else {
      one.steps.emplace_back(ReplacePattern{std::get<1>(step.from), step.to});
    }
    token = one.apply(token, most_bytes_made_of(all));
  }
  return tokens;
}

Tokens apply_step(const DecodeWordSuffix& step, Tokens tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = replaced(tokens[i], step.suffix, i + 1 == tokens.size() ? "" : " ");
  }
  return tokens;
}

Tokens apply_step(const DecodeSentencePiece& step, Tokens tokens) {
  std::string out;
  std::string bytes;
  const auto flush = [&] {
    for (size_t at = 0; at < bytes.size();) {
      const CodePoint c = code_point_at(bytes, at);
      append_utf8(out, c.value);
      at += c.valid ? c.length : 1;
    }
    bytes.clear();
  };
  bool dropped = false;
  for (const std::string& token : tokens) {
    if (const auto byte = byte_of_token(token)) {
      bytes.push_back(static_cast<char>(*byte));
      continue;
    }
    flush();
    if (!step.unknown.empty() && token == step.unknown) {
      out += " \xE2\x81\x87 ";
      continue;
    }
    std::string_view rest = token;
    const bool at_start = out.empty() && !dropped;
    if (at_start && step.drop_first && rest.starts_with(kSpaceMark)) {
      rest.remove_prefix(kSpaceMark.size());
      dropped = !step.drop_all_at_start;
    }
    out += replaced(rest, kSpaceMark, " ");
  }
  flush();
  return {out};
}

}  // namespace

std::string Decoder::decode(std::vector<std::string> tokens) const {
  const size_t most = most_bytes_made_of(bytes_of(tokens));
  for (const DecoderStep& step : steps) {
    tokens =
        std::visit([&](const auto& kind) { return apply_step(kind, std::move(tokens)); }, step);
    check_growth(bytes_of(tokens), most);
  }
  return valid_utf8(joined(tokens, between));
}

}  // namespace luminal::tokens
