#include "luminal/egraph/inside/explain.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/egraph/inside/proof_checker.h"
#include "luminal/egraph/inside/term_text.h"
#include "luminal/egraph/language/parser.h"
#include "luminal/egraph/rebuild.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace luminal::egraph {

namespace {

// --- one application of a rule, or one merge --------------------------------------------------

// The values of an application as the log has them.
struct Application {
  const Program* program = nullptr;
  std::vector<uint32_t> matched;                // facts by atom; of a merge the old and the new
  std::vector<Value> inputs;                    // of the program
  std::vector<SortId> input_sorts;              // not valid for base values
  std::map<uint32_t, uint32_t> register_facts;  // of terms and look-ups, by register
};

class Explainer {
 public:
  Explainer(Engine& engine, const UnionForest& forest)
      : engine_(engine),
        database_(engine.database),
        log_(*engine.database.proofs),
        forest_(forest),
        next_term_(static_cast<uint32_t>(engine.database.ids().size())) {}

  bool are_equal(Value a, Value b) const {
    return forest_.connected(known(a).value, known(b).value);
  }

  Explanation explain(Value a, Value b, SortId sort) {
    const Value from = known(a), to = known(b);
    result_ = {.left = a, .right = b, .sort = sort, .terms = {}, .steps = {}, .chain = {}};
    const std::vector<UnionForest::Edge> path = forest_.path(from.value, to.value);
    for (const UnionForest::Edge& edge : path) need_union(edge.number);
    need_term(a);
    need_term(b);
    work();
    write_steps();
    if (from != a) result_.chain.push_back({.step = asked_step(a), .reversed = false});
    for (const UnionForest::Edge& edge : path) {
      result_.chain.push_back({.step = union_steps_.at(edge.number), .reversed = edge.reversed});
    }
    if (to != b) result_.chain.push_back({.step = asked_step(b), .reversed = true});
    return std::move(result_);
  }

  // The id of a term as it is written. Where it was never made so, it gets an id of its own, equal
  // by congruence to the term that stands in its place.
  Value asked(const CompiledExpr& compiled) {
    std::vector<Value> actual(compiled.program.registers), exact(compiled.program.registers);
    for (const Instruction& instruction : compiled.program.code) {
      std::vector<Value> inputs, exact_inputs;
      for (const uint32_t reg : instruction.inputs) {
        inputs.push_back(actual[reg]);
        exact_inputs.push_back(exact[reg]);
      }
      Value& to = actual[instruction.target];
      Value& exact_to = exact[instruction.target];
      switch (instruction.op) {
        case Instruction::Op::Constant:
          to = exact_to = instruction.constant;
          break;
        case Instruction::Op::Global:
          to = database_.globals[instruction.id].value;
          exact_to = log_.global(instruction.id);
          break;
        case Instruction::Op::Primitive:
          to = exact_to = *database_.schema.primitive(PrimitiveId{instruction.id})
                               .run(database_.constants, inputs);
          break;
        default: {
          const FunctionId function{instruction.id};
          const uint32_t fact = database_.table(function).fact(database_.row_of(function, inputs));
          to = *database_.lookup(function, inputs);
          exact_to = instruction.op == Instruction::Op::Lookup
                         ? looked_up(fact)
                         : asked_term(function, fact, std::move(exact_inputs));
        }
      }
    }
    return exact[compiled.result];
  }

 private:
  struct Asked {
    uint32_t fact;  // of the term that stands in its place
    ProofTerm term;
  };

  // --- reading the log

  const Function& function_of(uint32_t fact) const {
    return database_.schema.function(FunctionId{log_.fact(fact).function});
  }
  std::span<const Value> arguments(uint32_t fact) const {
    return log_.values(fact, function_of(fact).inputs.size());
  }
  Value value(uint32_t fact) const {
    return log_.values(fact, function_of(fact).inputs.size() + 1).back();
  }
  SortId column_sort(const Function& function, size_t column) const {
    return column < function.inputs.size() ? function.inputs[column] : function.output;
  }

  // --- terms that were asked for

  Value looked_up(uint32_t fact) {
    need_fact(fact);
    return value(fact);
  }

  Value asked_term(FunctionId function, uint32_t fact, std::vector<Value> exact) {
    const std::span<const Value> made = arguments(fact);
    if (std::equal(made.begin(), made.end(), exact.begin(), exact.end())) return value(fact);
    const Function& declared = database_.schema.function(function);
    const uint32_t all = static_cast<uint32_t>(log_.unions().size());
    for (size_t i = 0; i < exact.size(); ++i) {
      need_equal(known(exact[i], declared.inputs[i]), made[i], declared.inputs[i], all);
    }
    need_term(value(fact));
    const Value id{next_term_++};
    asked_.push_back({.fact = fact, .term = {id, function, std::move(exact)}});
    return id;
  }

  // The id in the log that a term which was asked for is equal to.
  Value known(Value id) const {
    const size_t ids = database_.ids().size();
    return id.index() < ids ? id : value(asked_[id.index() - ids].fact);
  }
  Value known(Value value, SortId sort) const {
    return database_.is_equality(sort) ? known(value) : value;
  }
  uint32_t asked_step(Value id) const {
    const size_t number = id.index() - database_.ids().size();
    return static_cast<uint32_t>(result_.steps.size() - asked_.size() + number);
  }

  // --- what is needed

  void need_fact(uint32_t fact) {
    if (facts_.insert(fact).second) open_facts_.push_back(fact);
  }
  void need_union(uint32_t number) {
    if (unions_.insert(number).second) open_unions_.push_back(number);
  }
  void need_term(Value id) {
    if (id.index() >= database_.ids().size()) {
      const ProofTerm& term = asked_[id.index() - database_.ids().size()].term;
      const Function& function = database_.schema.function(term.function);
      for (size_t i = 0; i < term.arguments.size(); ++i) {
        need_terms(term.arguments[i], function.inputs[i]);
      }
      return;
    }
    if (terms_.insert(id.value).second) open_terms_.push_back(id);
  }
  void need_terms(Value value, SortId sort) {
    database_.for_each_id(value, sort, [this](Value id) { need_term(id); });
  }

  // Only unions that came before a time may be relied on then.
  bool equal_before(Value a, Value b, SortId sort, uint32_t before) const {
    if (a == b) return true;
    if (database_.is_equality(sort)) {
      if (!forest_.connected(a.value, b.value)) return false;
      const auto path = forest_.path(a.value, b.value);
      return std::all_of(path.begin(), path.end(),
                         [&](const auto& edge) { return edge.number < before; });
    }
    if (!database_.holds_ids(sort)) return false;
    const Containers& containers = database_.constants.containers;
    const auto items_a = containers.items(sort, a), items_b = containers.items(sort, b);
    const size_t width = containers.shape(sort).elements.size();
    if (containers.shape(sort).kind == ContainerKind::Vec) {
      if (items_a.size() != items_b.size()) return false;
      for (size_t i = 0; i < items_a.size(); ++i) {
        if (!equal_before(items_a[i], items_b[i], containers.item_sort(sort, i), before)) {
          return false;
        }
      }
      return true;
    }
    return has_entries(items_a, items_b, sort, width, before) &&
           has_entries(items_b, items_a, sort, width, before);
  }
  bool has_entries(std::span<const Value> all, std::span<const Value> in, SortId sort, size_t width,
                   uint32_t before) const {
    for (size_t i = 0; i < all.size(); i += width) {
      if (!find_entry(all.subspan(i, width), in, sort, before)) return false;
    }
    return true;
  }
  // Where an entry of one container stands in another: the one that the fewest unions make equal.
  std::optional<size_t> find_entry(std::span<const Value> entry, std::span<const Value> in,
                                   SortId sort, uint32_t before) const {
    std::optional<size_t> found;
    size_t fewest = 0;
    for (size_t at = 0; at < in.size(); at += entry.size()) {
      size_t unions = 0;
      bool same = true;
      for (size_t c = 0; c < entry.size() && same; ++c) {
        const SortId item = database_.constants.containers.item_sort(sort, c);
        same = equal_before(entry[c], in[at + c], item, before);
        if (!same || !database_.is_equality(item)) continue;
        unions += forest_.path(entry[c].value, in[at + c].value).size();
      }
      if (!same || (found && unions >= fewest)) continue;
      found = at;
      fewest = unions;
    }
    return found;
  }

  void need_equal(Value a, Value b, SortId sort, uint32_t before) {
    if (a == b) return;
    if (database_.is_equality(sort)) {
      for (const auto& edge : forest_.path(a.value, b.value)) {
        LUMINAL_CHECK(edge.number < before, "an explanation would rest on what came later");
        need_union(edge.number);
      }
      return;
    }
    LUMINAL_CHECK(database_.holds_ids(sort), "different constants can't be equal");
    const Containers& containers = database_.constants.containers;
    const auto items_a = containers.items(sort, a), items_b = containers.items(sort, b);
    if (containers.shape(sort).kind == ContainerKind::Vec) {
      LUMINAL_CHECK(items_a.size() == items_b.size(), "vectors of two lengths can't be equal");
      for (size_t i = 0; i < items_a.size(); ++i) {
        need_equal(items_a[i], items_b[i], containers.item_sort(sort, i), before);
      }
      return;
    }
    need_entries(items_a, items_b, sort, before);
    need_entries(items_b, items_a, sort, before);
  }
  void need_entries(std::span<const Value> all, std::span<const Value> in, SortId sort,
                    uint32_t before) {
    const Containers& containers = database_.constants.containers;
    const size_t width = containers.shape(sort).elements.size();
    for (size_t i = 0; i < all.size(); i += width) {
      const auto at = find_entry(all.subspan(i, width), in, sort, before);
      if (!at) {
        throw UserError("maps whose keys became equal aren't explained yet");
      }
      for (size_t c = 0; c < width; ++c) {
        need_equal(all[i + c], in[*at + c], containers.item_sort(sort, c), before);
      }
    }
  }

  void work() {
    for (;;) {
      if (!open_facts_.empty()) {
        const uint32_t fact = open_facts_.back();
        open_facts_.pop_back();
        explain_fact(fact);
      } else if (!open_unions_.empty()) {
        const uint32_t number = open_unions_.back();
        open_unions_.pop_back();
        explain_union(number);
      } else if (!open_terms_.empty()) {
        const uint32_t fact = log_.definition(open_terms_.back());
        open_terms_.pop_back();
        const Function& function = function_of(fact);
        for (size_t i = 0; i < function.inputs.size(); ++i) {
          need_terms(arguments(fact)[i], function.inputs[i]);
        }
      } else {
        return;
      }
    }
  }

  // --- facts and unions

  void explain_fact(uint32_t number) {
    const ProofLog::Fact& fact = log_.fact(number);
    const Function& function = function_of(number);
    ProofStep step{.kind = ProofStep::Kind::Fact,
                   .fact = number,
                   .function = FunctionId{fact.function},
                   .arguments = {arguments(number).begin(), arguments(number).end()},
                   .value = value(number)};
    for (size_t i = 0; i <= function.inputs.size(); ++i) {
      need_terms(i < function.inputs.size() ? step.arguments[i] : step.value,
                 column_sort(function, i));
    }
    if (fact.cause != ProofLog::kCommandCause) {
      const Application application = apply(fact.cause, fact.unions, step);
      explain_effect(application, number, fact.unions, step);
    }
    steps_.push_back({.unions = fact.unions, .is_union = false, .number = number, .step = step});
  }

  void explain_union(uint32_t number) {
    const ProofLog::Union& entry = log_.unions()[number];
    ProofStep step{.left = Value{entry.a}, .right = Value{entry.b}};
    need_term(step.left);
    need_term(step.right);
    if (entry.cause == ProofLog::kCongruence) {
      const uint32_t a = log_.definition(step.left), b = log_.definition(step.right);
      const Function& function = function_of(a);
      for (size_t i = 0; i < function.inputs.size(); ++i) {
        need_equal(arguments(a)[i], arguments(b)[i], function.inputs[i], number);
      }
      step.kind = ProofStep::Kind::Congruence;
      step.cause = ProofStep::Cause::Law;
      step.function = FunctionId{log_.fact(a).function};
    } else if (entry.cause != ProofLog::kCommandCause) {
      const Application application = apply(entry.cause, number, step);
      const Program& program = *application.program;
      const SortId sort = database_.sort_of(step.left);
      const auto does = [&](const Instruction& i) {
        return i.op == Instruction::Op::Union &&
               may_be(application, i.inputs[0], step.left, sort, number) &&
               may_be(application, i.inputs[1], step.right, sort, number);
      };
      const auto found = std::find_if(program.code.begin(), program.code.end(), does);
      if (found == program.code.end()) refuse_primitives(application, step);
      LUMINAL_CHECK(found != program.code.end(), "no action of the rule made this union");
      need_value(application, found->inputs[0], step.left, sort, number, step);
      need_value(application, found->inputs[1], step.right, sort, number, step);
    }
    steps_.push_back({.unions = number, .is_union = true, .number = number, .step = step});
  }

  // What made a fact: a term, a set, or the merge itself.
  void explain_effect(const Application& application, uint32_t fact, uint32_t before,
                      ProofStep& step) {
    const Program& program = *application.program;
    for (const Instruction& instruction : program.code) {
      const auto made = application.register_facts.find(instruction.target);
      const bool is_term = instruction.op == Instruction::Op::Add &&
                           made != application.register_facts.end() && made->second == fact;
      const bool is_change =
          instruction.op == Instruction::Op::Set || instruction.op == Instruction::Op::Subsume;
      if (!is_term && !(is_change && same_inputs(application, instruction, fact, before))) continue;
      for (size_t i = 0; i < instruction.inputs.size(); ++i) {
        need_value(application, instruction.inputs[i], log_.values(fact, i + 1)[i],
                   column_sort(function_of(fact), i), before, step);
      }
      return;
    }
    if (step.cause != ProofStep::Cause::Merge) refuse_primitives(application, step);
    LUMINAL_CHECK(step.cause == ProofStep::Cause::Merge, "no action of the rule made this fact");
    const FunctionId function{log_.fact(fact).function};
    need_value(application, database_.merge(function).result, value(fact), function_of(fact).output,
               before, step);
  }

  bool same_inputs(const Application& application, const Instruction& instruction, uint32_t fact,
                   uint32_t before) const {
    if (log_.fact(fact).function != instruction.id) return false;
    const std::span<const Value> values = log_.values(fact, instruction.inputs.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if (!may_be(application, instruction.inputs[i], values[i], column_sort(function_of(fact), i),
                  before)) {
        return false;
      }
    }
    return true;
  }

  // --- applications

  Application apply(uint32_t number, uint32_t before, ProofStep& step) {
    const ProofLog::Cause& cause = log_.cause(number);
    Application result;
    if (cause.rule == ProofOrigin::kMerge) {
      apply_merge(cause, before, result, step);
    } else {
      apply_rule(cause, before, result, step);
    }
    size_t next = result.matched.size();
    for (const Instruction& instruction : result.program->code) {
      if (!reads_row(instruction)) continue;
      result.register_facts[instruction.target] = log_.cause_fact(cause, next++);
    }
    for (const uint32_t fact : result.matched) cite(fact, step);
    return result;
  }

  void cite(uint32_t fact, ProofStep& step) {
    need_fact(fact);
    const auto end = step.premises.end();
    if (std::find(step.premises.begin(), end, fact) == end) step.premises.push_back(fact);
  }

  void apply_merge(const ProofLog::Cause& cause, uint32_t before, Application& result,
                   ProofStep& step) {
    step.cause = ProofStep::Cause::Merge;
    for (size_t i = 0; i < 2; ++i) {
      result.matched.push_back(log_.cause_fact(cause, i));
      result.inputs.push_back(value(result.matched[i]));
      result.input_sorts.push_back(function_of(result.matched[i]).output);
    }
    const Function& function = function_of(result.matched[0]);
    const auto old_arguments = arguments(result.matched[0]);
    const auto new_arguments = arguments(result.matched[1]);
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      need_equal(old_arguments[i], new_arguments[i], function.inputs[i], before);
    }
    result.program = &database_.merge(FunctionId{log_.fact(result.matched[0]).function}).program;
  }

  void apply_rule(const ProofLog::Cause& cause, uint32_t before, Application& result,
                  ProofStep& step) {
    const Rule& rule = engine_.rule(RuleId{cause.rule});
    const Query& query = rule.matcher.query();
    for (size_t a = 0; a < query.atoms.size(); ++a) {
      result.matched.push_back(log_.cause_fact(cause, a));
    }
    const std::vector<Value> slots = match(rule, result.matched, std::min(before, cause.unions));
    step.known_steps = cause.unions;  // until the steps have their numbers
    for (const uint32_t slot : rule.matcher.kept()) {
      result.inputs.push_back(slots[slot]);
      result.input_sorts.push_back(id_sort(query, slot));
    }
    result.program = &rule.actions;
    step.cause = ProofStep::Cause::Rule;
    step.rule = rule.name;
    for (const auto& [name, binding] : rule.variables) {
      const auto global = engine_.globals.find(name);
      if (global != engine_.globals.end() && global->second < rule.known_globals) continue;
      step.bindings.push_back(
          {.variable = name, .value = slots[binding.slot], .sort = binding.sort});
      need_terms(slots[binding.slot], binding.sort);
    }
  }

  // The slots of a match, from the facts of its atoms.
  std::vector<Value> match(const Rule& rule, const std::vector<uint32_t>& matched,
                           uint32_t before) {
    const Query& query = rule.matcher.query();
    std::vector<Value> slots(query.slots);
    const std::vector<SlotSource> sources = slot_sources(query);
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      const SlotSource& source = sources[slot];
      if (source.atom != Value::kNone) {
        slots[slot] = log_.values(matched[source.atom], source.column + 1)[source.column];
      } else if (source.global != Value::kNone) {
        slots[slot] = log_.global(source.global);
      }
    }
    for (const Preset& preset : query.presets) {
      if (!slots[preset.slot].valid()) slots[preset.slot] = preset.value;
      if (preset.global == Value::kNone) continue;
      need_equal(slots[preset.slot], log_.global(preset.global),
                 database_.globals[preset.global].sort, before);
    }
    for (size_t a = 0; a < query.atoms.size(); ++a) {
      const Atom& atom = query.atoms[a];
      const Function& function = database_.schema.function(atom.function);
      for (size_t c = 0; c < atom.slots.size(); ++c) {
        need_equal(slots[atom.slots[c]], log_.values(matched[a], c + 1)[c],
                   column_sort(function, c), before);
      }
    }
    for (auto [a, b] : query.equal_presets) need_equal_presets(query, slots, a, b, before);
    run_guards(rule, slots, before);
    return slots;
  }

  void need_equal_presets(const Query& query, const std::vector<Value>& slots, uint32_t a,
                          uint32_t b, uint32_t before) {
    for (const Preset& preset : query.presets) {
      if ((preset.slot != a && preset.slot != b) || preset.global == Value::kNone) continue;
      return need_equal(slots[a], slots[b], database_.globals[preset.global].sort, before);
    }
  }

  void run_guards(const Rule& rule, std::vector<Value>& slots, uint32_t before) {
    const Query& query = rule.matcher.query();
    std::vector<bool> done(query.guards.size());
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t g = 0; g < query.guards.size(); ++g) {
        const Guard& guard = query.guards[g];
        const bool ready = std::all_of(guard.inputs.begin(), guard.inputs.end(),
                                       [&](uint32_t slot) { return slots[slot].valid(); });
        if (done[g] || !ready) continue;
        done[g] = progress = true;
        run_guard(rule, guard, slots, before);
      }
    }
  }

  void run_guard(const Rule& rule, const Guard& guard, std::vector<Value>& slots, uint32_t before) {
    const Primitive& primitive = database_.schema.primitive(guard.primitive);
    SortId sort;
    if (primitive.any_sort) {
      for (const uint32_t slot : guard.inputs) {
        if (!sort.valid()) sort = id_sort(rule.matcher.query(), slot);
      }
    }
    if (primitive.any_sort && sort.valid()) {
      // That terms differ isn't proved: a proof has nothing that makes them equal.
      if (primitive.name == "value-eq") {
        need_equal(slots[guard.inputs[0]], slots[guard.inputs[1]], sort, before);
      } else if (primitive.name != "!=") {
        refuse(rule.name, primitive);
      }
      slots[guard.output] = Constants::unit();
      return;
    }
    std::vector<Value> inputs;
    for (const uint32_t slot : guard.inputs) inputs.push_back(slots[slot]);
    const Value result = run_primitive(rule.name, primitive, inputs);
    Value& output = slots[guard.output];
    if (!output.valid()) output = result;
    need_equal(output, result, primitive.output, before);
  }

  // The sort of a slot, where its values hold ids.
  SortId id_sort(const Query& query, uint32_t slot) const {
    SortId sort;
    for (const Atom& atom : query.atoms) {
      const Function& function = database_.schema.function(atom.function);
      for (size_t c = 0; c < atom.slots.size(); ++c) {
        if (atom.slots[c] == slot) sort = column_sort(function, c);
      }
    }
    for (const Preset& preset : query.presets) {
      if (preset.slot == slot && preset.global != Value::kNone) {
        sort = database_.globals[preset.global].sort;
      }
    }
    for (const Guard& guard : query.guards) {
      if (guard.output == slot && !sort.valid()) {
        sort = database_.schema.primitive(guard.primitive).output;
      }
    }
    return sort.valid() && database_.holds_ids(sort) ? sort : SortId{};
  }

  [[noreturn]] void refuse(const std::string& rule, const Primitive& primitive) const {
    throw UserError((rule.empty() ? "a merge" : "rule '" + rule + "'") + " computes (" +
                    primitive.name +
                    " …) with terms, on which this equality rests; such steps aren't explained "
                    "yet");
  }

  Value run_primitive(const std::string& rule, const Primitive& primitive,
                      std::span<const Value> inputs) {
    const bool with_ids = std::any_of(primitive.inputs.begin(), primitive.inputs.end(),
                                      [&](SortId sort) { return database_.holds_ids(sort); });
    if (with_ids && !moves_terms_only(primitive)) refuse(rule, primitive);
    const std::optional<Value> result = primitive.run(database_.constants, inputs);
    LUMINAL_CHECK(result.has_value(), "a primitive that had a result has none now");
    return *result;
  }

  // Where what an action did can't be told apart, a primitive in it compares terms.
  void refuse_primitives(const Application& application, const ProofStep& step) const {
    for (const Instruction& instruction : application.program->code) {
      if (instruction.op != Instruction::Op::Primitive) continue;
      const Primitive& primitive = database_.schema.primitive(PrimitiveId{instruction.id});
      const bool with_ids =
          std::any_of(instruction.inputs.begin(), instruction.inputs.end(),
                      [&](uint32_t reg) { return register_holds_ids(application, reg); });
      if (with_ids && !moves_terms_only(primitive)) refuse(step.rule, primitive);
    }
  }

  // --- actions

  const Instruction& producer(const Program& program, uint32_t reg) const {
    const auto found = std::find_if(
        program.code.begin(), program.code.end(),
        [&](const Instruction& i) { return i.target == reg && i.op <= Instruction::Op::Lookup; });
    LUMINAL_CHECK(found != program.code.end(), "nothing writes this register");
    return *found;
  }

  bool register_holds_ids(const Application& application, uint32_t reg) const {
    SortId sort;
    if (reg < application.inputs.size()) {
      sort = application.input_sorts[reg];
    } else {
      const Instruction& from = producer(*application.program, reg);
      if (reads_row(from)) sort = database_.schema.function(FunctionId{from.id}).output;
      if (from.op == Instruction::Op::Global) sort = database_.globals[from.id].sort;
      if (from.op == Instruction::Op::Primitive) {
        sort = database_.schema.primitive(PrimitiveId{from.id}).output;
      }
    }
    return sort.valid() && database_.holds_ids(sort);
  }

  // As the log took it; nothing for what can't be told.
  Value original(const Application& application, uint32_t reg) const {
    if (reg < application.inputs.size()) return application.inputs[reg];
    const Instruction& from = producer(*application.program, reg);
    switch (from.op) {
      case Instruction::Op::Constant:
        return from.constant;
      case Instruction::Op::Global:
        return log_.global(from.id);
      case Instruction::Op::Primitive: {
        std::vector<Value> inputs;
        for (const uint32_t input : from.inputs) inputs.push_back(original(application, input));
        for (const Value input : inputs) {
          if (!input.valid()) return {};
        }
        return database_.schema.primitive(PrimitiveId{from.id})
            .run(database_.constants, inputs)
            .value_or(Value{});
      }
      default: {
        const uint32_t fact = application.register_facts.at(reg);
        return fact == kNoFact ? Value{} : value(fact);
      }
    }
  }

  // What a primitive gave may be logged as another term of the same class.
  bool may_be(const Application& application, uint32_t reg, Value value, SortId sort,
              uint32_t before) const {
    const Value found = original(application, reg);
    return found.valid() && equal_before(found, value, sort, before);
  }
  void need_value(const Application& application, uint32_t reg, Value value, SortId sort,
                  uint32_t before, ProofStep& step) {
    need_register(application, reg, before, step);
    const Value found = original(application, reg);
    need_equal(found, value, sort, before);
    need_terms(found, sort);
  }

  void need_register(const Application& application, uint32_t reg, uint32_t before,
                     ProofStep& step) {
    if (reg < application.inputs.size()) return;
    const Instruction& from = producer(*application.program, reg);
    for (const uint32_t input : from.inputs) need_register(application, input, before, step);
    if (from.op == Instruction::Op::Primitive) {
      std::vector<Value> inputs;
      const Primitive& primitive = database_.schema.primitive(PrimitiveId{from.id});
      for (const uint32_t input : from.inputs) {
        inputs.push_back(original(application, input));
        if (primitive.any_sort && register_holds_ids(application, input)) {
          refuse(step.rule, primitive);
        }
      }
      run_primitive(step.rule, primitive, inputs);
    }
    if (!reads_row(from)) return;
    const uint32_t fact = application.register_facts.at(reg);
    LUMINAL_CHECK(fact != kNoFact, "the log doesn't know the term of an action");
    const Function& function = function_of(fact);
    for (size_t i = 0; i < from.inputs.size(); ++i) {
      const Value input = original(application, from.inputs[i]);
      need_equal(arguments(fact)[i], input, function.inputs[i], before);
      need_terms(input, function.inputs[i]);
    }
    need_terms(value(fact), function.output);
    if (from.op == Instruction::Op::Lookup) cite(fact, step);
  }

  // --- the result

  void write_steps() {
    std::sort(steps_.begin(), steps_.end(), [](const Timed& a, const Timed& b) {
      return std::tie(a.unions, a.is_union, a.number) < std::tie(b.unions, b.is_union, b.number);
    });
    for (Timed& timed : steps_) {
      if (timed.is_union) {
        union_steps_[timed.number] = static_cast<uint32_t>(result_.steps.size());
      }
      if (timed.step.cause == ProofStep::Cause::Rule) {
        const auto later = union_steps_.lower_bound(timed.step.known_steps);
        const bool any = later != union_steps_.end() && later->second < result_.steps.size();
        timed.step.known_steps = any ? later->second : static_cast<uint32_t>(result_.steps.size());
      }
      result_.steps.push_back(std::move(timed.step));
    }
    for (const uint32_t id : terms_) {
      const uint32_t fact = log_.definition(Value{id});
      result_.terms.push_back({.id = Value{id},
                               .function = FunctionId{log_.fact(fact).function},
                               .arguments = {arguments(fact).begin(), arguments(fact).end()}});
    }
    for (const Asked& asked : asked_) {
      result_.terms.push_back(asked.term);
      result_.steps.push_back({.kind = ProofStep::Kind::Congruence,
                               .cause = ProofStep::Cause::Law,
                               .function = asked.term.function,
                               .left = asked.term.id,
                               .right = value(asked.fact)});
    }
  }

  struct Timed {
    uint32_t unions;  // that came before it
    bool is_union;
    uint32_t number;
    ProofStep step;
  };

  Engine& engine_;
  Database& database_;
  const ProofLog& log_;
  const UnionForest& forest_;
  uint32_t next_term_;
  std::vector<Asked> asked_;
  std::set<uint32_t> facts_, unions_, terms_;
  std::vector<uint32_t> open_facts_, open_unions_;
  std::vector<Value> open_terms_;
  std::vector<Timed> steps_;
  std::map<uint32_t, uint32_t> union_steps_;
  Explanation result_;
};

void check_recorded(const Engine& engine) {
  if (engine.database.proofs) return;
  throw UserError("proofs weren't recorded; ask for them before anything is added");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// The place of the `=` between two terms, outside of parentheses and strings.
size_t equals_sign(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    const bool alone = i > 0 && i + 1 < text.size() && (text[i - 1] == ' ' || text[i - 1] == ')') &&
                       (text[i + 1] == ' ' || text[i + 1] == '(');
    if (c == '=' && depth == 0 && alone) return i;
  }
  throw UserError("'" + std::string(text) + "' is no equality; ask 'TERM = TERM'");
}

}  // namespace

Explanation explain(Engine& engine, const UnionForest& forest, Value a, Value b) {
  check_recorded(engine);
  Explainer explainer(engine, forest);
  if (!explainer.are_equal(a, b)) throw UserError("these terms aren't equal in this e-graph");
  return explainer.explain(a, b, engine.database.sort_of(a));
}

Explanation explain(Engine& engine, std::string_view question) {
  check_recorded(engine);
  rebuild(engine.database);
  const size_t middle = equals_sign(question);
  const std::string_view sides[2] = {trimmed(question.substr(0, middle)),
                                     trimmed(question.substr(middle + 1))};
  const UnionForest forest(engine.database.proofs->unions(), engine.database.ids().size());
  Explainer explainer(engine, forest);
  Value ids[2];
  SortId sorts[2];
  for (size_t i = 0; i < 2; ++i) {
    const TermLookup found = look_up_term(engine, sides[i], "term");
    if (!found.value) {
      throw UserError(std::string(sides[i]) + " isn't in the e-graph: there is no " +
                      found.missing);
    }
    sorts[i] = found.sort;
    if (!engine.database.is_equality(found.sort)) {
      throw UserError(std::string(sides[i]) + " is of sort " +
                      engine.database.schema.sort(found.sort).name +
                      ", whose values aren't made equal; ask about terms");
    }
    ids[i] = explainer.asked(compile_expr(engine.scope("term"), parse_expr(sides[i], "term")));
  }
  const bool same_sort = sorts[0] == sorts[1];
  if (!same_sort || !explainer.are_equal(ids[0], ids[1])) {
    throw UserError(
        std::string(sides[0]) + " and " + std::string(sides[1]) +
        (same_sort ? " aren't equal in this e-graph" : " are of two sorts and never equal"));
  }
  return explainer.explain(ids[0], ids[1], sorts[0]);
}

}  // namespace luminal::egraph
