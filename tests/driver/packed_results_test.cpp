// u4 values that leave a run as u4: views, gathers, chains of them, states and operands of custom
// ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

TensorData packed(const std::vector<int64_t>& dims, int first) {
  TensorData::Writable made = TensorData::zeros(DType::U4, dims);
  for (size_t i = 0; i < made.bytes.size(); ++i) {
    made.bytes[i] = static_cast<std::byte>((first + 37 * static_cast<int>(i)) & 0xff);
  }
  if (made.data.n_elements() % 2 == 1) made.bytes.back() &= std::byte{15};
  return made.data;
}

TEST(PackedResults, AreTheInterpretersOnEveryBackend) {
  Graph graph;
  const Expr s = Expr::var("s", 0, 40);
  Tensor x = graph.input("x", {s, 17}, DType::U4);
  Tensor rows = graph.input("rows", {3}, DType::I64);
  Tensor turned = x.transpose(0, 1).flip({0});
  Tensor chosen = prim::gather(turned, rows);
  turned.output("turned");
  chosen.output("chosen");
  Tensor doubled = (turned.cast(DType::F32) * 2.0).output("doubled");
  CompileReport report;
  Executable ours = compile(graph, {.storage = {.cache_folder = "none"}, .report = &report});
  Executable theirs = compile(graph, {.backend = {.name = "interp"}});
  EXPECT_THAT(report.notes, testing::Contains(testing::HasSubstr("runs on the host")));
  for (int64_t size : {13, 4, 0, 13}) {
    for (Executable* exe : {&ours, &theirs}) {
      exe->set(x, packed({size, 17}, static_cast<int>(size)));
      exe->set(rows, std::vector<int64_t>{16, 0, 5});
      exe->run({{"s", size}});
    }
    EXPECT_EQ(ours.get_data(turned).to_ints(), theirs.get_data(turned).to_ints()) << size;
    EXPECT_EQ(ours.get_data(chosen).to_ints(), theirs.get_data(chosen).to_ints()) << size;
    EXPECT_EQ(ours.get<float>(doubled), theirs.get<float>(doubled)) << size;
  }
}

}  // namespace
}  // namespace luminal
