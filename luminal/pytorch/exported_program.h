// ExportedProgram: a graph of PyTorch's operators as records, whoever recorded them: a .pt2 file,
// or torch.compile.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/shape/dtype.h"
#include "luminal/shape/index_map.h"

namespace luminal::pytorch {

// The name of a value that an input or an earlier call gives.
struct Ref {
  std::string name;
};

// An argument of a call, as it was written.
struct Argument {
  using List = std::vector<Argument>;
  // None, or one of these. A word is a device, a layout, a memory format or a rounding mode.
  std::variant<std::monostate, bool, int64_t, double, std::string, DType, Ref, List> value;

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
};

struct NamedArgument {
  std::string name;  // empty: by position
  Argument argument;
};

struct Call {
  std::string target;  // "aten.add.Tensor", "_operator.mul"
  std::vector<NamedArgument> arguments;
  // Names of the results; of a call that gives a list, of its items.
  std::vector<std::string> results;
  std::string source;  // the user's line: "model.py:12: y = x + 1"; empty if it isn't known
  std::string module;  // path of the module: "layers.3.mlp"
};

// Where the user wrote it: " in layers.3.mlp (model.py:12: y = x + 1)"; empty if it isn't known.
LUMINAL_API std::string place_of(const Call& call);

enum class InputRole : uint8_t { Parameter, Buffer, Constant, User, Literal };
struct ProgramInput {
  InputRole role;
  std::string name;  // of the value
  std::string path;  // of a parameter, buffer or constant: "layers.3.mlp.weight"
  DType dtype = DType::F32;
  Dims dims;
  Argument literal;        // of a Literal: the number or None that the user gave
  bool is_number = false;  // of a User: a symbolic integer, whose value is dims[0]
};

struct ProgramOutput {
  Argument value;
  std::string mutates;  // not empty: the buffer or user input that the value is written to
  bool mutates_buffer = false;
  bool is_tensor = false;  // one that the program describes
  DType dtype = DType::F32;
  Dims dims = {};
};

struct ExportedProgram {
  std::string source;         // names it in messages
  std::string torch_version;  // that exported it; empty if it isn't known
  std::vector<ProgramInput> inputs;
  std::vector<Call> calls;
  std::vector<ProgramOutput> outputs;
  std::vector<std::string> guards;  // what was assumed of sizes, as PyTorch writes it
};

}  // namespace luminal::pytorch
