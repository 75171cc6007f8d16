#include "luminal/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/os/process.h"
#include "luminal/shape/scalar.h"
#include "tests/io/temporary_folder.h"
#include "tests/support/user_error.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::user_error;

constexpr DType kFileDTypes[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                                 DType::I32, DType::I16, DType::I8,  DType::U8,   DType::Bool};

// Elements that every dtype holds: 3, 0, 2, 4, 1, 3 … (as bools: is it above 1).
TensorData pattern(DType dtype, std::vector<int64_t> dims) {
  TensorData::Writable result = TensorData::zeros(dtype, std::move(dims));
  for (int64_t i = 0; i < result.data.n_elements(); ++i) {
    int64_t value = (i * 2 + 3) % 5;
    if (dtype == DType::Bool) value = value > 1;
    if (is_float(dtype)) {
      store_float(dtype, result.bytes.data(), i, static_cast<double>(value));
    } else {
      store_int(dtype, result.bytes.data(), i, value);
    }
  }
  return result.data;
}

// Every dtype as a matrix, as an empty tensor and as a scalar; the reference script has the same.
std::vector<NamedData> every_dtype() {
  std::vector<NamedData> tensors;
  for (DType dtype : kFileDTypes) {
    std::string text(name(dtype));
    tensors.push_back({text, pattern(dtype, {2, 3})});
    tensors.push_back({text + ".empty", pattern(dtype, {0, 4})});
    tensors.push_back({text + ".scalar", pattern(dtype, {})});
  }
  return tensors;
}

void expect_same(const TensorData& a, const TensorData& b, const std::string& which) {
  EXPECT_EQ(a.dtype, b.dtype) << which;
  EXPECT_EQ(a.dims, b.dims) << which;
  ASSERT_EQ(a.bytes.size(), b.bytes.size()) << which;
  EXPECT_TRUE(std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin())) << which;
}

void expect_holds(const SafeTensors& file, const std::vector<NamedData>& tensors) {
  EXPECT_EQ(file.tensors().size(), tensors.size());
  for (const NamedData& tensor : tensors) {
    expect_same(file.data(tensor.name), tensor.data, tensor.name);
  }
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A file with this header and so many bytes of data, all 1.
std::string file_with(const std::string& header, size_t data_bytes) {
  uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header + std::string(data_bytes, '\x01');
}

SafeTensors parse_safetensors(const std::string& bytes) {
  // A copy of the exact size on the heap, so that sanitizers see a read past its end.
  auto owner = std::make_shared<std::vector<char>>(bytes.begin(), bytes.end());
  return SafeTensors::parse(std::as_bytes(std::span(*owner)), owner, "hostile.safetensors");
}

TEST(SafeTensors, RoundTripsEveryDType) {
  TemporaryFolder folder;
  Metadata metadata = {{"format", "pt"}, {"note", "grüße \"quoted\"\n"}};
  write_safetensors(folder / "a.safetensors", every_dtype(), metadata);
  SafeTensors file = SafeTensors::open(folder / "a.safetensors");
  expect_holds(file, every_dtype());
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_TRUE(std::is_sorted(file.tensors().begin(), file.tensors().end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  // No temporary is left behind.
  EXPECT_THAT(folder.files(), ElementsAre("a.safetensors"));
}

TEST(SafeTensors, NoTensorsIsAFileToo) {
  TemporaryFolder folder;
  write_safetensors(folder / "none.safetensors", {});
  EXPECT_TRUE(SafeTensors::open(folder / "none.safetensors").tensors().empty());
}

TEST(SafeTensors, TheOrderGivenDoesNotChangeTheBytes) {
  TemporaryFolder folder;
  std::vector<NamedData> tensors = every_dtype();
  write_safetensors(folder / "a", tensors);
  std::reverse(tensors.begin(), tensors.end());
  write_safetensors(folder / "b", tensors);
  EXPECT_EQ(read_file(folder / "a"), read_file(folder / "b"));
}

TEST(SafeTensors, EveryTensorLiesAligned) {
  TemporaryFolder folder;
  // Odd sizes and names whose order by itself would misalign.
  write_safetensors(folder / "a", {{"a", pattern(DType::I8, {3})},
                                   {"b", pattern(DType::F64, {1})},
                                   {"c", pattern(DType::F16, {5})},
                                   {"d", pattern(DType::F32, {3})}});
  SafeTensors file = SafeTensors::open(folder / "a");
  for (const TensorInfo& info : file.tensors()) {
    TensorData data = file.data(info.name);
    auto address = reinterpret_cast<uintptr_t>(data.bytes.data());
    EXPECT_EQ(address % static_cast<size_t>(byte_size(*info.dtype, 1)), 0u) << info.name;
  }
}

TEST(SafeTensors, DataSharesTheMappingAndOutlivesTheHandle) {
  TemporaryFolder folder;
  write_safetensors(folder / "a", {{"w", pattern(DType::F32, {2, 3})}});
  TensorData data;
  {
    SafeTensors file = SafeTensors::open(folder / "a");
    data = file.data("w");
    EXPECT_EQ(data.bytes.data(), file.data("w").bytes.data());
  }
  std::filesystem::remove(folder / "a");
  expect_same(data, pattern(DType::F32, {2, 3}), "w");
}

TEST(SafeTensors, UnalignedDataIsCopied) {
  std::string header = R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},)"
                       R"("b":{"dtype":"I32","shape":[1],"data_offsets":[1,5]}})";
  SafeTensors file = parse_safetensors(file_with(header, 5));
  EXPECT_THAT(file.data("b").to_ints(), ElementsAre(0x01010101));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file.data("b").bytes.data()) % 4, 0u);
}

TEST(SafeTensors, AnUnsupportedDTypeIsReportedWhenAskedFor) {
  std::string header = R"({"new":{"dtype":"F3_NEW","shape":[9],"data_offsets":[0,7]},)"
                       R"("u":{"dtype":"U16","shape":[2],"data_offsets":[7,11]},)"
                       R"("half":{"dtype":"F4","shape":[4],"data_offsets":[11,13]},)"
                       R"("ok":{"dtype":"I8","shape":[1],"data_offsets":[13,14]}})";
  SafeTensors file = parse_safetensors(file_with(header, 14));
  EXPECT_THAT(file.data("ok").to_ints(), ElementsAre(1));
  EXPECT_FALSE(file.find("u")->dtype.has_value());
  EXPECT_THAT(user_error([&] { file.data("u"); }), HasSubstr("'u' has dtype 'U16'"));
  EXPECT_THAT(user_error([&] { file.data("new"); }), HasSubstr("'new' has dtype 'F3_NEW'"));
}

TEST(SafeTensors, AnUnknownNameIsAnError) {
  EXPECT_THAT(user_error([] { parse_safetensors(file_with("{}", 0)).data("w"); }),
              HasSubstr("there is no tensor 'w'"));
}

TEST(SafeTensors, ABoolIsZeroOrOne) {
  std::string bytes = file_with(R"({"b":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  EXPECT_THAT(parse_safetensors(bytes).data("b").to_ints(), ElementsAre(1, 1));
  bytes.back() = '\x02';
  EXPECT_THAT(user_error([&] { parse_safetensors(bytes).data("b"); }),
              HasSubstr("holds 2 at element 1"));
}

struct HostileFile {
  std::string bytes;
  std::string message;
};

// A header with one I8 tensor 'w' made of these fields, and so much data.
std::string one_tensor(const std::string& fields, size_t data_bytes = 4) {
  return file_with("{\"w\":{" + fields + "}}", data_bytes);
}

std::string repeat(const std::string& text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::vector<HostileFile> hostile_files() {
  std::string i8 = R"("dtype":"I8","shape":[4],"data_offsets":[0,4])";
  std::string good = one_tensor(i8);
  auto with_length = [](uint64_t length, std::string bytes) {
    std::memcpy(bytes.data(), &length, sizeof(length));
    return bytes;
  };
  std::string two = R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},)"
                    R"("b":{"dtype":"I8","shape":[2],"data_offsets":)";
  return {
      // The length.
      {"", "has 0 bytes, too few for the 8-byte header length"},
      {"1234567", "has 7 bytes, too few"},
      {std::string(8, '\0'), "the header doesn't start with '{'"},
      {with_length(1, std::string(8, '\0')), "header length 1 is more than the 0 bytes"},
      {with_length(good.size(), good), "is more than the"},
      {with_length(100'000'001, good), "100000001 is over the limit of 100000000"},
      {with_length(~0ull, good), "18446744073709551615 is over the limit"},
      {with_length(1ull << 63, good), "9223372036854775808 is over the limit"},
      {with_length(3, good), "isn't valid JSON at byte"},
      {"GGUF" + std::string(60, '\0'), "is over the limit"},
      {"PK\x03\x04" + std::string(60, 'x'), "is over the limit"},
      // The JSON.
      {file_with("[]", 0), "the header doesn't start with '{'"},
      {file_with(" {}", 0), "the header doesn't start with '{'"},
      {file_with("\xef\xbb\xbf{}", 0), "the header doesn't start with '{'"},
      {file_with("{", 0), "isn't valid JSON at byte"},
      {file_with("{}}", 0), "isn't valid JSON at byte 3"},
      {file_with("{} x", 0), "isn't valid JSON at byte 4"},
      {file_with(std::string("{}\0\0", 4), 0), "isn't valid JSON at byte 2: a zero byte"},
      {file_with("{\"a\":1,}", 0), "has a number where 'a' should be an object"},
      {file_with("{\"\xff\":{}}", 0), "invalid string: ill-formed UTF-8 byte"},
      {file_with("{\"\\ud800\":{}}", 0), "surrogate"},
      {file_with("{\"a\nb\":{}}", 0), "control character"},
      {file_with("{\"w\":{" + i8 + "},\"w\":{" + i8 + "}}", 4), "overlap"},
      {file_with(R"({"w":{"dtype":"I8","shape":[0],"data_offsets":[0,0]},)"
                 R"("w":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}})",
                 0),
       "has tensor 'w' twice"},
      {file_with(repeat("{\"a\":", 1'000'000), 0), "has the unknown key 'a' of tensor 'a'"},
      {file_with("{\"a\":" + repeat("[", 1'000'000), 0), "an array where 'a' should be an object"},
      {file_with("{\"a\":{\"shape\":" + repeat("[", 1'000'000), 0), "an array in 'shape'"},
      {file_with("{\"a\":null}", 0), "has null where 'a' should be an object"},
      {file_with("{\"a\":\"x\"}", 0), "has a string where 'a' should be an object"},
      {file_with("{\"a\":true}", 0), "has true or false where 'a' should be an object"},
      {file_with("{\"a\":1e999}", 0), "isn't valid JSON"},
      // The metadata.
      {file_with(R"({"__metadata__":1})", 0), "a number where '__metadata__' should be an object"},
      {file_with(R"({"__metadata__":{"a":1}})", 0), "a number as '__metadata__' 'a', not a string"},
      {file_with(R"({"__metadata__":{"a":{}}})", 0), "an object as '__metadata__' 'a'"},
      {file_with(R"({"__metadata__":{"a":["x"]}})", 0), "an array as '__metadata__' 'a'"},
      {file_with(R"({"__metadata__":{"a":null}})", 0), "null as '__metadata__' 'a'"},
      {file_with(R"({"__metadata__":{"a":"x","a":"y"}})", 0),
       "the key 'a' twice in '__metadata__'"},
      {file_with(R"({"__metadata__":{},"__metadata__":{}})", 0), "the key '__metadata__' twice"},
      // The fields of a tensor.
      {one_tensor(""), "has no 'dtype' of tensor 'w'"},
      {one_tensor(R"("shape":[4],"data_offsets":[0,4])"), "has no 'dtype'"},
      {one_tensor(R"("dtype":"I8","data_offsets":[0,4])"), "has no 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":[4])"), "has no 'data_offsets'"},
      {one_tensor(i8 + R"(,"stride":[1])"), "the unknown key 'stride' of tensor 'w'"},
      {one_tensor(i8 + R"(,"shape":[4])"), "has 'shape' twice of tensor 'w'"},
      {one_tensor(R"("dtype":8,"shape":[4],"data_offsets":[0,4])"), "a number in 'dtype'"},
      {one_tensor(R"("dtype":["I8"],"shape":[4],"data_offsets":[0,4])"), "an array in 'dtype'"},
      {one_tensor(R"("dtype":null,"shape":[4],"data_offsets":[0,4])"), "null in 'dtype'"},
      {one_tensor(R"("dtype":"I8","shape":4,"data_offsets":[0,4])"), "a number in 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":"4","data_offsets":[0,4])"), "a string in 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":[-4],"data_offsets":[0,4])"),
       "a negative number in 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":[4.0],"data_offsets":[0,4])"), "a fraction in 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":["4"],"data_offsets":[0,4])"), "a string in 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":[null],"data_offsets":[0,4])"), "null in 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":[{}],"data_offsets":[0,4])"), "an object in 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":[9223372036854775808],"data_offsets":[0,4])"),
       "has 9223372036854775808 in 'shape' of tensor 'w', which is too large"},
      {one_tensor(R"("dtype":"I8","shape":[99999999999999999999],"data_offsets":[0,4])"),
       "a fraction in 'shape'"},
      {one_tensor("\"dtype\":\"I8\",\"shape\":[4" + repeat(",1", 100) + "],\"data_offsets\":[0,4]"),
       "more than 64 numbers in 'shape'"},
      {one_tensor(R"("dtype":"I8","shape":[4],"data_offsets":[0])"),
       "1 of 2 numbers in 'data_offsets'"},
      {one_tensor(R"("dtype":"I8","shape":[4],"data_offsets":[])"), "0 of 2 numbers"},
      {one_tensor(R"("dtype":"I8","shape":[4],"data_offsets":[0,4,4])"), "more than 2 numbers"},
      {one_tensor(R"("dtype":"I8","shape":[4],"data_offsets":{"0":4})"),
       "an object in 'data_offsets'"},
      {one_tensor(R"("dtype":"I8","shape":[4],"data_offsets":[-1,3])"),
       "a negative number in 'data_off"},
      {one_tensor(R"("dtype":"I8","shape":[4],"data_offsets":[4,0])"), "end before they begin"},
      // Sizes and places.
      {one_tensor(R"("dtype":"I8","shape":[4],"data_offsets":[0,4])", 3),
       "bytes 0 to 4 of the data, wh"},
      {one_tensor(R"("dtype":"I8","shape":[4],"data_offsets":[0,9223372036854775807])"),
       "cut short"},
      {one_tensor(R"("dtype":"I8","shape":[0],"data_offsets":[5,5])"), "lies at bytes 5 to 5"},
      {one_tensor(R"("dtype":"I8","shape":[3],"data_offsets":[0,4])"),
       "has 4 bytes of data, but I8 [3]"},
      {one_tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,4])"), "but F32 [4] takes 16"},
      {one_tensor(R"("dtype":"U32","shape":[2],"data_offsets":[0,4])"), "but U32 [2] takes 8"},
      {one_tensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,4])"),
       "F4 [3], whose size is not a whole number of bytes"},
      {one_tensor(R"("dtype":"I8","shape":[4294967296,4294967296],"data_offsets":[0,0])", 0),
       "I8 [4294967296, 4294967296], whose size is not a whole number of bytes or overflows"},
      {one_tensor(R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0])", 0),
       "or overflows"},
      {one_tensor(R"("dtype":"I8","shape":[9223372036854775807,3,0],"data_offsets":[0,0])", 0),
       "or overflows"},
      {file_with("{}", 1), "bytes 0 to 1 of the data belong to no tensor"},
      {one_tensor(i8, 5), "bytes 4 to 5 of the data belong to no tensor"},
      {file_with(two + "[3,5]}}", 5), "bytes 2 to 3 of the data belong to no tensor"},
      {file_with(two + "[1,3]}}", 3), "tensors 'a' and 'b' overlap at byte 1"},
      {file_with(two + "[0,2]}}", 2), "tensors 'a' and 'b' overlap at byte 0"},
      {file_with(R"({"a":{"dtype":"I8","shape":[4],"data_offsets":[0,4]},)"
                 R"("z":{"dtype":"I8","shape":[0],"data_offsets":[2,2]}})",
                 4),
       "tensors 'a' and 'z' overlap at byte 2"},
  };
}

TEST(SafeTensors, HostileFilesGiveAnErrorThatNamesFileAndFault) {
  std::vector<HostileFile> files = hostile_files();
  EXPECT_GE(files.size(), 40u);
  for (size_t i = 0; i < files.size(); ++i) {
    std::string error = user_error([&] { parse_safetensors(files[i].bytes); });
    EXPECT_THAT(error, HasSubstr("safetensors: 'hostile.safetensors': ")) << "file " << i;
    EXPECT_THAT(error, HasSubstr(files[i].message)) << "file " << i;
    EXPECT_LT(error.size(), 1000u) << "file " << i;
  }
}

TEST(SafeTensors, EveryTruncationAndEveryFlippedBitIsSafe) {
  TemporaryFolder folder;
  write_safetensors(folder / "a",
                    {{"w", pattern(DType::F32, {2, 3})}, {"b", pattern(DType::Bool, {3})}},
                    {{"format", "pt"}});
  std::string bytes = read_file(folder / "a");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_safetensors(bytes.substr(0, size)), UserError) << size;
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    try {
      SafeTensors file = parse_safetensors(flipped);
      for (const TensorInfo& info : file.tensors()) file.data(info.name);
    } catch (const UserError&) {
    }
  }
}

TEST(SafeTensors, LongAndStrangeNamesStayReadableInMessages) {
  std::string name = "\\u0000" + repeat("é", 1000);
  std::string error = user_error([&] { parse_safetensors(file_with("{\"" + name + "\":1}", 0)); });
  EXPECT_THAT(error, HasSubstr("'\\x00é"));
  EXPECT_THAT(error, HasSubstr("é…'"));
  EXPECT_LT(error.size(), 400u);
}

TEST(SafeTensors, MissingFilesAndFoldersWithoutAModelAreErrors) {
  TemporaryFolder folder;
  EXPECT_THAT(user_error([&] { SafeTensors::open(folder / "no.safetensors"); }),
              HasSubstr("no.safetensors"));
  EXPECT_THAT(user_error([&] { SafeTensors::open(folder.path()); }),
              HasSubstr("holds neither model.safetensors nor model.safetensors.index.json"));
}

TEST(WriteSafeTensors, RefusesWhatTheFormatCannotHold) {
  TemporaryFolder folder;
  auto error_of = [&](std::vector<NamedData> tensors, const Metadata& metadata = {}) {
    return user_error([&] { write_safetensors(folder / "a", tensors, metadata); });
  };
  TensorData w = pattern(DType::F32, {2});
  EXPECT_THAT(error_of({{"w", w}, {"w", w}}), HasSubstr("two tensors are named 'w'"));
  EXPECT_THAT(error_of({{"__metadata__", w}}), HasSubstr("can't be a tensor's name"));
  EXPECT_THAT(error_of({{"\xff", w}}), HasSubstr("isn't valid UTF-8"));
  EXPECT_THAT(error_of({{"w", w}}, {{"k", "\xff"}}), HasSubstr("isn't valid UTF-8"));
  TensorData wrong = w;
  wrong.dims = {3};
  EXPECT_THAT(error_of({{"w", wrong}}), HasSubstr("holds 8 bytes, but its dims and dtype take 12"));
  wrong.dims = {-2};
  EXPECT_THAT(error_of({{"w", wrong}}), HasSubstr("'w' has the dim -2"));
  wrong = {.dtype = DType::U4, .dims = {16}, .bytes = w.bytes, .owner = w.owner};
  EXPECT_THAT(error_of({{"w", wrong}}), HasSubstr("'w' is u4, which the format can't hold"));
  EXPECT_THAT(user_error([&] { write_safetensors(folder / "no/such/a", {{"w", w}}); }),
              HasSubstr("can't create"));
  EXPECT_TRUE(folder.files().empty());
}

TEST(WriteSafeTensors, ReplacesAFileWhileItsDataIsInUse) {
  TemporaryFolder folder;
  write_safetensors(folder / "a", {{"w", pattern(DType::I32, {3})}});
  TensorData old = SafeTensors::open(folder / "a").data("w");
  write_safetensors(folder / "a", {{"w", pattern(DType::I32, {1000})}});
  expect_same(old, pattern(DType::I32, {3}), "w");
  EXPECT_EQ(SafeTensors::open(folder / "a").data("w").n_elements(), 1000);
}

TEST(Sharded, RoundTripsInShardsOfAtMostTheGivenSize) {
  TemporaryFolder folder;
  std::vector<NamedData> tensors = every_dtype();
  tensors.push_back({"large", pattern(DType::F64, {100})});
  write_sharded(folder / "model", tensors, 64, {{"format", "pt"}});
  for (const char* path : {"model", "model/model.safetensors.index.json"}) {
    SafeTensors model = SafeTensors::open(folder / path);
    expect_holds(model, tensors);
    EXPECT_EQ(model.metadata(), (Metadata{{"format", "pt"}}));
  }
  size_t shards = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "model")) {
    if (entry.path().extension() != ".safetensors") continue;
    ++shards;
    SafeTensors shard = SafeTensors::open(entry.path().string());
    int64_t total = 0;
    for (const TensorInfo& info : shard.tensors()) total += info.n_bytes;
    EXPECT_TRUE(total <= 64 || shard.tensors().size() == 1) << entry.path();
  }
  EXPECT_GT(shards, 5u);
}

TEST(Sharded, WhatFitsOneShardIsOneFile) {
  TemporaryFolder folder;
  write_sharded(folder / "model", every_dtype(), 1 << 20);
  EXPECT_TRUE(std::filesystem::exists(folder / "model/model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder / "model/model.safetensors.index.json"));
  expect_holds(SafeTensors::open(folder / "model"), every_dtype());
  // Shards beside it would never be read.
  EXPECT_THAT(user_error([&] { write_sharded(folder / "model", every_dtype(), 64); }),
              HasSubstr("readers would prefer it"));
  EXPECT_THAT(user_error([&] { write_sharded(folder / "model", every_dtype(), 0); }),
              HasSubstr("must be positive"));
}

TEST(Sharded, HostileIndicesGiveAnError) {
  TemporaryFolder folder;
  write_safetensors(folder / "s.safetensors",
                    {{"w", pattern(DType::I8, {1})}, {"v", pattern(DType::I8, {1})}});
  auto map = [](const std::string& file) {
    return R"({"weight_map":{"w":")" + file + R"(","v":"s.safetensors"}})";
  };
  const HostileFile indices[] = {
      {"", "isn't valid JSON"},
      {"{}", "has no 'weight_map'"},
      {"[]", "an array where its outermost object should be"},
      {"3", "a number where its outermost object should be"},
      {R"({"weight_map":[]})", "an array where 'weight_map' should be an object"},
      {R"({"weight_map":"s"})", "a string where 'weight_map' should be an object"},
      {R"({"weight_map":{"w":1}})", "a number as the file of 'w', not a string"},
      {R"({"weight_map":{"w":{}}})", "an object as the file of 'w', not a string"},
      {R"({"weight_map":{"w":["s"]}})", "an array as the file of 'w', not a string"},
      {R"({"weight_map":{},"weight_map":{}})", "the key 'weight_map' twice"},
      {R"({"weight_map":{"w":"s.safetensors","w":"s.safetensors"}})", "has tensor 'w' twice"},
      {map("../s.safetensors"), "names the file '../s.safetensors' for 'w'; it must lie in"},
      {map("a/../../s"), "must lie in the folder of the index"},
      {map("/etc/passwd"), "must lie in the folder of the index"},
      {map("./s.safetensors"), "must lie in the folder of the index"},
      {map("a//b"), "must lie in the folder of the index"},
      {map("a/"), "must lie in the folder of the index"},
      {map(""), "must lie in the folder of the index"},
      {map("..\\\\s"), "must lie in the folder of the index"},
      {map("s\\u0000"), "must lie in the folder of the index"},
      {map("no.safetensors"), "no.safetensors"},
      {R"({"metadata":)" + repeat("[", 100'000), "nested deeper than 16"},
      {R"({"weight_map":{"w":"s.safetensors"}})",
       "tensor 'v' of 's.safetensors' isn't in the index"},
      {R"({"weight_map":{"w":"s.safetensors","v":"s.safetensors","u":"s.safetensors"}})",
       "tensor 'u' should be in 's.safetensors', but that file lacks it"},
  };
  for (const HostileFile& index : indices) {
    write_file(folder / "model.safetensors.index.json", index.bytes);
    EXPECT_THAT(user_error([&] { SafeTensors::open(folder.path()); }), HasSubstr(index.message));
  }
  write_file(folder / "model.safetensors.index.json",
             R"({"metadata":{"total_size":2,"x":[null,-1,true,2.5,{"y":"z"}]},)"
             R"("weight_map":{"w":"s.safetensors","v":"s.safetensors"}})");
  EXPECT_EQ(SafeTensors::open(folder.path()).tensors().size(), 2u);
}

// With the safetensors package: what we write it reads, and what it writes we read.
class PythonReference : public ::testing::Test {
 protected:
  void run(const std::string& mode) {
    auto code = base::run_program(
        LUMINAL_PYTHON, {LUMINAL_TESTS "/io/safetensors_reference.py", mode, folder_.path()});
    if (!code || *code == 77) GTEST_SKIP() << "SKIPPED: no " LUMINAL_PYTHON " with safetensors";
    ASSERT_EQ(*code, 0);
  }
  TemporaryFolder folder_;
};

TEST_F(PythonReference, ReadsWhatWeWrite) {
  write_safetensors(folder_ / "ours.safetensors", every_dtype(), {{"note", "grüße"}});
  write_sharded(folder_ / "sharded", every_dtype(), 64);
  run("check");
}

TEST_F(PythonReference, WritesWhatWeRead) {
  run("write");
  if (IsSkipped() || HasFatalFailure()) return;
  SafeTensors file = SafeTensors::open(folder_ / "theirs.safetensors");
  expect_holds(file, every_dtype());
  EXPECT_EQ(file.metadata(), (Metadata{{"note", "grüße"}}));
}

}  // namespace
}  // namespace luminal
