// Why a rule or a merge applied: its facts, the values of its variables and its guards.
#include "luminal/egraph/explain/explainer.h"

#include <algorithm>

namespace luminal::egraph {

Application Explainer::apply(uint32_t number, uint32_t before, ProofStep& step) {
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

void Explainer::cite(uint32_t fact, ProofStep& step) {
  need_fact(fact);
  const auto end = step.premises.end();
  if (std::find(step.premises.begin(), end, fact) == end) step.premises.push_back(fact);
}

void Explainer::apply_merge(const ProofLog::Cause& cause, uint32_t before, Application& result,
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

void Explainer::apply_rule(const ProofLog::Cause& cause, uint32_t before, Application& result,
                           ProofStep& step) {
  const Rule& rule = engine_.rule(RuleId{cause.rule});
  const Query& query = rule.matcher.query();
  for (size_t a = 0; a < query.atoms.size(); ++a) {
    result.matched.push_back(log_.cause_fact(cause, a));
  }
  const std::vector<Value> slots = match(rule, result.matched, std::min(before, cause.unions));
  step.known_steps = cause.unions;  // write_steps() converts it to a number of steps
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
    step.bindings.push_back({.variable = name, .value = slots[binding.slot], .sort = binding.sort});
    need_terms(slots[binding.slot], binding.sort);
  }
}

std::vector<Value> Explainer::match(const Rule& rule, const std::vector<uint32_t>& matched,
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
      need_equal(slots[atom.slots[c]], log_.values(matched[a], c + 1)[c], column_sort(function, c),
                 before);
    }
  }
  for (auto [a, b] : query.equal_presets) need_equal_presets(query, slots, a, b, before);
  run_guards(rule, slots, before);
  return slots;
}

void Explainer::need_equal_presets(const Query& query, const std::vector<Value>& slots, uint32_t a,
                                   uint32_t b, uint32_t before) {
  for (const Preset& preset : query.presets) {
    if ((preset.slot != a && preset.slot != b) || preset.global == Value::kNone) continue;
    return need_equal(slots[a], slots[b], database_.globals[preset.global].sort, before);
  }
}

void Explainer::run_guards(const Rule& rule, std::vector<Value>& slots, uint32_t before) {
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

void Explainer::run_guard(const Rule& rule, const Guard& guard, std::vector<Value>& slots,
                          uint32_t before) {
  const Primitive& primitive = database_.schema.primitive(guard.primitive);
  SortId sort;
  if (primitive.any_sort) {
    for (const uint32_t slot : guard.inputs) {
      if (!sort.valid()) sort = id_sort(rule.matcher.query(), slot);
    }
  }
  if (primitive.any_sort && sort.valid()) {
    // That terms differ isn't proved: it only means that no step makes them equal.
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

SortId Explainer::id_sort(const Query& query, uint32_t slot) const {
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

}  // namespace luminal::egraph
