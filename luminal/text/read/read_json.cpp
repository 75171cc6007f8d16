// Reads tokenizer.json, the format of Hugging Face's tokenizers library.
#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/text/read/checked_json.h"
#include "luminal/text/read/json_steps.h"
#include "luminal/text/read/read_tokenizer.h"

namespace luminal::tokens {
namespace {

// Ids may have gaps, but not so many that a small file takes much memory.
constexpr size_t kMaxHoles = 65536;

// {"token": id}
std::vector<std::string> vocabulary_object(const JsonNode& node) {
  if (!node.is_object()) node.fail("isn't an object of tokens and their ids");
  std::vector<std::string> tokens;
  const size_t limit = std::min(Vocabulary::kMaxTokens, node.size() + kMaxHoles);
  for (const auto& [token, id] : node.raw().items()) {
    const size_t place = id.is_number_unsigned() ? id.get<size_t>() : limit;
    if (place >= limit) node.at(token.c_str()).fail("isn't an id within the number of tokens");
    if (place >= tokens.size()) tokens.resize(place + 1);
    if (!tokens[place].empty()) node.at(token.c_str()).fail("has the id of another token");
    tokens[place] = token;
  }
  return tokens;
}

// "left right", or ["left", "right"]; nullopt for anything else.
std::optional<std::pair<std::string, std::string>> merge_of(const Json& value) {
  if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
    return std::pair(value[0].get_ref<const std::string&>(),
                     value[1].get_ref<const std::string&>());
  }
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  const size_t space = text.find(' ');
  if (space == text.npos || text.find(' ', space + 1) != text.npos) return std::nullopt;
  return std::pair(text.substr(0, space), text.substr(space + 1));
}

std::vector<std::pair<std::string, std::string>> merges_of(const JsonNode& node) {
  if (!node.is_list()) node.fail("isn't a list");
  std::vector<std::pair<std::string, std::string>> merges;
  merges.reserve(node.size());
  for (size_t i = 0; i < node.size(); ++i) {
    auto merge = merge_of(node.raw()[i]);
    if (!merge) node.at(i).fail("isn't two tokens with a space between them, or a pair of them");
    merges.push_back(std::move(*merge));
  }
  return merges;
}

class Reader {
 public:
  Reader(const JsonNode& top, TokenizerParts& parts) : top_(top), parts_(parts) {}

  TokenModel model() {
    const JsonNode node = top_.at("model");
    // Old files don't give the type of their model.
    const std::string type =
        node.text_or("type", node.has("merges")                                ? "BPE"
                             : node.has("vocab") && node.at("vocab").is_list() ? "Unigram"
                                                                               : "WordPiece");
    if (type == "BPE") return bpe(node);
    if (type == "Unigram") return unigram(node);
    if (type == "WordPiece") return word_piece(node);
    node.fail(fmt::format("is a '{}', which isn't known", type));
  }

  std::vector<AddedToken> added_tokens() {
    std::vector<AddedToken> tokens;
    if (!top_.has("added_tokens")) return tokens;
    const size_t n = parts_.vocabulary->size();
    const auto limit = static_cast<int64_t>(std::min(Vocabulary::kMaxTokens, n + kMaxHoles));
    top_.at("added_tokens").each_item([&](const JsonNode& node) {
      AddedToken token{.id = static_cast<TokenId>(node.at("id").integer(0, limit)),
                       .content = node.at("content").text(),
                       .special = node.flag_or("special", false),
                       .normalized = node.flag_or("normalized", true),
                       .single_word = node.flag_or("single_word", false),
                       .strip_left = node.flag_or("lstrip", false),
                       .strip_right = node.flag_or("rstrip", false)};
      check_added(node, token);
      tokens.push_back(std::move(token));
    });
    return tokens;
  }

 private:
  void set_vocabulary(std::vector<std::string> tokens) {
    parts_.vocabulary = std::make_shared<const Vocabulary>(std::move(tokens));
  }

  TokenModel bpe(const JsonNode& node) {
    set_vocabulary(vocabulary_object(node.at("vocab")));
    if (node.has("dropout") && node.at("dropout").number() != 0) {
      node.fail("has a dropout, which makes every run differ");
    }
    BpeOptions options{.unknown = {},
                       .fuse_unknown = node.flag_or("fuse_unk", false),
                       .byte_fallback = node.flag_or("byte_fallback", false),
                       .ignore_merges = node.flag_or("ignore_merges", false),
                       .continuing_prefix = node.text_or("continuing_subword_prefix", ""),
                       .word_suffix = node.text_or("end_of_word_suffix", "")};
    if (node.has("unk_token")) options.unknown = node.at("unk_token").text();
    split_words();
    return Bpe(parts_.vocabulary, merges_of(node.at("merges")), std::move(options));
  }

  // Without a pre-tokenizer the text is still split into words if no token spans two of them, so
  // that the cache encodes each word once.
  void split_words() {
    if (top_.has("pre_tokenizer") || !words_are_apart(*parts_.vocabulary)) return;
    parts_.pre_tokenizer.steps.emplace_back(SplitBeforeMarks{});
  }

  TokenModel unigram(const JsonNode& node) {
    std::vector<std::string> tokens;
    std::vector<double> scores;
    node.at("vocab").each_item([&](const JsonNode& item) {
      tokens.push_back(item.at(size_t{0}).text());
      scores.push_back(item.at(size_t{1}).number());
    });
    UnigramOptions options;
    options.byte_fallback = node.flag_or("byte_fallback", false);
    if (node.has("unk_id")) {
      const auto last = static_cast<int64_t>(tokens.size()) - 1;
      options.unknown = static_cast<TokenId>(node.at("unk_id").integer(0, last));
    }
    set_vocabulary(std::move(tokens));
    return Unigram(parts_.vocabulary, std::move(scores), std::move(options));
  }

  TokenModel word_piece(const JsonNode& node) {
    set_vocabulary(vocabulary_object(node.at("vocab")));
    return WordPiece(
        parts_.vocabulary, node.text_or("unk_token", "[UNK]"),
        node.text_or("continuing_subword_prefix", "##"),
        static_cast<size_t>(node.integer_or("max_input_chars_per_word", 0, 1 << 20, 100)));
  }

  void check_added(const JsonNode& node, const AddedToken& token) const {
    const auto in_model = parts_.vocabulary->find(token.content);
    if (in_model && *in_model != token.id) {
      node.fail(fmt::format("has the id {}, but the vocabulary has {} for its content", token.id,
                            *in_model));
    }
    const bool in_range = static_cast<size_t>(token.id) < parts_.vocabulary->size();
    if (!in_model && in_range && !parts_.vocabulary->token(token.id).empty()) {
      node.fail(fmt::format("has the id {} of another token", token.id));
    }
  }

  const JsonNode& top_;
  TokenizerParts& parts_;
};

// "</s>", or {"content": "</s>", …}.
std::optional<TokenId> config_token(const JsonNode& config, const char* key,
                                    const TokenizerParts& parts) {
  if (!config.has(key)) return std::nullopt;
  const JsonNode node = config.at(key);
  const std::string content = node.is_text() ? node.text() : node.at("content").text();
  if (const AddedToken* added = parts.added.find(content)) return added->id;
  return parts.vocabulary->find(content);
}

// A string, or a list of named templates, of which "default" is the one for chat.
std::string chat_template_of(const JsonNode& node) {
  if (node.is_text()) return node.text();
  std::string found;
  node.each_item([&](const JsonNode& item) {
    if (item.at("name").text() == "default") found = item.at("template").text();
  });
  return found;
}

void read_config(const JsonNode& config, TokenizerParts& parts) {
  parts.bos = config_token(config, "bos_token", parts);
  parts.eos = config_token(config, "eos_token", parts);
  parts.padding = config_token(config, "pad_token", parts);
  if (config.has("chat_template"))
    parts.chat_template = chat_template_of(config.at("chat_template"));
}

}  // namespace

TokenizerParts read_json(std::string_view json, std::string_view config,
                         const std::string& source) {
  const Json value = parse_json(json, source);
  const JsonNode top(value, source);
  TokenizerParts parts;
  parts.source = source;
  Reader reader(top, parts);
  parts.model = std::make_shared<const TokenModel>(reader.model());
  if (top.has("normalizer")) read_normalizer(top.at("normalizer"), parts.normalizer);
  if (top.has("pre_tokenizer")) read_pre_tokenizer(top.at("pre_tokenizer"), parts.pre_tokenizer);
  if (top.has("post_processor")) {
    read_post_processor(top.at("post_processor"), parts.before, parts.after);
  }
  if (top.has("decoder")) {
    read_decoder(top.at("decoder"), parts.decoder);
  } else {
    parts.decoder.between = " ";
  }
  std::vector<AddedToken> added = reader.added_tokens();
  std::vector<std::string> normalized;
  for (const AddedToken& token : added) {
    // A small limit per token: with the default of 16 MB each, a long list could take gigabytes.
    normalized.push_back(parts.normalizer.apply(token.content, 4096 + 64 * token.content.size()));
  }
  parts.added = AddedTokens(std::move(added), normalized);
  if (!config.empty()) {
    const std::string config_source = source + " (tokenizer_config.json)";
    const Json config_value = parse_json(config, config_source);
    read_config(JsonNode(config_value, config_source), parts);
  }
  return parts;
}

}  // namespace luminal::tokens
