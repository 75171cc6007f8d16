// Program: a random graph as the foreign generator knows it, with how it is compiled and the data
// of its runs. The compiler gets its text; the oracle evaluates it as it stands.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/graph/node.h"
#include "tests/foreign/index.h"

namespace luminal::tests::foreign {

// One line of the text. `inputs` are places in Program::steps.
struct Step {
  Op op;
  DType dtype;
  Shape shape;
  std::vector<int> inputs = {};
  Role role = Role::Input;  // of an Input
  std::string name = {};    // of an Input
  double real = 0;          // of a Constant of floats
  int64_t integer = 0;      // of other Constants
  Shape map = {};           // of a View; the one expression of an Iota
  std::optional<Reducer> reducer = {};
  bool materialized = false;
  // Of a Sum that back ends may compute in another form (attention, quantised weights): how many
  // units of roundoff of `room_of`, or of the sum of magnitudes, it may be off beyond a sum's own.
  double room = 0;
  int room_of = -1;
  // Evaluated by the oracle alone, for room_of: not part of the graph. `magnitude`: without signs.
  bool shadow = false;
  bool magnitude = false;
};

struct Variable {
  std::string name;
  int64_t low, high;
};

enum class Values : uint8_t {
  Plain,    // about 1 in size
  Whole,    // small integers: sums are exact
  Wide,     // many exponents
  Special,  // with infinities, NaN, subnormals, zeros of both signs, the ends of integers
  Rows,     // indices below `rows`
  Weights,  // positive, about 1/16: scales
};

struct Leaf {
  Values values = Values::Plain;
  Index rows = {};       // of Values::Rows
  bool outside = false;  // of Values::Rows: some lie outside
};

struct ProgramRun {
  std::vector<int64_t> variables;
  std::map<std::string, std::vector<std::byte>> leaves = {};  // a state without data keeps its own
};

struct Program {
  std::vector<Variable> variables;
  std::deque<Step> steps;                    // shapes of steps stay where they are while it grows
  std::map<int, Leaf> leaves;                // by step
  std::vector<int> outputs;                  // named y0, y1 …
  std::vector<std::pair<int, int>> updates;  // of a state, by a value
  std::vector<ProgramRun> runs;
  // How it is compiled.
  FusionPolicy fusion = FusionPolicy::Modelled;
  Numerics numerics = Numerics::Reassociating;
  Rolling rolling = Rolling::Auto;
  int threads = 1;
  // Rows of a scatter lie outside: the interpreter, and with it the checker, refuses that.
  bool has_strays = false;
  // Infinities and NaN of sums aren't promised: docs/numerics.md on attention and quantised
  // weights.
  bool loose_infinities = false;
};

std::string text_of(const Program& program);
// One line: fusion, numerics, rolling, threads and the sizes of each run.
std::string settings_of(const Program& program);

// Bytes of so many elements of a dtype.
size_t bytes_of(DType dtype, int64_t count);

}  // namespace luminal::tests::foreign
