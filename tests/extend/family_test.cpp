// A model family from outside, in a file format from outside: opened, compiled and generating text
// like any other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "luminal/luminal.h"
#include "tests/extend/toy_format.h"
#include "tests/support/user_error.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::user_error;
using toy::TemporaryToy;

struct BigramConfig {
  int64_t vocab_size = 0;
  int64_t features = 0;
  int64_t context = 0;
};

// The next token by the last one alone: a row of a table, and a linear layer.
llm::DecoderGraph build_bigram(const nn::Scope& scope, const BigramConfig& config,
                               const llm::DecoderOptions& options) {
  const int64_t longest = options.longest_chunk > 0 ? options.longest_chunk : config.context;
  llm::DecoderGraph made;
  made.s = Expr::var("s", 1, longest);
  made.ids = scope.graph().input("ids", {made.s}, DType::I32);
  Tensor x = nn::embedding(scope.child("table"), made.ids, config.vocab_size, config.features);
  if (!options.every_logit) x = x.slice(0, made.s - 1, made.s);
  const Tensor logits = nn::linear(scope.child("head"), x, config.vocab_size, {.bias = false});
  made.logits = logits.cast(DType::F32).output("logits");
  return made;
}

// The file has no "vocab_size": the table tells. It calls "table.weight" just "table".
llm::Decoder read_bigram(const ModelFiles& files) {
  const Settings& settings = *files.description.settings;
  const TensorInfo* table = files.weights->find("table");
  if (!table) throw UserError("bigram: '" + settings.name() + "': lacks the tensor 'table'");
  const BigramConfig config{.vocab_size = table->dims[0],
                            .features = settings.int_at("features"),
                            .context = settings.find_int("context").value_or(16)};
  return {
      .architecture = {},
      .vocab_size = config.vocab_size,
      .context = config.context,
      .lookup_table = "table.weight",
      .build =
          [config](const nn::Scope& scope, const llm::DecoderOptions& options) {
            return build_bigram(scope, config, options);
          },
      .name_in_file = [](const WeightSource&,
                         const std::string& weight) { return weight.substr(0, weight.find('.')); }};
}

llm::OpenOptions with_bigram() {
  llm::OpenOptions options;
  options.formats.add(toy::toy_format());
  options.families.add(llm::DecoderFamily{
      .architecture = "bigram", .naming = std::string(toy::kNaming), .read = read_bigram});
  return options;
}

// Each letter is followed by the next, and "d" by the end.
const char* const kAlphabet = R"(TOY
{"architecture": "bigram", "features": 5}
tokens a b c d <end>
tensor table 5 5 : 1 0 0 0 0  0 1 0 0 0  0 0 1 0 0  0 0 0 1 0  0 0 0 0 1
tensor head 5 5 : 0 0 0 0 1  1 0 0 0 0  0 1 0 0 0  0 0 1 0 0  0 0 0 1 0
)";

llm::SessionOptions on_backend(const std::string& backend) {
  return {
      .compile = {.backend = {.name = backend, .threads = 1}, .storage = {.cache_folder = "none"}}};
}

class FamilyOn : public testing::TestWithParam<std::string> {};

TEST_P(FamilyOn, WritesText) {
  const TemporaryToy file(kAlphabet);
  const llm::Model model = llm::Model::open(file.path(), with_bigram());
  EXPECT_EQ(model.decoder().architecture, "bigram");
  EXPECT_EQ(model.decoder().vocab_size, 5);
  EXPECT_THAT(model.end_ids(), ElementsAre(4));
  llm::Session session(model, on_backend(GetParam()));
  const llm::Generated answer =
      llm::generate(session, model.tokenizer().encode("da"), {.sampling = {}, .max_tokens = 8});
  EXPECT_EQ(answer.text, "bcd");
  EXPECT_THAT(answer.ids, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(answer.reason, llm::EndReason::EndToken);
  EXPECT_EQ(session.cache_bytes(4), 0) << "it has no cache";
}

INSTANTIATE_TEST_SUITE_P(Backends, FamilyOn, testing::Values("interp", "cpu"));

TEST(FamilyFromOutside, LooksLikeAModelWhereItsFormatIsKnown) {
  const TemporaryToy file(kAlphabet);
  EXPECT_TRUE(llm::looks_like_model(file.path(), with_bigram().formats));
  EXPECT_FALSE(llm::looks_like_model(file.path()));
}

TEST(FamilyFromOutside, WhatIsMissingIsNamed) {
  const TemporaryToy file(kAlphabet);
  EXPECT_THAT(user_error([&] { llm::Model::open(file.path()); }), HasSubstr("is not a model"));
  llm::OpenOptions no_family;
  no_family.formats.add(toy::toy_format());
  EXPECT_THAT(user_error([&] { llm::Model::open(file.path(), no_family); }),
              HasSubstr("the architecture 'bigram', which isn't supported"));
  const TemporaryToy other(R"(TOY
{"architecture": "trigram", "features": 5}
)");
  EXPECT_THAT(user_error([&] { llm::Model::open(other.path(), with_bigram()); }),
              HasSubstr("'trigram', which isn't supported; those that are: bigram"));
  const TemporaryToy empty(R"(TOY
{"architecture": "bigram", "features": 5}
)");
  EXPECT_THAT(user_error([&] { llm::Model::open(empty.path(), with_bigram()); }),
              HasSubstr("lacks the tensor 'table'"));
  FileFormat hollow = toy::toy_format();
  hollow.open_model = [](const std::string&) { return ModelFiles(); };
  llm::OpenOptions of_hollow;
  of_hollow.formats.add(hollow);
  EXPECT_THAT(user_error([&] { llm::Model::open(file.path(), of_hollow); }),
              HasSubstr("must give settings, weights and a tokenizer"));
}

}  // namespace
}  // namespace luminal
