// What rules compile to: a query over numbered slots and a straight-line program of actions.
#pragma once

#include "luminal/egraph/value.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace luminal::egraph {

// A row that must exist: one slot per column, the value's slot last.
struct Atom {
  FunctionId function;
  std::vector<uint32_t> slots;

  friend bool operator==(const Atom&, const Atom&) = default;
};

// A primitive that must give a result; it binds `output`, or must equal the value bound there.
struct Guard {
  PrimitiveId primitive;
  std::vector<uint32_t> inputs;
  uint32_t output = 0;
  bool must_be_true = false;  // a fact that is a host's bool
};

// A slot bound before the search: to a constant, or to the current class of a global.
struct Preset {
  uint32_t slot = 0;
  Value value;
  uint32_t global = Value::kNone;  // an index; kNone for a constant
};

struct Query {
  uint32_t slots = 0;
  std::vector<Atom> atoms;
  std::vector<Guard> guards;
  std::vector<Preset> presets;
  std::vector<std::pair<uint32_t, uint32_t>> equal_presets;  // pairs of slots that must be equal
  bool with_subsumed = false;  // true in checks: rules don't see subsumed rows
};

struct Instruction {
  enum class Op : uint8_t {
    Constant,
    Global,
    Primitive,
    Add,
    Lookup,
    Set,
    Union,
    Delete,
    Subsume,
    Panic,
  };

  Op op = Op::Constant;
  uint32_t id = 0;  // a function, primitive, global or message
  uint32_t target = 0;
  Value constant = {};
  std::vector<uint32_t> inputs = {};  // registers; Set has the value last
};

// Registers 0 … inputs-1 are the inputs; each instruction may write one more.
struct Program {
  // Whether the actions only add terms and unions: then matches can be executed in lockstep.
  bool only_adds() const;

  uint32_t inputs = 0;
  uint32_t registers = 0;
  std::vector<Instruction> code;
  std::vector<std::string> messages;
};

struct Expr;

// How two values of a function for the same arguments are combined.
struct Merge {
  enum class Kind : uint8_t { Unite, MustAgree, Run };

  Kind kind = Kind::MustAgree;
  Program program = {};  // for Run: registers 0 and 1 hold the old and the new value
  uint32_t result = 0;
  std::shared_ptr<const Expr> syntax = {};  // read by the proof checker
};

}  // namespace luminal::egraph
