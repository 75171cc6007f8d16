// Compiles actions: expressions become instructions over registers; primitives are filled in once
// the sorts are known.
#include "luminal/egraph/compile/compile.h"
#include "luminal/egraph/compile/query_compiler.h"
#include "luminal/egraph/compile/sort_solver.h"

#include <memory>
#include <utility>

namespace luminal::egraph {
namespace {

struct Typed {
  uint32_t reg;
  uint32_t sort;  // a variable of the sort solver
};

enum class Place : uint8_t { Rule, NaiveRule, Command, Merge };

class ActionCompiler {
 public:
  ActionCompiler(const Scope& scope, SortSolver& sorts, Place place, uint32_t inputs)
      : scope_(scope), schema_(scope.database.schema), sorts_(sorts), place_(place) {
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
    return emit({.op = Instruction::Op::Constant, .constant = literal.value}, literal.sort,
                expr.position);
  }

  void expect(Typed value, SortId sort, const Expr& at) {
    sorts_.require(value.sort, sort, at.position);
  }

  // Call after the sorts are solved.
  Program finish() {
    for (const Pending& pending : pending_) {
      program_.code[pending.instruction].id = sorts_.primitive(pending.call).value;
    }
    for (const auto& [sort, position] : united_) {
      const SortId known = sorts_.known_sort(sort);
      if (schema_.is_equality(known)) continue;
      fail(position, "values of sort " + schema_.sort(known).name +
                         " can't be united; only terms of a sort or datatype can");
    }
    return std::move(program_);
  }

 private:
  // An instruction whose primitive is still unresolved.
  struct Pending {
    size_t instruction;
    uint32_t call;
  };

  [[noreturn]] void fail(SourcePosition position, const std::string& message) const {
    base::fail_at(scope_.source, position, message);
  }

  Typed emit(Instruction instruction, SortId sort, SourcePosition position) {
    instruction.target = program_.registers++;
    program_.code.push_back(std::move(instruction));
    return {.reg = program_.code.back().target, .sort = sorts_.make(sort, "", position)};
  }

  Typed variable(const Expr& expr) {
    if (const auto local = names_.find(expr.name); local != names_.end()) return local->second;
    if (const auto global = scope_.globals.find(expr.name); global != scope_.globals.end()) {
      return emit({.op = Instruction::Op::Global, .id = global->second},
                  scope_.database.globals[global->second].sort, expr.position);
    }
    fail(expr.position, "'" + expr.name + "' isn't bound" +
                            (place_ == Place::Merge ? "; a merge knows 'old' and 'new'"
                             : place_ == Place::Command
                                 ? "; bind it with (let " + expr.name + " …)"
                                 : "; bind it in the query or with (let " + expr.name + " …)"));
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
      if (is_function && place_ == Place::Rule) {
        fail(expr.position, "function '" + expr.name + "' can't be looked up in an action; bind " +
                                "its value in the query: (= x (" + expr.name + " …))");
      }
      Instruction instruction{.op = is_function ? Instruction::Op::Lookup : Instruction::Op::Add,
                              .id = id->value};
      instruction.inputs = arguments(expr, function);
      return emit(std::move(instruction), function.output, expr.position);
    }
    return primitive(expr);
  }

  Typed primitive(const Expr& expr) {
    if (schema_.find_primitives(expr.name).empty()) {
      fail(expr.position,
           "'" + expr.name + "' is neither a function nor a primitive; declare it before its use");
    }
    Instruction instruction{.op = Instruction::Op::Primitive};
    std::vector<uint32_t> inputs;
    for (const Expr& arg : expr.args) {
      const Typed value = value_of(arg);
      instruction.inputs.push_back(value.reg);
      inputs.push_back(value.sort);
    }
    const Typed result = emit(std::move(instruction), SortId{}, expr.position);
    pending_.push_back(
        {.instruction = program_.code.size() - 1,
         .call = sorts_.add_call(expr.name, std::move(inputs), result.sort, expr.position)});
    return result;
  }

  FunctionId called_function(const Expr& expr) const {
    const auto id = schema_.find_function(expr.name);
    if (!id)
      fail(expr.position, "'" + expr.name + "' is not a function; declare it before its use");
    return *id;
  }

  void add_let(const ActionSyntax& action) {
    if (names_.contains(action.name) || scope_.globals.contains(action.name)) {
      fail(action.position, "'" + action.name + "' is bound already; choose another name");
    }
    if (schema_.find_function(action.name)) {
      fail(action.position, "'" + action.name + "' is a function already; choose another name");
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
    sorts_.join(b.sort, a.sort, action.exprs[1].position);
    united_.emplace_back(a.sort, action.position);
    program_.code.push_back({.op = Instruction::Op::Union, .inputs = {a.reg, b.reg}});
  }

  void add_subsume(const ActionSyntax& action) {
    const Function& function = schema_.function(called_function(action.exprs[0]));
    if (function.kind == FunctionKind::Function) {
      fail(action.position, "'" + function.name +
                                "' is a function, whose values can't be subsumed;" +
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
  SortSolver& sorts_;
  Place place_;
  Program program_;
  std::vector<Pending> pending_;
  std::vector<std::pair<uint32_t, SourcePosition>> united_;  // sorts that must be equality sorts
  std::map<std::string, Typed, std::less<>> names_;
};

// Keeps only slots that the program reads and renumbers its registers: inputs first.
void keep_used_slots(CompiledRule& rule) {
  Program& program = rule.program;
  const uint32_t slots = program.inputs;
  std::vector<uint32_t> number(program.registers);
  std::vector<bool> used(slots);
  for (const Instruction& instruction : program.code) {
    for (uint32_t reg : instruction.inputs) {
      if (reg < slots) used[reg] = true;
    }
  }
  for (uint32_t slot = 0; slot < slots; ++slot) {
    if (!used[slot]) continue;
    number[slot] = static_cast<uint32_t>(rule.kept.size());
    rule.kept.push_back(slot);
  }
  const uint32_t kept = static_cast<uint32_t>(rule.kept.size());
  for (uint32_t reg = slots; reg < program.registers; ++reg) number[reg] = kept + reg - slots;
  for (Instruction& instruction : program.code) {
    instruction.target = instruction.target < slots ? 0 : number[instruction.target];
    for (uint32_t& reg : instruction.inputs) reg = number[reg];
  }
  program.inputs = kept;
  program.registers = kept + program.registers - slots;
}

}  // namespace

CompiledRule compile_rule(const Scope& scope, std::span<const Fact> facts,
                          std::span<const ActionSyntax> actions, bool naive) {
  SortSolver sorts(scope.database.schema, scope.source);
  QueryCompiler query(scope, sorts);
  query.add(facts);
  const QueryCompiler::Bindings bindings = query.bindings();
  ActionCompiler compiler(scope, sorts, naive ? Place::NaiveRule : Place::Rule, query.slots());
  for (const auto& [name, binding] : bindings) {
    compiler.bind(name, {.reg = binding.slot, .sort = binding.sort});
  }
  for (const ActionSyntax& action : actions) compiler.add(action);
  sorts.solve();
  CompiledRule rule;
  rule.query = query.finish();
  for (const auto& [name, binding] : bindings) {
    rule.variables.emplace(name, Binding{binding.slot, sorts.known_sort(binding.sort)});
  }
  rule.program = compiler.finish();
  keep_used_slots(rule);
  return rule;
}

Program compile_command(const Scope& scope, const ActionSyntax& action) {
  SortSolver sorts(scope.database.schema, scope.source);
  ActionCompiler compiler(scope, sorts, Place::Command, 0);
  compiler.add(action);
  sorts.solve();
  return compiler.finish();
}

CompiledExpr compile_expr(const Scope& scope, const Expr& expr) {
  SortSolver sorts(scope.database.schema, scope.source);
  ActionCompiler compiler(scope, sorts, Place::Command, 0);
  const Typed value = compiler.value_of(expr);
  sorts.solve();
  return {.program = compiler.finish(), .result = value.reg, .sort = sorts.known_sort(value.sort)};
}

Merge compile_merge(const Scope& scope, const Expr& expr, SortId output) {
  SortSolver sorts(scope.database.schema, scope.source);
  ActionCompiler compiler(scope, sorts, Place::Merge, 2);
  compiler.bind("old", {.reg = 0, .sort = sorts.make(output, "old", expr.position)});
  compiler.bind("new", {.reg = 1, .sort = sorts.make(output, "new", expr.position)});
  const Typed value = compiler.value_of(expr);
  compiler.expect(value, output, expr);
  sorts.solve();
  return {.kind = Merge::Kind::Run,
          .program = compiler.finish(),
          .result = value.reg,
          .syntax = std::make_shared<const Expr>(expr)};
}

}  // namespace luminal::egraph
