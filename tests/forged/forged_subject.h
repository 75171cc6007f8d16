// A program whose compiled forms are forged: a graph, data for its leaves, and its results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "luminal/luminal.h"

namespace luminal::tests {

class ForgedSubject {
 public:
  virtual ~ForgedSubject() = default;
  Graph graph;
  std::vector<Tensor> results;
  std::vector<std::pair<Tensor, TensorData>> data;
  Bindings sizes;

  // What a compile with these options computes; bytes of all results.
  std::vector<std::vector<double>> run(const CompileOptions& options);
  std::vector<std::vector<double>> run(Executable& executable);
};

// A feed-forward, a softmax over a dynamic length, attention, whole numbers with
// rows by index.
std::vector<std::unique_ptr<ForgedSubject>> forged_subjects();

// Whether they are the same but for roundings.
bool agree(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b);

}  // namespace luminal::tests
