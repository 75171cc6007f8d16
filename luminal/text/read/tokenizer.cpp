#include "luminal/text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/text/read/read_tokenizer.h"
#include "luminal/text/tokenize/tokenizer_parts.h"
#include "luminal/text/tokenize/word_cache.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal {
namespace {

using tokens::AddedTokens;
using tokens::TokenizerParts;

std::string contents(const std::filesystem::path& path) {
  const base::MappedFile file(path.string());
  return {reinterpret_cast<const char*>(file.bytes().data()), file.size()};
}

// The ranges clipped to a part of the text, relative to its beginning.
std::vector<TextRange> ranges_in(std::span<const TextRange> ranges, size_t begin, size_t end) {
  std::vector<TextRange> result;
  auto next = std::partition_point(ranges.begin(), ranges.end(),
                                   [&](const TextRange& range) { return range.end <= begin; });
  for (; next != ranges.end() && next->begin < end; ++next) {
    result.push_back({std::max(next->begin, begin) - begin, std::min(next->end, end) - begin});
  }
  return result;
}

// Replaces invalid UTF-8 by U+FFFD and moves the ranges along.
std::string valid_text(std::string_view text, std::vector<TextRange>& ranges) {
  std::string valid;
  size_t done = 0;
  const auto copy_to = [&](size_t end) {
    valid += tokens::valid_utf8(text.substr(done, end - done));
    done = end;
    return valid.size();
  };
  for (TextRange& range : ranges) {
    const size_t begin = copy_to(range.begin);
    range = {begin, copy_to(range.end)};
  }
  copy_to(text.size());
  return valid;
}

std::vector<TextRange> checked(std::span<const TextRange> ranges, size_t size) {
  size_t done = 0;
  for (const TextRange& range : ranges) {
    if (range.begin < done || range.end < range.begin || range.end > size) {
      throw UserError(
          fmt::format("tokenizer: the plain range [{}, {}) isn't within the text of {} bytes, or "
                      "overlaps the range before it",
                      range.begin, range.end, size));
    }
    done = range.end;
  }
  return {ranges.begin(), ranges.end()};
}

// One call of encode(); caches its words.
class Encoder {
 public:
  Encoder(const TokenizerParts& parts, size_t text_bytes) : parts_(parts), cache_(text_bytes) {}

  void encode(std::string_view text, bool with_special, std::span<const TextRange> plain,
              std::vector<TokenId>& ids) {
    for (const AddedTokens::Part& raw : parts_.added.split(text, false, with_special, plain)) {
      if (raw.token) {
        ids.push_back(raw.token->id);
        continue;
      }
      const bool at_start = raw.text.data() == text.data();
      const std::string normalized = parts_.normalizer.apply(raw.text);
      const auto begin = static_cast<size_t>(raw.text.data() - text.data());
      const std::vector<TextRange> ranges = ranges_in(plain, begin, begin + raw.text.size());
      for (const AddedTokens::Part& part :
           split_normalized(raw.text, normalized, with_special, ranges)) {
        if (part.token) {
          ids.push_back(part.token->id);
        } else {
          words(part.text, at_start && part.text.data() == normalized.data(), ids);
        }
      }
    }
  }

 private:
  // Ranges refer to the raw text. If the normalised text has special tokens at all, the ranges are
  // mapped to it by normalising the text before each of their ends.
  std::vector<AddedTokens::Part> split_normalized(std::string_view raw,
                                                  const std::string& normalized, bool with_special,
                                                  std::span<const TextRange> ranges) const {
    std::vector<AddedTokens::Part> parts = parts_.added.split(normalized, true, with_special);
    const bool any_special = std::any_of(parts.begin(), parts.end(), [](const auto& part) {
      return part.token && part.token->special;
    });
    if (ranges.empty() || !any_special) return parts;
    std::vector<TextRange> found;
    size_t done = 0;
    const auto place_of = [&](size_t end) {
      const std::string before = parts_.normalizer.apply(raw.substr(0, end));
      if (normalized.starts_with(before)) done = std::max(done, before.size());
      return normalized.starts_with(before);
    };
    for (const TextRange& range : ranges) {
      bool known = place_of(range.begin);
      const size_t begin = done;
      known = (range.end == raw.size() || place_of(range.end)) && known;
      if (!known) return parts_.added.split(normalized, true, false);
      found.push_back({begin, range.end == raw.size() ? normalized.size() : done});
    }
    return parts_.added.split(normalized, true, with_special, found);
  }

  void words(std::string_view text, bool at_start, std::vector<TokenId>& ids) {
    parts_.pre_tokenizer.run(text, at_start, [&](std::string_view word) {
      cache_.append(word, ids, [&](std::string_view new_word, std::vector<TokenId>& out) {
        std::visit([&](const auto& model) { model.encode(new_word, out); }, *parts_.model);
      });
    });
  }

  const TokenizerParts& parts_;
  tokens::WordCache cache_;
};

// Truncates to leave room for the special tokens after the text.
void shorten(const TokenizerParts& parts, const EncodeOptions& options, std::vector<TokenId>& ids) {
  const size_t after = options.add_special ? parts.after.size() : 0;
  const size_t around = options.add_special ? parts.before.size() + after : 0;
  if (around > options.longest) {
    throw UserError(fmt::format(
        "tokenizer: {} puts {} special tokens around a text, which don't fit in {} tokens",
        parts.source, around, options.longest));
  }
  if (ids.size() + after > options.longest) ids.resize(options.longest - after);
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}

Tokenizer Tokenizer::open(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path file = path;
  if (fs::is_directory(file, ignored)) {
    file = fs::path(path) / "tokenizer.json";
    if (!fs::exists(file, ignored)) file = fs::path(path) / "tokenizer.model";
    if (!fs::exists(file, ignored)) {
      throw UserError(fmt::format(
          "tokenizer: '{}' holds neither tokenizer.json nor tokenizer.model; name the file", path));
    }
  }
  if (file.extension() == ".model") return from_sentencepiece(contents(file), file.string());
  const auto beside = [&](const char* name) {
    const fs::path other = file.parent_path() / name;
    return fs::exists(other, ignored) ? contents(other) : std::string();
  };
  auto parts = std::make_shared<TokenizerParts>(
      tokens::read_json(contents(file), beside("tokenizer_config.json"), file.string()));
  if (parts->chat_template.empty()) parts->chat_template = beside("chat_template.jinja");
  return Tokenizer(std::move(parts));
}

Tokenizer Tokenizer::from_json(std::string_view json, std::string_view config,
                               const std::string& source) {
  return Tokenizer(std::make_shared<TokenizerParts>(tokens::read_json(json, config, source)));
}

Tokenizer Tokenizer::from_sentencepiece(std::string_view model, const std::string& source) {
  return Tokenizer(std::make_shared<TokenizerParts>(tokens::read_sentencepiece(model, source)));
}

Tokenizer Tokenizer::from_vocabulary(const VocabularyData& data) {
  return Tokenizer(std::make_shared<TokenizerParts>(tokens::read_vocabulary(data)));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<TextRange> plain = checked(options.plain, text.size());
  std::string valid;
  if (!tokens::is_utf8(text)) {
    valid = valid_text(text, plain);
    text = valid;
  }
  std::vector<TokenId> ids;
  if (options.add_special) ids = parts_->before;
  Encoder(*parts_, text.size()).encode(text, options.parse_special, plain, ids);
  if (options.longest > 0) shorten(*parts_, options, ids);
  if (options.add_special) ids.insert(ids.end(), parts_->after.begin(), parts_->after.end());
  return ids;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, const DecodeOptions& options) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (TokenId id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= size()) {
      throw UserError(fmt::format("tokenizer: there is no token {}; the vocabulary of {} has {}",
                                  id, parts_->source, size()));
    }
    if (options.skip_special && is_special(id)) continue;
    tokens.push_back(token(id));
  }
  return parts_->decoder.decode(std::move(tokens));
}

size_t Tokenizer::size() const { return std::max(parts_->vocabulary->size(), parts_->added.end()); }

std::string Tokenizer::token(TokenId id) const {
  if (const tokens::AddedToken* added = parts_->added.find(id)) return added->content;
  if (id < 0 || static_cast<size_t>(id) >= parts_->vocabulary->size()) return {};
  return parts_->vocabulary->token(id);
}

std::optional<TokenId> Tokenizer::id(std::string_view token) const {
  if (const tokens::AddedToken* added = parts_->added.find(token)) return added->id;
  return parts_->vocabulary->find(token);
}

bool Tokenizer::is_special(TokenId id) const {
  const tokens::AddedToken* added = parts_->added.find(id);
  return added && added->special;
}

std::optional<TokenId> Tokenizer::bos() const { return parts_->bos; }
std::optional<TokenId> Tokenizer::eos() const { return parts_->eos; }
std::optional<TokenId> Tokenizer::padding() const { return parts_->padding; }
const std::string& Tokenizer::chat_template() const { return parts_->chat_template; }

}  // namespace luminal
