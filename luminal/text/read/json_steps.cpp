#include "luminal/text/read/json_steps.h"

#include <fmt/format.h>

#include <variant>

#include "luminal/base/errors.h"
#include "luminal/text/read/base64.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

constexpr size_t kMaxJsonSteps = 64;
constexpr std::string_view kWords = R"(\w+|[^\w\s]+)";

template <typename Steps>
void check_count(const JsonNode& node, const Steps& steps) {
  if (steps.size() > kMaxJsonSteps) node.fail(fmt::format("has more than {} steps", kMaxJsonSteps));
}

std::shared_ptr<const Pattern> pattern_of(const JsonNode& node) {
  try {
    return std::make_shared<Pattern>(node.text());
  } catch (const UserError& error) {
    node.fail(fmt::format("can't be used: {}", error.what()));
  }
}

// {"String": "…"} or {"Regex": "…"}.
std::variant<std::string, std::shared_ptr<const Pattern>> text_or_pattern(const JsonNode& node) {
  if (node.has("Regex")) return pattern_of(node.at("Regex"));
  const std::string text = node.at("String").text();
  if (text.empty()) node.fail("is an empty string, which matches everywhere");
  return text;
}

SplitBehavior behavior_of(const JsonNode& node) {
  const std::string& text = node.text();
  if (text == "Removed") return SplitBehavior::Removed;
  if (text == "Isolated") return SplitBehavior::Isolated;
  if (text == "MergedWithPrevious") return SplitBehavior::MergedWithPrevious;
  if (text == "MergedWithNext") return SplitBehavior::MergedWithNext;
  if (text == "Contiguous") return SplitBehavior::Contiguous;
  node.fail(fmt::format("is '{}', which isn't known", text));
}

PrependScheme scheme_of(const JsonNode& node) {
  if (!node.has("prepend_scheme")) {
    return node.flag_or("add_prefix_space", true) ? PrependScheme::Always : PrependScheme::Never;
  }
  const std::string& text = node.at("prepend_scheme").text();
  if (text == "always") return PrependScheme::Always;
  if (text == "first") return PrependScheme::First;
  if (text == "never") return PrependScheme::Never;
  node.at("prepend_scheme").fail(fmt::format("is '{}', which isn't known", text));
}

std::string one_character(const JsonNode& node) {
  const std::string& text = node.text();
  if (text.empty() || code_point_at(text, 0).length != text.size()) {
    node.fail("isn't one character");
  }
  return text;
}

BertCleaning bert_cleaning(const JsonNode& node) {
  const bool lower_case = node.flag_or("lowercase", true);
  return {.clean_text = node.flag_or("clean_text", true),
          .space_chinese = node.flag_or("handle_chinese_chars", true),
          .strip_accents = node.flag_or("strip_accents", lower_case),
          .lower_case = lower_case};
}

NormalizerStep charsmap_of(const JsonNode& node) {
  const auto blob = from_base64(node.text());
  if (!blob) node.fail("isn't base64");
  return MapCharacters{std::make_shared<Charsmap>(*blob)};
}

NormalizerStep replacement_of(const JsonNode& node) {
  const auto from = text_or_pattern(node.at("pattern"));
  const std::string& to = node.at("content").text();
  if (const auto* text = std::get_if<std::string>(&from)) return ReplaceText{*text, to};
  return ReplacePattern{std::get<1>(from), to};
}

// {"cls": ["[CLS]", 101], "sep": ["[SEP]", 102]}
TokenId processing_id(const JsonNode& node) {
  return static_cast<TokenId>(node.at(size_t{1}).integer(0, Vocabulary::kMaxTokens));
}

void read_template(const JsonNode& node, std::vector<TokenId>& before,
                   std::vector<TokenId>& after) {
  std::vector<TokenId> first;
  std::vector<TokenId> last;
  bool seen_text = false;
  node.at("single").each_item([&](const JsonNode& item) {
    if (item.has("Sequence")) {
      if (seen_text || item.at("Sequence").at("id").text() != "A") {
        item.fail("is a second text in the template for a single text");
      }
      seen_text = true;
      return;
    }
    const std::string& name = item.at("SpecialToken").at("id").text();
    node.at("special_tokens").at(name.c_str()).at("ids").each_item([&](const JsonNode& id) {
      const auto value = static_cast<TokenId>(id.integer(0, Vocabulary::kMaxTokens));
      (seen_text ? last : first).push_back(value);
      if (before.size() + after.size() + first.size() + last.size() > kMaxJsonSteps) {
        node.fail("adds too many tokens");
      }
    });
  });
  if (!seen_text) node.at("single").fail("has no place for the text");
  before.insert(before.begin(), first.begin(), first.end());
  after.insert(after.end(), last.begin(), last.end());
}

}  // namespace

std::shared_ptr<const Pattern> gpt2_words() {
  static const auto pattern = std::make_shared<const Pattern>(kGpt2Words);
  return pattern;
}

void read_normalizer(const JsonNode& node, Normalizer& normalizer) {
  const std::string& type = node.at("type").text();
  auto& steps = normalizer.steps;
  check_count(node, steps);
  if (type == "Sequence") {
    node.at("normalizers").each_item([&](const JsonNode& item) {
      read_normalizer(item, normalizer);
    });
  } else if (type == "NFC") {
    steps.emplace_back(NormalForm::NFC);
  } else if (type == "NFD") {
    steps.emplace_back(NormalForm::NFD);
  } else if (type == "NFKC") {
    steps.emplace_back(NormalForm::NFKC);
  } else if (type == "NFKD") {
    steps.emplace_back(NormalForm::NFKD);
  } else if (type == "Lowercase") {
    steps.emplace_back(LowerCase{});
  } else if (type == "Strip") {
    steps.emplace_back(
        StripSpace{node.flag_or("strip_left", true), node.flag_or("strip_right", true)});
  } else if (type == "StripAccents") {
    steps.emplace_back(StripAccents{});
  } else if (type == "Replace") {
    steps.push_back(replacement_of(node));
  } else if (type == "Prepend") {
    steps.emplace_back(PrependText{node.at("prepend").text()});
  } else if (type == "BertNormalizer") {
    steps.emplace_back(bert_cleaning(node));
  } else if (type == "Nmt") {
    steps.emplace_back(NmtCleaning{});
  } else if (type == "Precompiled") {
    steps.push_back(charsmap_of(node.at("precompiled_charsmap")));
  } else if (type == "ByteLevel") {
    steps.emplace_back(ToByteLetters{});
  } else {
    node.fail(fmt::format("is a '{}', which isn't known", type));
  }
}

void read_pre_tokenizer(const JsonNode& node, PreTokenizer& pre_tokenizer) {
  const std::string& type = node.at("type").text();
  auto& steps = pre_tokenizer.steps;
  check_count(node, steps);
  if (type == "Sequence") {
    node.at("pretokenizers").each_item([&](const JsonNode& item) {
      read_pre_tokenizer(item, pre_tokenizer);
    });
  } else if (type == "ByteLevel") {
    steps.emplace_back(
        SplitByteLevel{.add_prefix_space = node.flag_or("add_prefix_space", true),
                       .words = node.flag_or("use_regex", true) ? gpt2_words() : nullptr});
  } else if (type == "Split") {
    steps.emplace_back(SplitOn{text_or_pattern(node.at("pattern")),
                               behavior_of(node.at("behavior")), node.flag_or("invert", false)});
  } else if (type == "Digits") {
    steps.emplace_back(SplitCharacters{is_number, node.flag_or("individual_digits", false)
                                                      ? SplitBehavior::Isolated
                                                      : SplitBehavior::Contiguous});
  } else if (type == "Metaspace") {
    steps.emplace_back(SplitMetaspace{one_character(node.at("replacement")), scheme_of(node),
                                      node.flag_or("split", true)});
  } else if (type == "BertPreTokenizer") {
    steps.emplace_back(SplitCharacters{is_white_space, SplitBehavior::Removed});
    steps.emplace_back(SplitCharacters{is_bert_punctuation, SplitBehavior::Isolated});
  } else if (type == "Whitespace") {
    static const auto words = std::make_shared<const Pattern>(kWords);
    steps.emplace_back(SplitOn{words, SplitBehavior::Removed, true});
  } else if (type == "WhitespaceSplit") {
    steps.emplace_back(SplitCharacters{is_white_space, SplitBehavior::Removed});
  } else if (type == "Punctuation") {
    steps.emplace_back(SplitCharacters{is_bert_punctuation, node.has("behavior")
                                                                ? behavior_of(node.at("behavior"))
                                                                : SplitBehavior::Isolated});
  } else if (type == "CharDelimiterSplit") {
    const std::string delimiter = one_character(node.at("delimiter"));
    steps.emplace_back(SplitDelimiter{code_point_at(delimiter, 0).value});
  } else {
    node.fail(fmt::format("is a '{}', which isn't known", type));
  }
}

void read_decoder(const JsonNode& node, Decoder& decoder) {
  const std::string& type = node.at("type").text();
  auto& steps = decoder.steps;
  check_count(node, steps);
  if (type == "Sequence") {
    node.at("decoders").each_item([&](const JsonNode& item) { read_decoder(item, decoder); });
  } else if (type == "ByteLevel") {
    steps.emplace_back(DecodeByteLevel{});
  } else if (type == "WordPiece") {
    steps.emplace_back(
        DecodeWordPiece{node.text_or("prefix", "##"), node.flag_or("cleanup", true)});
  } else if (type == "Metaspace") {
    steps.emplace_back(DecodeMetaspace{one_character(node.at("replacement")),
                                       scheme_of(node) != PrependScheme::Never});
  } else if (type == "ByteFallback") {
    steps.emplace_back(DecodeByteFallback{});
  } else if (type == "Fuse") {
    steps.emplace_back(DecodeFuse{});
  } else if (type == "Strip") {
    steps.emplace_back(DecodeStrip{one_character(node.at("content")),
                                   static_cast<size_t>(node.integer_or("start", 0, 1 << 20, 0)),
                                   static_cast<size_t>(node.integer_or("stop", 0, 1 << 20, 0))});
  } else if (type == "Replace") {
    steps.emplace_back(
        DecodeReplace{text_or_pattern(node.at("pattern")), node.at("content").text()});
  } else if (type == "BPEDecoder") {
    steps.emplace_back(DecodeWordSuffix{node.text_or("suffix", "</w>")});
  } else {
    node.fail(fmt::format("is a '{}', which isn't known", type));
  }
}

void read_post_processor(const JsonNode& node, std::vector<TokenId>& before,
                         std::vector<TokenId>& after) {
  const std::string& type = node.at("type").text();
  if (type == "Sequence") {
    node.at("processors").each_item([&](const JsonNode& item) {
      read_post_processor(item, before, after);
    });
  } else if (type == "TemplateProcessing") {
    read_template(node, before, after);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    before.insert(before.begin(), processing_id(node.at("cls")));
    after.push_back(processing_id(node.at("sep")));
    if (before.size() > kMaxJsonSteps) node.fail("adds too many tokens");
  } else if (type != "ByteLevel") {
    node.fail(fmt::format("is a '{}', which isn't known", type));
  }
}

}  // namespace luminal::tokens
