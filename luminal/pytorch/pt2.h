// .pt2 files: what torch.export.save() writes, read without Python.
//
// A file is a zip archive of stored members: the graph as JSON, and each tensor's storage, which is
// mapped in place. No pickle is ever read: what would need one is refused by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/graph.h"
#include "luminal/pytorch/exported_program.h"

namespace luminal::pytorch {

// A file with its parts checked. Copies share the mapping.
class LUMINAL_API Pt2File {
 public:
  // UserError that names the place for what isn't a file of this format, or is damaged.
  static Pt2File open(const std::string& path);

  const ExportedProgram& program() const;
  // The elements of a parameter, buffer or constant by its path; without a copy where they are
  // contiguous. UserError for an unknown path.
  TensorData data(const std::string& path) const;

 private:
  struct Contents;
  explicit Pt2File(std::shared_ptr<const Contents> contents);
  std::shared_ptr<const Contents> contents_;
};

struct ImportedGraph {
  std::shared_ptr<Graph> graph;
  std::vector<std::string> inputs;   // of the user, in order
  std::vector<std::string> outputs;  // in order
  std::vector<std::string> guards;
};

// The graph of a program. Weights have the paths of parameters, buffers that runs change are
// states. `file` gives their elements. UserError with the user's line for an operator that isn't
// supported.
LUMINAL_API ImportedGraph import_program(const ExportedProgram& program, const Pt2File& file);
LUMINAL_API ImportedGraph import_pt2(const std::string& path);

}  // namespace luminal::pytorch
