// luminal tokenize: the tokens of a text by a model's tokenizer, and the text of token ids.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/files/files.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/json_result.h"
#include "luminal/base/errors.h"
#include "luminal/base/text/json_text.h"
#include "luminal/io/gguf_vocabulary.h"
#include "luminal/text/tokenizer.h"

namespace luminal::cli {
namespace {

struct TokenizeArguments {
  std::string tokenizer;
  std::string file = "-";
  std::string prompt;
  bool has_prompt = false;
  bool decode = false;
  bool ids_only = false;
  bool no_special = false;
  bool json = false;
};

std::vector<TokenId> read_ids(std::string_view text) {
  std::vector<TokenId> ids;
  while (true) {
    const size_t begin = text.find_first_not_of(" \t\r\n,[]");
    if (begin == text.npos) return ids;
    text.remove_prefix(begin);
    TokenId id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc()) {
      throw UserError(
          fmt::format("'{}' isn't an id; --decode takes whole numbers with spaces between them",
                      text.substr(0, 20)));
    }
    ids.push_back(id);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

void tokenize(const TokenizeArguments& options) {
  const Tokenizer tokenizer = open_tokenizer(options.tokenizer);
  const std::string text = options.has_prompt ? options.prompt : read_text(options.file);
  if (options.decode) {
    if (options.json) return print_json_result({{"text", tokenizer.decode(read_ids(text))}});
    std::cout << tokenizer.decode(read_ids(text)) << "\n";
    return;
  }
  const std::vector<TokenId> ids = tokenizer.encode(text, {.add_special = !options.no_special});
  if (options.json) {
    nlohmann::ordered_json tokens = nlohmann::ordered_json::array();
    for (const TokenId id : ids) tokens.push_back({{"id", id}, {"token", tokenizer.token(id)}});
    return print_json_result(tokens);
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    if (options.ids_only) {
      std::cout << (i == 0 ? "" : " ") << ids[i];
    } else {
      std::cout << fmt::format("{:>7}  {}\n", ids[i], base::json_quoted(tokenizer.token(ids[i])));
    }
  }
  if (options.ids_only) std::cout << "\n";
}

}  // namespace

void define_tokenize(CLI::App& app) {
  auto options = std::make_shared<TokenizeArguments>();
  app.add_option("tokenizer", options->tokenizer,
                 "tokenizer.json, tokenizer.model or GGUF file, or a model's folder with one of "
                 "the first two")
      ->required();
  CLI::Option* file =
      app.add_option("file", options->file,
                     "File with text, or with ids for --decode; - for standard input")
          ->capture_default_str();
  CLI::Option* prompt =
      app.add_option("-p,--prompt", options->prompt, "Text to tokenize")->excludes(file);
  app.add_flag("--decode", options->decode, "Convert ids to text");
  app.add_flag("--ids", options->ids_only, "Print only the ids, on one line");
  app.add_flag("--no-special", options->no_special, "Omit the special tokens around the text");
  add_json(app, options->json);
  app.callback([options, prompt] {
    options->has_prompt = prompt->count() > 0;
    tokenize(*options);
  });
}

}  // namespace luminal::cli
