#include "luminal/kernel/ir/kernel_bytes.h"

namespace luminal::kernel {
namespace {

using base::ByteReader;
using base::ByteWriter;

template <typename List, typename Write>
void write_list(ByteWriter& out, const List& list, Write write) {
  out.number(list.size());
  for (const auto& item : list) write(item);
}

// Grows item by item: a corrupt count runs out of bytes before it can exhaust memory.
template <typename Read>
auto read_list(ByteReader& in, Read read) {
  std::vector<decltype(read())> list;
  const size_t count = in.count();
  for (size_t i = 0; i < count; ++i) list.push_back(read());
  return list;
}

template <typename IdType>
IdType read_number(ByteReader& in) {
  return IdType::of_number(in.small());
}

InstId read_inst_id(ByteReader& in) {
  return InstId{static_cast<uint32_t>(in.below(InstId::kNone))};
}

void write_param(shape::ExprWriter& w, const Param& param) {
  write_dtype(w.out, param.dtype);
  w.exprs(param.dims);
  w.out.flag(param.output);
  w.out.integer(param.shares.number());
}

Param read_param(shape::ExprReader& r) {
  return {.dtype = read_dtype(r.in),
          .dims = r.exprs(),
          .output = r.in.flag(),
          .shares = read_number<ParamId>(r.in)};
}

void write_index(shape::ExprWriter& w, const Index& index) {
  w.out.flag(index.value.has_value());
  if (index.value) w.out.number(index.value->value);
  w.expr(index.expr);
}

Index read_index(shape::ExprReader& r) {
  Index index;
  if (r.in.flag()) index.value = read_inst_id(r.in);
  index.expr = r.expr();
  return index;
}

void write_inst(shape::ExprWriter& w, const Inst& inst) {
  write_dtype(w.out, inst.dtype);
  w.out.number(inst.what.index());
  if (const auto* constant = std::get_if<ConstInst>(&inst.what)) {
    w.out.real(constant->real);
    w.out.integer(constant->integer);
  } else if (const auto* iota = std::get_if<IotaInst>(&inst.what)) {
    w.expr(iota->expr);
  } else if (const auto* load = std::get_if<LoadInst>(&inst.what)) {
    w.out.integer(load->param.number());
    write_list(w.out, load->index, [&](const Index& index) { write_index(w, index); });
  } else if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
    w.out.integer(local->stage.number());
    w.exprs(local->index);
  } else {
    const auto& op = std::get<OpInst>(inst.what);
    write_op(w.out, op.op);
    write_list(w.out, op.operands, [&](InstId id) { w.out.number(id.value); });
  }
}

Inst read_inst(shape::ExprReader& r) {
  Inst inst{.dtype = read_dtype(r.in), .what = ConstInst{}};
  switch (r.in.below(std::variant_size_v<decltype(inst.what)>)) {
    case 0:
      inst.what = ConstInst{.real = r.in.real(), .integer = r.in.integer()};
      break;
    case 1:
      inst.what = IotaInst{r.expr()};
      break;
    case 2:
      inst.what = LoadInst{.param = read_number<ParamId>(r.in),
                           .index = read_list(r.in, [&] { return read_index(r); })};
      break;
    case 3:
      inst.what = LocalInst{.stage = read_number<StageId>(r.in), .index = r.exprs()};
      break;
    default:
      inst.what = OpInst{.op = read_op(r.in),
                         .operands = read_list(r.in, [&] { return read_inst_id(r.in); })};
  }
  return inst;
}

void write_target(shape::ExprWriter& w, const Stage& stage) {
  w.out.number(stage.target.index());
  if (const auto* output = std::get_if<OutputTarget>(&stage.target)) {
    w.out.integer(output->param.number());
    w.exprs(output->index);
  } else if (const auto* update = std::get_if<UpdateTarget>(&stage.target)) {
    w.out.integer(update->param.number());
    w.out.number(update->row.value);
    w.exprs(update->rest);
    write_reducer(w.out, update->combine);
  }
}

void read_target(shape::ExprReader& r, Stage& stage) {
  switch (r.in.below(std::variant_size_v<decltype(stage.target)>)) {
    case 0:
      break;
    case 1:
      stage.target = OutputTarget{.param = read_number<ParamId>(r.in), .index = r.exprs()};
      break;
    default:
      stage.target = UpdateTarget{.param = read_number<ParamId>(r.in),
                                  .row = read_inst_id(r.in),
                                  .rest = r.exprs(),
                                  .combine = read_optional_reducer(r.in)};
  }
}

void write_stage(shape::ExprWriter& w, const Stage& stage) {
  write_dtype(w.out, stage.dtype);
  write_list(w.out, stage.loops, [&](LoopId loop) { w.out.integer(loop.number()); });
  w.out.flag(stage.reduction.has_value());
  if (stage.reduction) {
    write_reducer(w.out, stage.reduction->reducer);
    w.out.integer(stage.reduction->loop.number());
    w.out.flag(stage.reduction->running);
  }
  write_list(w.out, stage.body, [&](const Inst& inst) { write_inst(w, inst); });
  w.out.number(stage.result.value);
  write_target(w, stage);
}

Stage read_stage(shape::ExprReader& r) {
  Stage stage{.dtype = read_dtype(r.in),
              .loops = read_list(r.in, [&] { return read_number<LoopId>(r.in); }),
              .reduction = std::nullopt,
              .body = {},
              .result = {},
              .target = LocalTarget{}};
  if (r.in.flag()) {
    stage.reduction = Reduction{
        .reducer = read_reducer(r.in), .loop = read_number<LoopId>(r.in), .running = r.in.flag()};
  }
  stage.body = read_list(r.in, [&] { return read_inst(r); });
  stage.result = read_inst_id(r.in);
  read_target(r, stage);
  return stage;
}

}  // namespace

void write_dtype(ByteWriter& out, DType dtype) { out.number(static_cast<uint64_t>(dtype)); }
DType read_dtype(ByteReader& in) { return all_dtypes()[in.below(all_dtypes().size())]; }

void write_op(ByteWriter& out, Op op) { out.number(static_cast<uint64_t>(op)); }
Op read_op(ByteReader& in) { return all_ops()[in.below(all_ops().size())]; }

// 0 stands for none.
void write_reducer(ByteWriter& out, std::optional<Reducer> reducer) {
  out.number(reducer ? static_cast<uint64_t>(*reducer) + 1 : 0);
}

std::optional<Reducer> read_optional_reducer(ByteReader& in) {
  const uint64_t number = in.below(all_reducers().size() + 1);
  return number == 0 ? std::nullopt : std::optional(all_reducers()[number - 1]);
}

Reducer read_reducer(ByteReader& in) {
  const std::optional<Reducer> reducer = read_optional_reducer(in);
  if (!reducer) throw base::ByteError("a reduction has no reducer");
  return *reducer;
}

void write_kernel(shape::ExprWriter& w, const Kernel& kernel) {
  write_list(w.out, kernel.params, [&](const Param& param) { write_param(w, param); });
  write_list(w.out, kernel.loops, [&](const Loop& loop) { w.expr(loop.extent); });
  w.out.integer(kernel.n_outer);
  write_list(w.out, kernel.stages, [&](const Stage& stage) { write_stage(w, stage); });
  w.exprs(kernel.variables);
  for (Expr work : {kernel.bytes_read, kernel.bytes_written, kernel.flops, kernel.local_bytes}) {
    w.expr(work);
  }
}

Kernel read_kernel(shape::ExprReader& r) {
  return {.params = read_list(r.in, [&] { return read_param(r); }),
          .loops = read_list(r.in, [&] { return Loop{r.expr()}; }),
          .n_outer = r.in.small(),
          .stages = read_list(r.in, [&] { return read_stage(r); }),
          .variables = r.exprs(),
          .bytes_read = r.expr(),
          .bytes_written = r.expr(),
          .flops = r.expr(),
          .local_bytes = r.expr()};
}

}  // namespace luminal::kernel
