// An op of your own that is fast: rules say what it is equal to, a kernel computes it on all
// threads.
#include <algorithm>
#include <iostream>

#include "luminal/luminal.h"

namespace {
using namespace luminal;

void sort_row(const float* from, float* to, int64_t size) {
  std::copy(from, from + size, to);
  std::sort(to, to + size);
}

// The meaning: what the interpreter runs, and what checked runs compare the kernel with.
void sort_all(const std::vector<TensorData>& inputs, TensorData::Writable& result) {
  const auto* from = reinterpret_cast<const float*>(inputs[0].bytes.data());
  auto* to = reinterpret_cast<float*>(result.bytes.data());
  const int64_t row = inputs[0].dims.back();
  for (int64_t i = 0; i < inputs[0].n_elements(); i += row) sort_row(from + i, to + i, row);
}

// Rows from call.begin to call.end; other threads sort the others at the same time.
void sort_some(const KernelCall& call) {
  const int64_t row = call.result.dims[1];
  for (int64_t i = call.begin * row; i < call.end * row; i += row) {
    sort_row(call.operands[0].as<float>() + i, call.result.as<float>() + i, row);
  }
}
}  // namespace

int main() {
  const CustomOp sort_rows{
      .name = "sort_rows",
      .shape_rule = [](const std::vector<TensorType>& inputs) { return inputs[0]; },
      .compute = sort_all,
      .rules = R"((ruleset sort.exact)
                  (rewrite (Call1 "sort_rows" (Call1 "sort_rows" x)) (Call1 "sort_rows" x)
                    :ruleset sort.exact :name "sorted-rows-are-sorted"))",
      .kernel = CustomKernel{.parallel_dims = 1, .run = sort_some}};

  Graph graph;
  Tensor x = graph.input("x", {2, 3});
  Tensor once = custom_op(sort_rows, {x});
  Tensor y = (custom_op(sort_rows, {once}) * 2.0).output("y");

  CompileReport report;
  Executable exe = compile(graph, {.backend = {.threads = 2}, .report = &report});
  for (const std::string& note : report.notes) std::cout << note << "\n";
  exe.set(x, {{3, 1, 2}, {9, 7, 8}});
  exe.run({.check_kernels = true});
  std::cout << exe.print(y) << "\n";
}
