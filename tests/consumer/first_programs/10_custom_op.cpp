// An op of one's own; its errors name it.
#include <luminal/luminal.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace luminal;

CustomOp running_total() {
  CustomOp op;
  op.name = "running_total";
  op.shape_rule = [](const std::vector<TensorType>& inputs) { return inputs[0]; };
  op.compute = [](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
    const std::vector<double> values = inputs[0].to_doubles();
    auto* to = reinterpret_cast<float*>(result.bytes.data());
    double total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] < 0) throw std::domain_error("a negative value");
      to[i] = static_cast<float>(total += values[i]);
    }
  };
  return op;
}

int main() {
  Graph graph;
  Tensor x = graph.input("x", {3});
  Tensor y = (custom_op(running_total(), {x}) * 2).output("y");

  Executable exe = compile(graph);
  exe.set(x, {1, 2, 3});
  exe.run();
  if (exe.get<float>(y) != std::vector<float>{2, 6, 12}) return 1;

  try {
    exe.set(x, {1, -2, 3});
    exe.run();
  } catch (const CustomOpError& error) {
    std::cout << error.what() << "\n";
    return error.op() == "running_total" ? 0 : 1;
  }
  return 1;
}
