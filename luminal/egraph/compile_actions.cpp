// Actions: expressions become instructions over registers, checked from the leaves up.
#include "luminal/egraph/compile.h"

#include <optional>
#include <utility>

namespace luminal::egraph {
namespace {

struct Typed {
  uint32_t reg;
  SortId sort;
};

enum class Place : uint8_t { Rule, Command, Merge };

class ActionCompiler {
 public:
  ActionCompiler(const Scope& scope, Place place, uint32_t inputs)
      : scope_(scope), schema_(scope.database.schema), place_(place) {
    program_.inputs = inputs;
    program_.registers = inputs;
  }

  void bind(std::string name, Typed value) { names_.emplace(std::move(name), value); }

  void add(const ActionSyntax& action) {
    switch (action.kind) {
      case ActionSyntax::Kind::Let:
        return add_let(action);
      case ActionSyntax::Kind::Set:
        return add_set(action);
      case ActionSyntax::Kind::Union:
        return add_union(action);
      case ActionSyntax::Kind::Delete:
        return add_change(action, Instruction::Op::Delete);
      case ActionSyntax::Kind::Subsume:
        return add_subsume(action);
      case ActionSyntax::Kind::Panic:
        program_.code.push_back(
            {.op = Instruction::Op::Panic, .id = static_cast<uint32_t>(program_.messages.size())});
        program_.messages.push_back(action.name);
        return;
      case ActionSyntax::Kind::Eval:
        value_of(action.exprs[0]);
        return;
    }
  }

  Typed value_of(const Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::Variable:
        return variable(expr);
      case Expr::Kind::Call:
        return call(expr);
      case Expr::Kind::I64:
      case Expr::Kind::F64:
      case Expr::Kind::String:
      case Expr::Kind::Bool:
      case Expr::Kind::Unit:
        break;
    }
    const Literal literal = intern_literal(scope_.database, expr);
    return emit({.op = Instruction::Op::Constant, .constant = literal.value}, literal.sort);
  }

  void expect(Typed value, SortId sort, const Expr& at) const {
    if (value.sort == sort) return;
    fail(at.position,
         "this is of sort " + sort_name(value.sort) + " where " + sort_name(sort) + " is expected");
  }

  Program take() { return std::move(program_); }

 private:
  [[noreturn]] void fail(SourcePosition position, const std::string& message) const {
    base::fail_at(scope_.source, position, message);
  }

  const std::string& sort_name(SortId sort) const { return schema_.sort(sort).name; }

  Typed emit(Instruction instruction, SortId sort) {
    instruction.target = program_.registers++;
    program_.code.push_back(std::move(instruction));
    return {.reg = program_.code.back().target, .sort = sort};
  }

  Typed variable(const Expr& expr) {
    if (const auto local = names_.find(expr.name); local != names_.end()) return local->second;
    if (const auto global = scope_.globals.find(expr.name); global != scope_.globals.end()) {
      return emit({.op = Instruction::Op::Global, .id = global->second},
                  scope_.database.globals[global->second].sort);
    }
    fail(expr.position,
         "'" + expr.name + "' isn't bound" +
             (place_ == Place::Rule    ? "; bind it in the query or with (let " + expr.name + " …)"
              : place_ == Place::Merge ? "; a merge knows 'old' and 'new'"
                                       : "; bind it with (let " + expr.name + " …)"));
  }

  std::vector<uint32_t> arguments(const Expr& expr, const Function& function) {
    if (function.inputs.size() != expr.args.size()) {
      fail(expr.position, "'" + expr.name + "' takes " + std::to_string(function.inputs.size()) +
                              " arguments, found " + std::to_string(expr.args.size()) +
                              "; it is declared as " +
                              print_call_sorts(schema_, function.name, function.inputs));
    }
    std::vector<uint32_t> registers;
    for (size_t i = 0; i < expr.args.size(); ++i) {
      const Typed value = value_of(expr.args[i]);
      expect(value, function.inputs[i], expr.args[i]);
      registers.push_back(value.reg);
    }
    return registers;
  }

  Typed call(const Expr& expr) {
    if (const auto id = schema_.find_function(expr.name)) {
      const Function& function = schema_.function(*id);
      const bool is_function = function.kind == FunctionKind::Function;
      if (is_function && place_ != Place::Command) {
        fail(expr.position, "function '" + expr.name + "' can't be looked up in " +
                                (place_ == Place::Rule ? "an action" : "a merge") +
                                "; bind its value in the query: (= x (" + expr.name + " …))");
      }
      Instruction instruction{.op = is_function ? Instruction::Op::Lookup : Instruction::Op::Add,
                              .id = id->value};
      instruction.inputs = arguments(expr, function);
      return emit(std::move(instruction), function.output);
    }
    return primitive(expr);
  }

  Typed primitive(const Expr& expr) {
    const std::vector<PrimitiveId>& overloads = schema_.find_primitives(expr.name);
    if (overloads.empty()) {
      fail(expr.position,
           "'" + expr.name + "' is neither a function nor a primitive; declare it before its use");
    }
    Instruction instruction{.op = Instruction::Op::Primitive};
    std::vector<SortId> sorts;
    for (const Expr& arg : expr.args) {
      const Typed value = value_of(arg);
      instruction.inputs.push_back(value.reg);
      sorts.push_back(value.sort);
    }
    for (PrimitiveId id : overloads) {
      const Primitive& candidate = schema_.primitive(id);
      const bool fits = candidate.any_sort ? sorts.size() == 2 && sorts[0] == sorts[1]
                                           : sorts == candidate.inputs;
      if (!fits) continue;
      instruction.id = id.value;
      return emit(std::move(instruction), candidate.output);
    }
    fail(expr.position, "no primitive takes " + print_call_sorts(schema_, expr.name, sorts) +
                            "; there is " + print_overloads(schema_, expr.name));
  }

  FunctionId called_function(const Expr& expr) const {
    const auto id = schema_.find_function(expr.name);
    if (!id) fail(expr.position, "'" + expr.name + "' is no function; declare it before its use");
    return *id;
  }

  void add_let(const ActionSyntax& action) {
    if (names_.contains(action.name) || scope_.globals.contains(action.name)) {
      fail(action.position, "'" + action.name + "' is bound already; choose another name");
    }
    names_.emplace(action.name, value_of(action.exprs[0]));
  }

  void add_set(const ActionSyntax& action) {
    const Expr& target = action.exprs[0];
    const FunctionId id = called_function(target);
    const Function& function = schema_.function(id);
    if (function.kind == FunctionKind::Constructor) {
      fail(action.position, "'" + function.name + "' is a constructor; use (union (" +
                                function.name + " …) value) instead of set");
    }
    if (function.kind == FunctionKind::Relation) {
      fail(action.position, "'" + function.name + "' is a relation; write (" + function.name +
                                " …) to make it hold");
    }
    Instruction instruction{.op = Instruction::Op::Set, .id = id.value};
    instruction.inputs = arguments(target, function);
    const Typed value = value_of(action.exprs[1]);
    expect(value, function.output, action.exprs[1]);
    instruction.inputs.push_back(value.reg);
    program_.code.push_back(std::move(instruction));
  }

  void add_union(const ActionSyntax& action) {
    const Typed a = value_of(action.exprs[0]), b = value_of(action.exprs[1]);
    expect(b, a.sort, action.exprs[1]);
    if (!schema_.is_equality(a.sort)) {
      fail(action.position, "values of sort " + sort_name(a.sort) +
                                " can't be united; only terms of a sort or datatype can");
    }
    program_.code.push_back({.op = Instruction::Op::Union, .inputs = {a.reg, b.reg}});
  }

  void add_subsume(const ActionSyntax& action) {
    const Function& function = schema_.function(called_function(action.exprs[0]));
    if (function.kind == FunctionKind::Function) {
      fail(action.position, "'" + function.name + "' is a function, whose values can't be subsumed;" +
                                " only constructors and relations can: delete it, or set another"
                                " value");
    }
    add_change(action, Instruction::Op::Subsume);
  }

  // Deletes or subsumes the row at these arguments.
  void add_change(const ActionSyntax& action, Instruction::Op op) {
    const FunctionId id = called_function(action.exprs[0]);
    Instruction instruction{.op = op, .id = id.value};
    instruction.inputs = arguments(action.exprs[0], schema_.function(id));
    program_.code.push_back(std::move(instruction));
  }

  const Scope& scope_;
  const Schema& schema_;
  Place place_;
  Program program_;
  std::map<std::string, Typed, std::less<>> names_;
};

// Keeps the slots that the program reads and renumbers its registers: inputs first.
CompiledActions keep_used_slots(Program program, uint32_t slots) {
  CompiledActions result;
  std::vector<uint32_t> number(program.registers);
  std::vector<bool> used(slots);
  for (const Instruction& instruction : program.code) {
    for (uint32_t reg : instruction.inputs) {
      if (reg < slots) used[reg] = true;
    }
  }
  for (uint32_t slot = 0; slot < slots; ++slot) {
    if (!used[slot]) continue;
    number[slot] = static_cast<uint32_t>(result.kept.size());
    result.kept.push_back(slot);
  }
  const uint32_t kept = static_cast<uint32_t>(result.kept.size());
  for (uint32_t reg = slots; reg < program.registers; ++reg) number[reg] = kept + reg - slots;
  for (Instruction& instruction : program.code) {
    instruction.target = instruction.target < slots ? 0 : number[instruction.target];
    for (uint32_t& reg : instruction.inputs) reg = number[reg];
  }
  program.inputs = kept;
  program.registers = kept + program.registers - slots;
  result.program = std::move(program);
  return result;
}

}  // namespace

CompiledActions compile_actions(const Scope& scope, const CompiledQuery& query,
                                std::span<const ActionSyntax> actions) {
  ActionCompiler compiler(scope, Place::Rule, query.query.slots);
  for (const auto& [name, binding] : query.variables) {
    compiler.bind(name, {.reg = binding.slot, .sort = binding.sort});
  }
  for (const ActionSyntax& action : actions) compiler.add(action);
  return keep_used_slots(compiler.take(), query.query.slots);
}

Program compile_command(const Scope& scope, const ActionSyntax& action) {
  ActionCompiler compiler(scope, Place::Command, 0);
  compiler.add(action);
  return compiler.take();
}

CompiledExpr compile_expr(const Scope& scope, const Expr& expr) {
  ActionCompiler compiler(scope, Place::Command, 0);
  const Typed value = compiler.value_of(expr);
  return {.program = compiler.take(), .result = value.reg, .sort = value.sort};
}

Merge compile_merge(const Scope& scope, const Expr& expr, SortId output) {
  ActionCompiler compiler(scope, Place::Merge, 2);
  compiler.bind("old", {.reg = 0, .sort = output});
  compiler.bind("new", {.reg = 1, .sort = output});
  const Typed value = compiler.value_of(expr);
  compiler.expect(value, output, expr);
  return {.kind = Merge::Kind::Run, .program = compiler.take(), .result = value.reg};
}

}  // namespace luminal::egraph
