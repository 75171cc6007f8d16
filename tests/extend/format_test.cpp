// A file format from outside: opened by the list it was added to, its weights loaded into a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

FileFormats with_toy() {
  FileFormats formats = known_formats();
  formats.add(toy::toy_format());
  return formats;
}

TEST(FormatFromOutside, IsRecognisedBesideTheOthers) {
  const TemporaryToy file("TOY\n");
  const FileFormats formats = with_toy();
  ASSERT_NE(formats.find(file.path()), nullptr);
  EXPECT_EQ(formats.find(file.path())->name, "toy");
  EXPECT_EQ(known_formats().find(file.path()), nullptr);
  EXPECT_EQ(formats.find("weights.safetensors")->name, kSafetensorsFormat);
  EXPECT_EQ(formats.find_model("weights.safetensors"), nullptr) << "weights alone";
  EXPECT_EQ(formats.find(::testing::TempDir())->name, kHuggingFaceFormat);
}

TEST(FormatFromOutside, FillsTheWeightsOfAGraph) {
  const TemporaryToy file(
      "TOY\ntensor fc.weight 2 3 : 1 2 3 4 5 6\ntensor fc.bias 2 : 10 20\ntensor more 1 : 7\n");
  Graph graph;
  const Tensor x = graph.input("x", {1, 3});
  const Tensor y = nn::linear(nn::Scope(graph).child("fc"), x, 2).output("y");
  const LoadReport report = load_weights(graph, open_weights(file.path(), with_toy()));
  EXPECT_THAT(report.loaded, ElementsAre("fc.bias", "fc.weight"));
  EXPECT_THAT(report.unexpected, ElementsAre("more"));
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  exe.set(x, {{1, 1, 2}});
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(19, 41));
}

TEST(FormatFromOutside, WhatIsWrongIsNamed) {
  const TemporaryToy short_one("TOY\ntensor w 3 : 1 2\n");
  EXPECT_THAT(user_error([&] { open_weights(short_one.path(), with_toy()); }),
              HasSubstr("tensor 'w' has 2 elements, not 3"));
  const TemporaryToy no_toy("no toy\n");
  EXPECT_THAT(user_error([&] { open_weights(no_toy.path(), with_toy()); }),
              HasSubstr("supported: safetensors, gguf, huggingface, toy"));
  const TemporaryToy other("TOY\ntensor w 2 : 1 2\n");
  Graph graph;
  graph.weight("v", {2});
  EXPECT_THAT(user_error([&] { load_weights(graph, open_weights(other.path(), with_toy())); }),
              HasSubstr("'v' [2] is missing"));
  FileFormat half = toy::toy_format();
  half.open_weights = nullptr;
  EXPECT_THAT(user_error([&] { FileFormats().add(half); }),
              HasSubstr("'toy': set recognises and open_weights"));
}

}  // namespace
}  // namespace luminal
