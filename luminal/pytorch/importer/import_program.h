// Programs that come without a file: torch.compile gives the records, and who runs the graph gives
// the elements of its leaves.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "luminal/pytorch/pt2.h"

namespace luminal::pytorch {

// What the importer is told of the elements of leaves. Either function may be empty.
struct LeafElements {
  // Of a weight, state or constant; null: they are set before the first run.
  std::function<DataLoader(const std::string& path)> loader;
  // Of a constant that becomes part of the graph; none: it becomes a weight.
  std::function<std::optional<TensorData>(const std::string& path)> literal;
};

// As import_program() of a .pt2 file. Buffers that the program writes to are states.
ImportedGraph import_program(const ExportedProgram& program, const LeafElements& elements);

// Whether the table has the operator: "aten.add.Tensor", or the form that writes in place.
bool knows_operator(std::string_view target);

}  // namespace luminal::pytorch
