#include "luminal/kernel/plan/plan_bytes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "luminal/base/check.h"
#include "luminal/kernel/ir/kernel_bytes.h"
#include "luminal/kernel/ir/verify_kernel.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::kernel {
namespace {

// Ids with 0 for none.
template <typename Tag>
void write_id(base::ByteWriter& out, Id<Tag> id) {
  out.number(id.valid() ? uint64_t{id.value} + 1 : 0);
}

template <typename Tag>
void write_ids(base::ByteWriter& out, const std::vector<Id<Tag>>& ids) {
  out.number(ids.size());
  for (Id<Tag> id : ids) write_id(out, id);
}

template <typename IdType>
IdType read_id(base::ByteReader& in, bool may_be_none = false) {
  const uint64_t number = in.below(uint64_t{IdType::kNone} + 1);
  if (number == 0 && !may_be_none) throw base::ByteError("an id is missing");
  return number == 0 ? IdType{} : IdType::at(number - 1);
}

template <typename IdType>
std::vector<IdType> read_ids(base::ByteReader& in, bool may_be_none = false) {
  std::vector<IdType> ids(in.count());
  for (IdType& id : ids) id = read_id<IdType>(in, may_be_none);
  return ids;
}

class PlanWriter {
 public:
  explicit PlanWriter(shape::ExprWriter& writer) : w_(writer) {}

  void write(const PlannedGraph& planned) {
    w_.out.number(planned.terms.sources.size());
    for (const Source& source : planned.terms.sources) {
      write_dtype(w_.out, source.dtype);
      w_.exprs(source.dims);
      w_.out.text(source.name);
    }
    write_ids(w_.out, planned.source_nodes.items());
    w_.out.number(planned.terms.classes.size());
    for (const TermClass& value : planned.terms.classes) write_class(value);
    write_ids(w_.out, planned.class_of);
    w_.out.real(planned.plan.model_seconds);
    w_.out.number(planned.plan.steps.size());
    for (const auto& step : planned.plan.steps) {
      const auto* host = std::get_if<HostStep>(&step);
      w_.out.flag(host != nullptr);
      if (host != nullptr) {
        w_.out.integer(host->source.number());
      } else {
        write_step(std::get<KernelStep>(step));
      }
    }
  }

 private:
  void write_class(const TermClass& value) {
    write_dtype(w_.out, value.dtype);
    w_.exprs(value.dims);
    w_.out.number(value.terms.size());
    for (const Term& term : value.terms) write_term(term);
  }

  void write_term(const Term& term) {
    w_.out.number(term.index());
    if (const auto* load = std::get_if<LoadTerm>(&term)) {
      w_.out.integer(load->source.number());
    } else if (const auto* constant = std::get_if<ConstTerm>(&term)) {
      w_.out.real(constant->real);
      w_.out.integer(constant->integer);
    } else if (const auto* iota = std::get_if<IotaTerm>(&term)) {
      w_.expr(iota->expr);
    } else if (const auto* view = std::get_if<ReindexTerm>(&term)) {
      w_.map(view->map);
    } else if (const auto* reduce = std::get_if<ReduceTerm>(&term)) {
      write_reducer(w_.out, reduce->reducer);
    } else if (const auto* scan = std::get_if<ScanTerm>(&term)) {
      write_reducer(w_.out, scan->reducer);
    } else if (const auto* stored = std::get_if<StoreAtTerm>(&term)) {
      write_reducer(w_.out, stored->combine);
    } else if (const auto* op = std::get_if<OpTerm>(&term)) {
      write_op(w_.out, op->op);
    }
    write_ids(w_.out, operands(term));
  }

  void write_step(const KernelStep& step) {
    LUMINAL_CHECK(step.strategy != Strategy::Library && step.library.routine.empty(),
                  "a plan with library steps can't be written");
    // Equal kernels have equal bytes, since an expression keeps the number it first got: each is
    // written once.
    base::ByteWriter before = std::exchange(w_.out, {});
    write_kernel(w_, step.lowered.kernel);
    std::string bytes = std::exchange(w_.out, std::move(before)).bytes();
    const auto [known, fresh] = kernels_.try_emplace(std::move(bytes), kernels_.size());
    w_.out.number(known->second);
    if (fresh) write_kernel(w_, step.lowered.kernel);
    w_.out.number(step.lowered.origins.size());
    for (const ParamOrigin& origin : step.lowered.origins) {
      w_.out.integer(origin.source.number());
      write_id(w_.out, origin.value);
    }
    write_ids(w_.out, step.lowered.classes);
    w_.out.real(step.model_seconds);
    w_.out.text(step.packs);
    w_.out.number(static_cast<uint64_t>(step.strategy));
    w_.out.number(step.schedule.list().size());
    for (const auto& [knob, value] : step.schedule.list()) {
      w_.out.number(static_cast<uint64_t>(knob));
      w_.out.integer(value);
    }
    w_.out.real(step.measured.seconds);
    w_.out.real(step.measured.low);
    w_.out.real(step.measured.high);
  }

  shape::ExprWriter& w_;
  std::map<std::string, size_t> kernels_;
};

class PlanReader {
 public:
  explicit PlanReader(shape::ExprReader& reader) : r_(reader) {}

  PlannedGraph read() {
    PlannedGraph planned;
    for (size_t left = r_.in.count(); left > 0; --left) {
      planned.terms.sources.push_back({.dims = {}, .dtype = read_dtype(r_.in), .name = {}});
      planned.terms.sources.back().dims = r_.exprs();
      planned.terms.sources.back().name = r_.in.text();
    }
    planned.source_nodes = read_ids<NodeId>(r_.in);
    for (size_t left = r_.in.count(); left > 0; --left) {
      planned.terms.classes.push_back(read_class());
    }
    planned.class_of = read_ids<ClassId>(r_.in, true);
    planned.plan.model_seconds = r_.in.real();
    for (size_t left = r_.in.count(); left > 0; --left) {
      if (r_.in.flag()) {
        planned.plan.steps.emplace_back(HostStep{SourceId::of_number(r_.in.small())});
      } else {
        planned.plan.steps.emplace_back(read_step());
      }
    }
    return planned;
  }

 private:
  TermClass read_class() {
    TermClass value{.dims = {}, .dtype = read_dtype(r_.in), .terms = {}};
    value.dims = r_.exprs();
    for (size_t left = r_.in.count(); left > 0; --left) value.terms.push_back(read_term());
    return value;
  }

  // What a term reads comes last, in the order of its fields.
  Term read_term() {
    Term term = read_fields();
    const std::vector<ClassId> read = read_ids<ClassId>(r_.in);
    if (auto* op = std::get_if<OpTerm>(&term)) op->operands.resize(read.size());
    if (operands(term).size() != read.size())
      throw base::ByteError("a term has the wrong number of operands");
    if (auto* view = std::get_if<ReindexTerm>(&term)) view->operand = read[0];
    if (auto* reduce = std::get_if<ReduceTerm>(&term)) reduce->operand = read[0];
    if (auto* scan = std::get_if<ScanTerm>(&term)) scan->operand = read[0];
    if (auto* gather = std::get_if<GatherTerm>(&term)) *gather = {read[0], read[1]};
    if (auto* stored = std::get_if<StoreAtTerm>(&term)) {
      *stored = {stored->combine, read[0], read[1], read[2]};
    }
    if (auto* op = std::get_if<OpTerm>(&term)) op->operands = read;
    return term;
  }

  Term read_fields() {
    switch (r_.in.below(std::variant_size_v<Term>)) {
      case 0:
        return LoadTerm{SourceId::of_number(r_.in.small())};
      case 1:
        return ConstTerm{.real = r_.in.real(), .integer = r_.in.integer()};
      case 2:
        return IotaTerm{r_.expr()};
      case 3:
        return ReindexTerm{r_.map(), {}};
      case 4:
        return ReduceTerm{read_reducer(r_.in), {}};
      case 5:
        return ScanTerm{read_reducer(r_.in), {}};
      case 6:
        return GatherTerm{};
      case 7:
        return StoreAtTerm{read_optional_reducer(r_.in), {}, {}, {}};
      default:
        return OpTerm{read_op(r_.in), {}};
    }
  }

  const Kernel& read_known_kernel() {
    const uint64_t number = r_.in.below(kernels_.size() + 1);
    if (number == kernels_.size()) {
      kernels_.push_back(read_kernel(r_));
      if (const std::string why = verify_kernel(kernels_.back()); !why.empty()) {
        throw base::ByteError(why);
      }
      recognise(kernels_.back());
    }
    return kernels_[number];
  }

  void read_choice(ScheduleChoices& schedule) {
    const auto knob = static_cast<Knob>(r_.in.below(knobs().size()));
    const int64_t value = r_.in.integer();
    if (value < info(knob).least || value > info(knob).most) {
      throw base::ByteError("a setting of a schedule is out of range");
    }
    schedule.set(knob, value);
  }

  KernelStep read_step() {
    KernelStep step;
    step.lowered.kernel = read_known_kernel();
    for (size_t left = r_.in.count(); left > 0; --left) {
      const SourceId source = SourceId::of_number(r_.in.small());
      step.lowered.origins.push_back({source, read_id<ClassId>(r_.in)});
    }
    step.lowered.classes = read_ids<ClassId>(r_.in);
    step.model_seconds = r_.in.real();
    step.packs = r_.in.text();
    step.strategy = static_cast<Strategy>(r_.in.below(static_cast<uint64_t>(Strategy::Library)));
    for (size_t left = r_.in.count(); left > 0; --left) read_choice(step.schedule);
    step.measured.seconds = r_.in.real();
    step.measured.low = r_.in.real();
    step.measured.high = r_.in.real();
    return step;
  }

  shape::ExprReader& r_;
  std::vector<Kernel> kernels_;
};

static_assert(std::variant_size_v<Term> == 9, "a term that files don't know");

}  // namespace

void write_plan(shape::ExprWriter& writer, const PlannedGraph& planned) {
  PlanWriter(writer).write(planned);
}

PlannedGraph read_plan(shape::ExprReader& reader) { return PlanReader(reader).read(); }

}  // namespace luminal::kernel
