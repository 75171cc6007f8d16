// A convolution with padding, a ReLU and a pooling layer over a small image.
#include <luminal/luminal.h>

#include <iostream>
#include <vector>

using namespace luminal;

int main() {
  Graph graph;
  Tensor image = graph.input("image", {1, 1, 4, 4});
  Tensor kernel = graph.weight("kernel", {1, 1, 3, 3});
  Tensor y = conv2d(image, kernel, std::nullopt, {.padding = 1}).relu();
  Tensor pooled = max_pool2d(y, 2).output("pooled");
  std::cout << "image " << image.shape() << " becomes " << pooled.shape() << "\n";

  const float edges[3][3] = {{0, -1, 0}, {-1, 4, -1}, {0, -1, 0}};
  kernel.set(&edges[0][0], 9);

  std::vector<float> pixels(16);
  pixels[5] = 1;  // row 1, column 1
  Executable exe = compile(graph);
  exe.set(image, pixels);
  exe.run();
  std::cout << exe.print(pooled) << "\n";
  return exe.get<float>(pooled) == std::vector<float>{4, 0, 0, 0} ? 0 : 1;
}
