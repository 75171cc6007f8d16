#include "luminal/io/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "tests/io/gguf_builder.h"
#include "tests/support/user_error.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using tests::user_error;

Gguf parse_gguf(const std::string& bytes) {
  // A copy of the exact size on the heap, so that sanitizers see a read past its end.
  auto owner = std::make_shared<std::vector<char>>(bytes.begin(), bytes.end());
  return Gguf::parse(std::as_bytes(std::span(*owner)), owner, "hostile.gguf");
}

std::string every_kind() {
  GgufParts parts;
  parts.metadata = {
      entry("u8", GgufKind::U8, raw(uint8_t{255})),
      entry("i8", GgufKind::I8, raw(int8_t{-128})),
      entry("u16", GgufKind::U16, raw(uint16_t{65535})),
      entry("i16", GgufKind::I16, raw(int16_t{-2})),
      entry("u32", GgufKind::U32, raw(uint32_t{4000000000})),
      entry("i32", GgufKind::I32, raw(int32_t{-3})),
      entry("f32", GgufKind::F32, raw(0.5f)),
      entry("bool", GgufKind::Bool, raw(uint8_t{1})),
      entry("string", GgufKind::String, counted("grüße\n")),
      entry("u64", GgufKind::U64, raw(~uint64_t{0})),
      entry("i64", GgufKind::I64, raw(int64_t{-4})),
      entry("f64", GgufKind::F64, raw(0.25)),
      entry("texts", GgufKind::Array, array_of(GgufKind::String, 2, counted("a") + counted(""))),
      entry("ints", GgufKind::Array,
            array_of(GgufKind::I16, 2, raw(int16_t{-1}) + raw(int16_t{7}))),
      entry("reals", GgufKind::Array, array_of(GgufKind::F32, 1, raw(1.5f))),
      entry("bools", GgufKind::Array, array_of(GgufKind::Bool, 3, {1, 0, 1})),
      entry("none", GgufKind::Array, array_of(GgufKind::F32, 0, "")),
      entry("nested", GgufKind::Array,
            array_of(GgufKind::Array, 2,
                     array_of(GgufKind::U8, 1, "\x05") + array_of(GgufKind::String, 0, ""))),
  };
  return parts.bytes();
}

TEST(Gguf, MetadataHasItsValuesAndKinds) {
  const Gguf file = parse_gguf(every_kind());
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.metadata().size(), 18u);
  EXPECT_THAT(file.find_int("u8"), Optional(255));
  EXPECT_THAT(file.find_int("i8"), Optional(-128));
  EXPECT_THAT(file.find_int("u16"), Optional(65535));
  EXPECT_THAT(file.find_int("i16"), Optional(-2));
  EXPECT_THAT(file.find_int("u32"), Optional(4000000000));
  EXPECT_THAT(file.find_int("i32"), Optional(-3));
  EXPECT_THAT(file.find_int("i64"), Optional(-4));
  EXPECT_THAT(file.find_real("u64"), Optional(18446744073709551615.0));
  EXPECT_THAT(file.find_real("f32"), Optional(0.5));
  EXPECT_THAT(file.find_real("f64"), Optional(0.25));
  EXPECT_THAT(file.find_real("i32"), Optional(-3.0));
  EXPECT_THAT(file.find_bool("bool"), Optional(true));
  EXPECT_THAT(file.find_text("string"), Optional(std::string("grüße\n")));
  EXPECT_THAT(file.find_texts("texts"), Optional(ElementsAre("a", "")));
  EXPECT_THAT(file.find_ints("ints"), Optional(ElementsAre(-1, 7)));
  EXPECT_THAT(file.find_reals("reals"), Optional(ElementsAre(1.5)));
  EXPECT_THAT(file.find_reals("ints"), Optional(ElementsAre(-1, 7)));
  EXPECT_THAT(file.find_ints("none"), Optional(ElementsAre()));
  EXPECT_EQ(file.value("bools")->size(), 3u);
  EXPECT_EQ(file.value("ints")->size(), 2u);
  EXPECT_EQ(file.value("nested")->size(), 2u);
  EXPECT_THAT(file.value("nested")->arrays[0].to_ints(), Optional(ElementsAre(5)));
  EXPECT_EQ(file.find_int("absent"), std::nullopt);
}

TEST(Gguf, AValueOfAnotherKindIsAnErrorThatNamesIt) {
  const Gguf file = parse_gguf(every_kind());
  EXPECT_EQ(user_error([&] { file.find_int("f32"); }),
            "gguf: 'hostile.gguf': metadata 'f32' has type f32, but an integer is expected");
  EXPECT_THAT(user_error([&] { file.find_int("u64"); }), HasSubstr("an integer is expected"));
  EXPECT_THAT(user_error([&] { file.find_int("ints"); }), HasSubstr("has type array of i16"));
  EXPECT_THAT(user_error([&] { file.find_ints("texts"); }), HasSubstr("an array of integers"));
  EXPECT_THAT(user_error([&] { file.find_ints("bools"); }), HasSubstr("an array of integers"));
  EXPECT_THAT(user_error([&] { file.find_texts("reals"); }), HasSubstr("an array of strings"));
  EXPECT_THAT(user_error([&] { file.find_text("u8"); }), HasSubstr("a string is expected"));
  EXPECT_THAT(user_error([&] { file.find_bool("u8"); }), HasSubstr("a bool is expected"));
  EXPECT_EQ(user_error([&] { file.int_at("absent"); }),
            "gguf: 'hostile.gguf': lacks the metadata 'absent'");
}

TEST(Gguf, PlainTensorsAreReadInPlaceWithTheOutermostDimFirst) {
  GgufParts parts;
  parts.version = 2;
  parts.tensors = {tensor("w", {3, 2}, 0, 0), tensor("h", {4}, 30, 32), tensor("i", {}, 27, 64)};
  for (float value : {1, 2, 3, 4, 5, 6}) parts.data += raw(value);
  parts.data.resize(32);
  for (uint16_t bits : {0x3f80, 0x4000, 0x4040, 0x4080}) parts.data += raw(bits);
  parts.data.resize(64);
  parts.data += raw(int64_t{-9});
  const Gguf file = parse_gguf(parts.bytes());
  EXPECT_EQ(file.version(), 2u);
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].name, "h");
  EXPECT_THAT(file.find("w")->dims, ElementsAre(2, 3));
  EXPECT_THAT(file.data("w").to_doubles(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(file.data("w").bytes.data(), file.bytes("w").data());
  EXPECT_EQ(file.data("h").dtype, DType::BF16);
  EXPECT_THAT(file.data("h").to_doubles(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(file.data("i").to_ints(), ElementsAre(-9));
  EXPECT_THAT(user_error([&] { file.data("v"); }), HasSubstr("there is no tensor 'v'"));
}

TEST(Gguf, TheAlignmentIsTheFilesOwn) {
  GgufParts parts;
  parts.alignment = 256;
  parts.metadata = {entry("general.alignment", GgufKind::U32, raw(uint32_t{256}))};
  parts.tensors = {tensor("a", {1}, 24, 0), tensor("b", {1}, 24, 256)};
  parts.data = "\x01" + std::string(255, '\0') + "\x02";
  const Gguf file = parse_gguf(parts.bytes());
  EXPECT_EQ(file.alignment(), 256);
  EXPECT_THAT(file.data("a").to_ints(), ElementsAre(1));
  EXPECT_THAT(file.data("b").to_ints(), ElementsAre(2));
}

struct HostileGguf {
  std::string bytes;
  std::string fault;
};

std::string with_metadata(const std::string& one) { return GgufParts{.metadata = {one}}.bytes(); }

std::string with_tensors(std::vector<std::string> tensors, size_t data_bytes = 64) {
  return GgufParts{.tensors = std::move(tensors), .data = std::string(data_bytes, '\x01')}.bytes();
}

// Counts of tensors and of metadata that aren't those of what follows.
std::string with_counts(uint64_t tensors, uint64_t entries) {
  return "GGUF" + raw(uint32_t{3}) + raw(tensors) + raw(entries) + std::string(24, '\0');
}

std::vector<HostileGguf> hostile_starts() {
  const std::string good = with_tensors({tensor("w", {4}, 24, 0)});
  return {
      {"", "the start of the file takes 4 bytes at byte 0, where 0 are left"},
      {"GGU", "where 3 are left"},
      {"GGUF", "takes 4 bytes at byte 4"},
      {"PK\x03\x04" + std::string(60, 'x'), "doesn't start with 'GGUF'"},
      {"ggjt" + good.substr(4), "doesn't start with 'GGUF'"},
      {GgufParts{.version = 0}.bytes(), "has version 0"},
      {GgufParts{.version = 1}.bytes(), "has version 1; 2 and 3 are supported"},
      {GgufParts{.version = 4}.bytes(), "has version 4"},
      {GgufParts{.version = 0x03000000}.bytes(), "is big-endian, which isn't supported"},
      {good.substr(0, 12), "the start of the file takes 8 bytes at byte 8, where 4 are left"},
      {with_counts(0, ~0ull), "the metadata claims 18446744073709551615 items, more than fit"},
      {with_counts(0, 3), "the metadata claims 3 items, more than fit the 24 bytes left"},
      {with_counts(0, 1), "the key of metadata entry 0 is empty"},
      {with_counts(~0ull, 0), "the list of tensors claims 18446744073709551615 items"},
      {with_counts(1ull << 60, 0), "the list of tensors claims 1152921504606846976 items"},
      {with_counts(1, 0), "the name of tensor 0 is empty"},
  };
}

std::vector<HostileGguf> hostile_metadata() {
  const auto value = [](GgufKind kind, const std::string& bytes) {
    return with_metadata(entry("k", kind, bytes));
  };
  const auto array = [&](GgufKind element, uint64_t count, const std::string& bytes) {
    return value(GgufKind::Array, array_of(element, count, bytes));
  };
  std::string deep = array_of(GgufKind::U8, 0, "");
  for (int i = 0; i < 4; ++i) deep = array_of(GgufKind::Array, 1, deep);
  const std::string flag = entry("k", GgufKind::Bool, "\x01");
  const auto alignment = [&](GgufKind kind, const std::string& bytes) {
    return with_metadata(entry("general.alignment", kind, bytes));
  };
  return {
      {with_metadata(counted("") + std::string(16, '\0')), "metadata entry 0 is empty"},
      {with_metadata(counted("\xff\xfe") + std::string(16, '\0')), "entry 0 isn't UTF-8"},
      {with_metadata(counted("\xc0\xaf") + std::string(16, '\0')), "entry 0 isn't UTF-8"},
      {with_metadata(raw(~0ull) + std::string(16, 'a')), "claims 18446744073709551615 items"},
      {with_metadata(raw(1ull << 63) + std::string(16, 'a')), "claims 9223372036854775808 items"},
      {with_metadata(raw(uint64_t{17}) + std::string(16, 'a')), "claims 17 items, more than fit"},
      {with_metadata(counted("key") + raw(uint32_t{13}) + raw(~0ull)),
       "metadata 'key' has type 13, which GGUF doesn't define"},
      {with_metadata(counted("key") + raw(~0u) + raw(~0ull)), "has type 4294967295"},
      {value(GgufKind::U64, "1234"), "metadata 'k' takes 8 bytes at byte 37, where 4 are left"},
      {value(GgufKind::Bool, "\x02"), "metadata 'k' is a bool but holds 2"},
      {value(GgufKind::String, raw(~0ull)), "metadata 'k' claims 18446744073709551615 items"},
      {value(GgufKind::String, raw(uint64_t{6}) + "short"), "metadata 'k' claims 6 items"},
      {array(GgufKind::U8, ~0ull, "abc"), "claims 18446744073709551615 items"},
      {array(GgufKind::U64, 1ull << 61, std::string(8, 'a')), "claims 2305843009213693952 items"},
      {array(GgufKind::String, 1ull << 61, ""), "claims 2305843009213693952 items"},
      {array(GgufKind::String, 2, counted("a")), "claims 2 items, more than fit the 9 bytes left"},
      {array(GgufKind::Array, 1ull << 40, ""), "claims 1099511627776 items"},
      {array(GgufKind::Array, 1, array_of(GgufKind::F64, 1, "")), "claims 1 items"},
      {array(GgufKind::Bool, 2, "\x01\x07"), "is a bool but holds 7"},
      {array(static_cast<GgufKind>(99), 1, "a"), "has type 99"},
      {value(GgufKind::Array, deep), "metadata 'k' is nested deeper than 4"},
      {GgufParts{.metadata = {flag, flag}}.bytes(), "has metadata 'k' twice"},
      {alignment(GgufKind::U32, raw(uint32_t{0})), "must be a power of two"},
      {alignment(GgufKind::U32, raw(uint32_t{24})), "must be a power of two"},
      {alignment(GgufKind::U32, raw(uint32_t{4})), "at least 8"},
      {alignment(GgufKind::U64, raw(uint64_t{32})), "of type u32"},
      {alignment(GgufKind::String, counted("32")), "of type u32"},
  };
}

std::vector<HostileGguf> hostile_tensors() {
  const std::string good = with_tensors({tensor("w", {4}, 24, 0)});
  const std::string far_apart =
      GgufParts{.tensors = {tensor("w", {1}, 24, 0)},
                .metadata = {entry("general.alignment", GgufKind::U32, raw(1u << 31))}}
          .bytes();
  return {
      {with_tensors({tensor("", {4}, 24, 0)}), "the name of tensor 0 is empty"},
      {with_tensors({tensor("\x80", {4}, 24, 0)}), "the name of tensor 0 isn't UTF-8"},
      {with_tensors({raw(~0ull) + std::string(64, 'n')}), "the name of tensor 0 claims 1844674"},
      {with_tensors({tensor("w", {1, 1, 1, 1, 1}, 24, 0)}),
       "tensor 'w' has 5 dims; at most 4 are supported"},
      {with_tensors({counted("w") + raw(~0u) + std::string(40, '\0')}), "has 4294967295 dims"},
      {with_tensors({tensor("w", {1ull << 63}, 24, 0)}), "has the dim 9223372036854775808"},
      {with_tensors({tensor("w", {1ull << 32, 1ull << 32}, 24, 0)}),
       "is I8 [4294967296, 4294967296], whose size is not a whole number of bytes or overflows"},
      {with_tensors({tensor("w", {1ull << 61}, 28, 0)}),
       "whose size is not a whole number of bytes or overflows"},
      {with_tensors({tensor("w", {(1ull << 62) - 32, 2}, 8, 0)}), "or overflows"},
      {with_tensors({tensor("w", {4}, 4, 0)}), "tensor 'w' has type 4, which is unknown"},
      {with_tensors({tensor("w", {4}, 1000, 0)}), "tensor 'w' has type 1000, which is unknown"},
      {with_tensors({tensor("w", {33}, 8, 0)}), "is Q8_0 [33], whose blocks of 32 don't divide"},
      {with_tensors({tensor("w", {32}, 12, 0)}), "is Q4_K [32], whose blocks of 256 don't divide"},
      {with_tensors({tensor("w", {}, 2, 0)}), "is Q4_0 [], whose blocks of 32"},
      {with_tensors({tensor("w", {4}, 24, 1)}), "has the offset 1, which isn't a multiple of the"},
      {with_tensors({tensor("w", {4}, 24, 1ull << 63)}), "past the end of the file"},
      {with_tensors({tensor("w", {4}, 24, ~0ull - 31)}), "past the end of the file"},
      {with_tensors({tensor("w", {4}, 24, 96)}),
       "has 4 bytes at byte 96 of the data, which has 64"},
      {with_tensors({tensor("w", {65}, 24, 0)}), "has 65 bytes at byte 0 of the data"},
      {with_tensors({tensor("w", {33}, 24, 32)}), "has 33 bytes at byte 32 of the data"},
      {with_tensors({tensor("w", {17}, 0, 0)}), "has 68 bytes at byte 0 of the data"},
      {with_tensors({tensor("w", {64}, 8, 0)}), "has 68 bytes at byte 0 of the data"},
      {with_tensors({tensor("w", {4}, 24, 0), tensor("w", {4}, 24, 32)}), "has tensor 'w' twice"},
      {with_tensors({tensor("a", {33}, 24, 0), tensor("b", {4}, 24, 32)}),
       "tensors 'a' and 'b' overlap at byte"},
      {with_tensors({tensor("a", {4}, 24, 0), tensor("b", {4}, 24, 0)}), "'a' and 'b' overlap"},
      {with_tensors({tensor("a", {40}, 24, 0), tensor("z", {0}, 24, 32)}), "'a' and 'z' overlap"},
      {good.substr(0, 50), "tensor 'w' takes 8 bytes at byte 49, where 1 are left"},
      {good.substr(0, 60), "the padding before the data takes"},
      {far_apart, "the padding before the data takes"},
      {good.substr(0, 65), "has 4 bytes at byte 0 of the data, which has 1; the file is cut short"},
  };
}

TEST(Gguf, HostileFilesGiveAnErrorThatNamesFileAndFault) {
  size_t count = 0;
  for (const auto& files : {hostile_starts(), hostile_metadata(), hostile_tensors()}) {
    count += files.size();
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string error = user_error([&] { parse_gguf(files[i].bytes); });
      EXPECT_THAT(error, HasSubstr("gguf: 'hostile.gguf': ")) << "file " << i;
      EXPECT_THAT(error, HasSubstr(files[i].fault)) << "file " << i;
    }
  }
  EXPECT_GE(count, 40u);
}

TEST(Gguf, EveryShorterFileIsRefused) {
  GgufParts parts;
  parts.metadata = {
      entry("texts", GgufKind::Array, array_of(GgufKind::String, 2, counted("a") + counted("bc")))};
  parts.tensors = {tensor("w", {3, 2}, 0, 0)};
  parts.data = std::string(24, '\x01');
  const std::string whole = parts.bytes();
  EXPECT_EQ(user_error([&] { parse_gguf(whole); }), "(no error)");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(user_error([&] { parse_gguf(whole.substr(0, size)); }), HasSubstr("gguf: "))
        << size;
  }
}

// Where the real files are; empty, and said, where they aren't.
std::filesystem::path models(const char* part) {
  const std::filesystem::path folder =
      base::environment("LUMINAL_TEST_MODELS").value_or(LUMINAL_MODELS);
  return folder / part;
}

TEST(Gguf, RealVocabulariesParse) {
  const std::filesystem::path folder = models("tokenizers/llamacpp-vocabs");
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "SKIPPED: there is no " << folder << "; set LUMINAL_TEST_MODELS";
  }
  size_t count = 0;
  for (const auto& item : std::filesystem::directory_iterator(folder)) {
    if (item.path().extension() != ".gguf") continue;
    const Gguf file = Gguf::open(item.path().string());
    EXPECT_TRUE(file.tensors().empty()) << item.path();
    const auto tokens = file.find_texts("tokenizer.ggml.tokens");
    ASSERT_TRUE(tokens) << item.path();
    EXPECT_GT(tokens->size(), 30000u);
    EXPECT_EQ(file.find_ints("tokenizer.ggml.token_type")->size(), tokens->size());
    EXPECT_FALSE(file.text_at("tokenizer.ggml.model").empty());
    ++count;
  }
  EXPECT_EQ(count, 3u);
}

}  // namespace
}  // namespace luminal
