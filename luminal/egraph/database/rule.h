// What rules compile to: a query over numbered slots and a straight-line program of actions.
#pragma once

#include "luminal/egraph/value.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace luminal::egraph {

// A row that must exist: one slot per column, the value last.
struct Atom {
  FunctionId function;
  std::vector<uint32_t> slots;

  friend bool operator==(const Atom&, const Atom&) = default;
};

// A primitive that must give a result; it binds `output`, or must equal what is bound there.
struct Guard {
  PrimitiveId primitive;
  std::vector<uint32_t> inputs;
  uint32_t output = 0;
  bool must_be_true = false;  // a host's bool stands as a fact
};

// A slot that is bound before the search: to a constant, or to a global's class of the moment.
struct Preset {
  uint32_t slot = 0;
  Value value;
  uint32_t global = Value::kNone;  // an index, or none for a constant
};

struct Query {
  uint32_t slots = 0;
  std::vector<Atom> atoms;
  std::vector<Guard> guards;
  std::vector<Preset> presets;
  std::vector<std::pair<uint32_t, uint32_t>> equal_presets;  // no match unless these agree
  bool with_subsumed = false;  // checks see subsumed rows, rules don't
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
  uint32_t id = 0;  // of the function, primitive, global or message
  uint32_t target = 0;
  Value constant = {};
  std::vector<uint32_t> inputs = {};  // registers; for Set the value is the last
};

// Registers 0 … inputs-1 are given; each instruction may write one more.
struct Program {
  // Whether only terms and unions are added, so that many matches may take each step together.
  bool only_adds() const;

  uint32_t inputs = 0;
  uint32_t registers = 0;
  std::vector<Instruction> code;
  std::vector<std::string> messages;
};

struct Expr;

// What two values of a function for the same arguments make.
struct Merge {
  enum class Kind : uint8_t { Unite, MustAgree, Run };

  Kind kind = Kind::MustAgree;
  Program program = {};  // of Run: registers 0 and 1 are the old and the new value
  uint32_t result = 0;
  std::shared_ptr<const Expr> syntax = {};  // what a checker of proofs reads
};

}  // namespace luminal::egraph
