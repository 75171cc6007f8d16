#include "tests/forged/forged_subject.h"

#include <cmath>

namespace luminal::tests {
namespace {

TensorData numbers(std::vector<int64_t> dims, DType dtype, int seed) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    const auto step = static_cast<float>((i * 37 + seed * 11) % 29 - 14);
    values.push_back(is_float(dtype) ? step / 16 : std::abs(step) / 4);
  }
  return TensorData::copy_of<float>(values, dims).cast(dtype);
}

std::unique_ptr<ForgedSubject> feed_forward() {
  auto made = std::make_unique<ForgedSubject>();
  const Tensor x = made->graph.input("x", {3, 16});
  const Tensor up = made->graph.weight("up", {16, 24}), down = made->graph.weight("down", {24, 16});
  made->results = {matmul(gelu(matmul(x, up)), down).output("y")};
  made->data = {{x, numbers({3, 16}, DType::F32, 1)},
                {up, numbers({16, 24}, DType::F32, 2)},
                {down, numbers({24, 16}, DType::F32, 3)}};
  return made;
}

std::unique_ptr<ForgedSubject> dynamic_softmax() {
  auto made = std::make_unique<ForgedSubject>();
  const Expr s = Expr::var("s", 1, 64);
  const Tensor x = made->graph.input("x", {s, 17}, DType::BF16);
  made->results = {softmax(x * 2.0f, -1).output("y"), sum(x, 0).output("z")};
  made->sizes = {{"s", 5}};
  made->data = {{x, numbers({5, 17}, DType::BF16, 4)}};
  return made;
}

std::unique_ptr<ForgedSubject> attention_heads() {
  auto made = std::make_unique<ForgedSubject>();
  const Tensor q = made->graph.input("q", {4, 3, 8}), k = made->graph.input("k", {4, 9, 8});
  const Tensor v = made->graph.input("v", {4, 9, 8});
  made->results = {scaled_dot_product_attention(q, k, v).output("y")};
  made->data = {{q, numbers({4, 3, 8}, DType::F32, 5)},
                {k, numbers({4, 9, 8}, DType::F32, 6)},
                {v, numbers({4, 9, 8}, DType::F32, 7)}};
  return made;
}

std::unique_ptr<ForgedSubject> rows_by_index() {
  auto made = std::make_unique<ForgedSubject>();
  const Tensor table = made->graph.weight("table", {6, 5}, DType::I32);
  const Tensor index = made->graph.input("index", {4}, DType::I64);
  made->results = {(embedding(table, index) * 3 + 1).output("y"), cumsum(table, 1).output("z")};
  made->data = {{table, numbers({6, 5}, DType::I32, 8)}, {index, numbers({4}, DType::I64, 9)}};
  return made;
}

}  // namespace

std::vector<std::vector<double>> ForgedSubject::run(const CompileOptions& options) {
  Executable executable = compile(graph, options);
  return run(executable);
}

std::vector<std::vector<double>> ForgedSubject::run(Executable& executable) {
  for (const auto& [tensor, values] : data) executable.set(tensor, values);
  executable.run(sizes);
  std::vector<std::vector<double>> values;
  for (const Tensor& result : results) values.push_back(executable.get<double>(result));
  return values;
}

std::vector<std::unique_ptr<ForgedSubject>> forged_subjects() {
  std::vector<std::unique_ptr<ForgedSubject>> all;
  all.push_back(feed_forward());
  all.push_back(dynamic_softmax());
  all.push_back(attention_heads());
  all.push_back(rows_by_index());
  return all;
}

bool agree(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  if (a.size() != b.size()) return false;
  for (size_t r = 0; r < a.size(); ++r) {
    if (a[r].size() != b[r].size()) return false;
    for (size_t i = 0; i < a[r].size(); ++i) {
      if (!(std::abs(a[r][i] - b[r][i]) <= 1e-2 * std::max(1.0, std::abs(b[r][i])))) return false;
    }
  }
  return true;
}

}  // namespace luminal::tests
