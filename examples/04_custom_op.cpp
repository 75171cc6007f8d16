// An op of your own: a rule for its shape and a function that computes it on the host.
#include <algorithm>
#include <iostream>

#include "luminal/luminal.h"

int main() {
  using namespace luminal;
  CustomOp sort_rows{
      .name = "sort_rows",
      .shape_rule =
          [](const std::vector<TensorType>& inputs) {
            if (inputs.size() != 1 || inputs[0].dtype != DType::F32 || inputs[0].dims.empty()) {
              throw UserError("sort_rows: wants one f32 tensor with at least one axis");
            }
            return inputs[0];
          },
      .compute =
          [](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
            std::ranges::copy(inputs[0].bytes, result.bytes.begin());
            auto* values = reinterpret_cast<float*>(result.bytes.data());
            const int64_t row = inputs[0].dims.back();
            for (int64_t i = 0; i < inputs[0].n_elements(); i += row) {
              std::sort(values + i, values + i + row);
            }
          }};

  Graph graph;
  Tensor x = graph.input("x", {2, 3});
  Tensor y = (custom_op(sort_rows, {x}) * 2.0).output("y");

  Executable exe = compile(graph);
  exe.set(x, {{3, 1, 2}, {9, 7, 8}});
  exe.run();
  std::cout << exe.print(y) << "\n";
}
