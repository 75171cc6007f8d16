// .pt2 files: what torch.export.save() writes, read without Python.
//
// A file is a zip archive of stored members: the graph as JSON, and each tensor's storage, which is
// mapped in place. No pickle is ever read: what would need one is refused by name.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/graph.h"
#include "luminal/pytorch/exported_program.h"

namespace luminal::pytorch {

// Whether a path names such a file: by its ending, or a zip archive of no other known format. False
// where there is no file.
LUMINAL_API bool looks_like_pt2(const std::string& path);

// A file with its parts checked. Copies share the mapping.
class LUMINAL_API Pt2File {
 public:
  // UserError that names the place for what isn't a file of this format, or is damaged.
  static Pt2File open(const std::string& path);
  // The same of bytes that stay valid as long as `owner` lives. `name` stands in messages.
  static Pt2File parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                       const std::string& name);

  const ExportedProgram& program() const;
  // The elements of a parameter, buffer or constant by its path; without a copy where they are
  // contiguous. UserError for an unknown path.
  TensorData data(const std::string& path) const;

 private:
  struct Contents;
  explicit Pt2File(std::shared_ptr<const Contents> contents);
  std::shared_ptr<const Contents> contents_;
};

// An operator that the outputs of a program need and that isn't supported, with its calls in order.
struct UnknownOperator {
  std::string target;
  std::vector<const Call*> calls;
};
LUMINAL_API std::vector<UnknownOperator> unknown_operators(const ExportedProgram& program);

struct ImportedGraph {
  std::shared_ptr<Graph> graph;
  std::vector<std::string> inputs;   // of the user, in order
  std::vector<std::string> outputs;  // in order
  std::vector<std::string> guards;
};

// The graph of a program. Weights have the paths of parameters, buffers that runs change are
// states. `file` gives their elements. Results of calls are labelled with the operator, the module
// and the user's line. UserError with that place for all operators that aren't supported.
LUMINAL_API ImportedGraph import_program(const ExportedProgram& program, const Pt2File& file);
LUMINAL_API ImportedGraph import_pt2(const std::string& path);

}  // namespace luminal::pytorch
