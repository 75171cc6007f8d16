// Quantised tensors have the values their format says, bit by bit: on the host and in a graph.
#include "luminal/io/gguf_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"
#include "luminal/base/os/process.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/composite/quantised.h"
#include "tests/io/gguf_builder.h"
#include "tests/io/temporary_folder.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kBlockTypes[] = {"Q4_0", "Q4_1", "Q5_0", "Q5_1",
                                       "Q8_0", "Q4_K", "Q5_K", "Q6_K"};

// False where Python or its packages are missing.
bool run_reference(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), LUMINAL_TESTS "/io/gguf_reference.py");
  const std::optional<int> code = base::run_program(LUMINAL_PYTHON, arguments);
  if (code.has_value() && *code != 77) {
    EXPECT_EQ(*code, 0);
    return true;
  }
  return false;
}

std::vector<uint32_t> bits_of(const TensorData& values) {
  EXPECT_EQ(values.dtype, DType::F32);
  std::vector<uint32_t> bits(values.bytes.size() / sizeof(uint32_t));
  std::memcpy(bits.data(), values.bytes.data(), values.bytes.size());
  return bits;
}

std::vector<uint32_t> bits_in(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  std::vector<uint32_t> bits(bytes.size() / sizeof(uint32_t));
  std::memcpy(bits.data(), bytes.data(), bytes.size());
  return bits;
}

Dims to_dims(const std::vector<int64_t>& sizes) { return {sizes.begin(), sizes.end()}; }

// A file's tensor as weights of a graph.
Quantised planes_in(Graph& graph, const Gguf& file, const std::string& name) {
  const BlockFormat format = *block_format(file.find(name)->file_dtype);
  const auto weight = [&](const char* part, Plane plane) {
    const TensorData data = read_plane(file, name, plane);
    return graph.weight(part, to_dims(data.dims), data.dtype).set(data);
  };
  Quantised planes{.format = format,
                   .quants = weight("quants", Plane::Quants),
                   .scales = weight("scales", Plane::Scales)};
  if (format.offsets) planes.offsets = weight("offsets", Plane::Offsets);
  return planes;
}

std::vector<uint32_t> bits_from(Executable& exe, const Tensor& result) {
  exe.run();
  std::vector<uint32_t> bits;
  for (float value : exe.get<float>(result)) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

TEST(GgufBlocks, EveryTypeHasItsExactValuesOnTheHostAndInAGraph) {
  TemporaryFolder folder;
  if (!run_reference({"write", folder.path()})) GTEST_SKIP() << "SKIPPED: no numpy";
  const Gguf file = Gguf::open(folder / "blocks.gguf");
  size_t count = 0;
  for (const TensorInfo& info : file.tensors()) {
    const std::vector<uint32_t> expected = bits_in(folder / (info.name + ".f32"));
    EXPECT_EQ(bits_of(read_values(file, info.name)), expected) << info.name;
    if (!block_format(info.file_dtype)) continue;
    for (const char* backend : {"interp", "cpu"}) {
      Graph graph;
      const Tensor values = dequantise(planes_in(graph, file, info.name)).output("values");
      Executable exe = compile(graph, {.backend = {.name = backend}});
      EXPECT_EQ(bits_from(exe, values), expected) << info.name << " on " << backend;
    }
    ++count;
  }
  EXPECT_EQ(count, 3 * std::size(kBlockTypes));
}

TEST(GgufBlocks, RowsOfATableAreThoseOfItsValues) {
  TemporaryFolder folder;
  if (!run_reference({"write", folder.path()})) GTEST_SKIP() << "SKIPPED: no numpy";
  const Gguf file = Gguf::open(folder / "blocks.gguf");
  for (const char* type : kBlockTypes) {
    const std::string name = std::string(type) + ".encoded";
    const std::vector<uint32_t> all = bits_in(folder / (name + ".f32"));
    const size_t row = all.size() / 3;
    Graph graph;
    const Tensor index = graph.input("index", {2}, DType::I64);
    const Tensor rows = embedding(planes_in(graph, file, name), index).output("rows");
    Executable exe = compile(graph);
    exe.set(index, std::vector<int64_t>{2, 0});
    std::vector<uint32_t> expected(all.end() - static_cast<ptrdiff_t>(row), all.end());
    expected.insert(expected.end(), all.begin(), all.begin() + static_cast<ptrdiff_t>(row));
    EXPECT_EQ(bits_from(exe, rows), expected) << name;
  }
}

TEST(GgufBlocks, PlanesTakeTheBitsTheHeaderPromises) {
  std::vector<double> bits;
  for (const char* type : kBlockTypes) bits.push_back(bits_per_element(*block_format(type)));
  EXPECT_THAT(bits, ElementsAre(4.5, 5, 8.5, 9, 8.5, 6, 10, 10));
}

Gguf parse_parts(const GgufParts& parts) {
  auto owner = std::make_shared<std::string>(parts.bytes());
  return Gguf::parse(std::as_bytes(std::span(*owner)), owner, "small.gguf");
}

TEST(GgufBlocks, WhatCannotBeReadIsNamedWithItsType) {
  const Gguf file =
      parse_parts({.tensors = {tensor("weird", {256}, 16, 0), tensor("plain", {4}, 0, 96),
                               tensor("even", {32}, 2, 128)},
                   .data = std::string(160, '\0')});
  const auto error = [&](const char* name, Plane plane) -> std::string {
    try {
      read_plane(file, name, plane);
    } catch (const UserError& caught) {
      return caught.what();
    }
    return "(no error)";
  };
  EXPECT_EQ(error("weird", Plane::Quants),
            "gguf: 'small.gguf': tensor 'weird' is IQ2_XXS, which isn't supported; convert it with "
            "another tool");
  EXPECT_THAT(error("plain", Plane::Scales), HasSubstr("'plain' is F32, which has no planes"));
  EXPECT_THAT(error("even", Plane::Offsets), HasSubstr("'even' is Q4_0, which has no offsets"));
  EXPECT_THAT(error("absent", Plane::Quants), HasSubstr("there is no tensor 'absent'"));
  EXPECT_THROW(read_values(file, "weird"), UserError);
  EXPECT_THROW(file.data("even"), UserError);
}

TEST(GgufBlocks, PlanesThatDoNotFitAreRefused) {
  Graph graph;
  const Tensor quants = graph.weight("q", {2, 64}, DType::U4);
  const Tensor scales = graph.weight("s", {2, 2}, DType::F16);
  const Tensor wide = graph.weight("w", {2, 64}, DType::F16);
  EXPECT_NO_THROW(dequantise({.format = {}, .quants = quants, .scales = scales}));
  EXPECT_THROW(dequantise({.format = {}, .quants = quants, .scales = wide}), UserError);
  EXPECT_THROW(dequantise({.format = {}, .quants = wide, .scales = scales}), UserError);
  EXPECT_THROW(dequantise({.format = {.offsets = true}, .quants = quants, .scales = scales}),
               UserError);
  EXPECT_THROW(dequantise({.format = {.block = 48}, .quants = quants, .scales = scales}),
               UserError);
  EXPECT_THROW(dequantise({.format = {.quants = DType::U8}, .quants = quants, .scales = scales}),
               UserError);
}

// As gguf_reference.py's checksum.
uint64_t checksum(const TensorData& values) {
  uint64_t sum = 0;
  uint64_t factor = 1;
  for (uint32_t bits : bits_of(values)) {
    sum += bits * factor;
    factor += 2;
  }
  return sum;
}

TEST(GgufBlocks, SmolLm2HasItsReferenceValues) {
  const std::filesystem::path models =
      base::environment("LUMINAL_TEST_MODELS").value_or(LUMINAL_MODELS);
  const std::filesystem::path path =
      models / "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "SKIPPED: there is no " << path << "; set LUMINAL_TEST_MODELS";
  }
  TemporaryFolder folder;
  if (!run_reference({"sums", path.string(), folder / "sums"})) GTEST_SKIP() << "SKIPPED: no numpy";
  const Gguf file = Gguf::open(path.string());
  EXPECT_EQ(file.int_at("llama.block_count"), 30);
  std::ifstream sums(folder / "sums");
  std::string name;
  uint64_t expected = 0;
  size_t count = 0;
  while (sums >> name >> expected) {
    EXPECT_EQ(checksum(read_values(file, name)), expected) << name;
    ++count;
  }
  EXPECT_EQ(count, 272u);
  EXPECT_EQ(file.tensors().size(), 272u);
}

}  // namespace
}  // namespace luminal
