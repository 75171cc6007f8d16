#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/text/text_lines.h"
#include "luminal/kernel/ir/kernel_text.h"

namespace luminal::kernel {
namespace {

using base::LineReader;

class KernelParser {
 public:
  Kernel parse(base::TextLines& lines) {
    LineReader header = lines.next();
    header.expect("kernel");
    header.expect_end();
    while (!lines.at_end()) {
      LineReader first(lines.peek(), "", 0);
      const bool is_blank = first.at_end() || first.next_is('#');
      if (!is_blank && !is_of_kernel(lines.peek())) break;
      LineReader line = lines.next();
      if (is_blank) continue;
      try {
        read(line);
        line.expect_end();
      } catch (const UserError& error) {
        line.fail_with(error);
      }
    }
    return std::move(kernel_);
  }

 private:
  static bool is_of_kernel(std::string_view line) {
    return line.starts_with("var ") || line.starts_with("param ") || line.starts_with("loop ") ||
           line.starts_with("stage ") || line.starts_with("  ");
  }

  void read(LineReader& line) {
    if (line.take("var ")) return read_variable(line);
    if (line.take("param ")) return read_param(line);
    if (line.take("loop ")) return read_loop(line);
    if (line.take("stage ")) return read_stage(line);
    if (kernel_.stages.empty()) line.fail("an instruction must follow the line of its stage");
    line.next_is('%') ? read_inst(line) : read_target(line);
  }

  void read_variable(LineReader& line) {
    kernel_.variables.push_back(parse_variable(line));
    scope_.variables.push_back(kernel_.variables.back());
  }

  void read_param(LineReader& line) {
    line.numbered("p", kernel_.params.size() + 1);
    Param param{.dtype = DType::F32, .dims = {}};
    param.output = line.take("out ");
    if (!param.output) line.expect("in ");
    param.dtype = parse_dtype(line);
    param.dims = exprs(line);
    if (line.take("shares ")) param.shares = this->param(line);
    kernel_.params.push_back(std::move(param));
  }

  void read_loop(LineReader& line) {
    line.numbered("i", kernel_.loops.size() + 1);
    const Expr extent = parse_expr(line.until(" outer"), scope_);
    if (line.take("outer")) kernel_.n_outer = static_cast<int>(kernel_.loops.size()) + 1;
    kernel_.loops.push_back({extent});
    scope_.extents.push_back(extent);
  }

  void read_stage(LineReader& line) {
    line.numbered("s", kernel_.stages.size() + 1);
    Stage stage{.dtype = parse_dtype(line),
                .loops = {},
                .reduction = {},
                .body = {},
                .result = {},
                .target = LocalTarget{}};
    while (line.take("for ")) stage.loops.push_back(loop(line));
    if (!line.at_end()) {
      const bool running = line.take("scan ");
      const Reducer reducer = parse_reducer(line);
      line.expect("over ");
      stage.reduction = Reduction{reducer, loop(line), running};
    }
    kernel_.stages.push_back(std::move(stage));
  }

  void read_inst(LineReader& line) {
    Stage& stage = kernel_.stages.back();
    line.numbered("%", stage.body.size() + 1);
    line.expect("=");
    LineReader what = line.part(line.until_type());
    line.expect(":");
    const DType dtype = parse_dtype(line);
    stage.body.push_back({dtype, inst(what, dtype, stage)});
    what.expect_end();
  }

  decltype(Inst::what) inst(LineReader& line, DType dtype, const Stage& stage) {
    if (line.take("constant ")) {
      if (is_float(dtype)) return ConstInst{.real = line.real()};
      return ConstInst{.integer = line.integer()};
    }
    if (line.take("iota ")) return IotaInst{parse_expr(line.rest(), scope_)};
    if (line.take("load ")) {
      LoadInst load{param(line), {}};
      for (const std::string_view item : line.list())
        load.index.push_back(index(line.part(item), item, stage));
      return load;
    }
    if (line.take("local ")) {
      const auto of = StageId::at(line.numbered("s", kernel_.stages.size()));
      return LocalInst{of, exprs(line)};
    }
    const std::string_view word = line.word();
    const std::optional<Op> op = op_from_name(word);
    if (!op) line.fail(fmt::format("'{}' is not an instruction", word));
    OpInst made{*op, {}};
    while (!line.at_end()) made.operands.push_back(inst_id(line, stage));
    return made;
  }

  Index index(LineReader line, std::string_view item, const Stage& stage) {
    if (line.next_is('%')) return {Expr(), inst_id(line, stage)};
    return {parse_expr(item, scope_), {}};
  }

  // "store p1[i0] %2", "keep %2", "sum p1 row %0[i1] %2"
  void read_target(LineReader& line) {
    Stage& stage = kernel_.stages.back();
    if (line.take("store ")) {
      const ParamId to = param(line);
      stage.target = OutputTarget{to, exprs(line)};
    } else if (!line.take("keep ")) {
      UpdateTarget update{};
      if (!line.take("replace ")) update.combine = parse_reducer(line);
      update.param = param(line);
      line.expect("row ");
      update.row = inst_id(line, stage);
      update.rest = exprs(line);
      stage.target = std::move(update);
    }
    stage.result = inst_id(line, stage);
  }

  LoopId loop(LineReader& line) const {
    return LoopId::at(line.numbered("i", kernel_.loops.size()));
  }
  ParamId param(LineReader& line) const {
    return ParamId::at(line.numbered("p", kernel_.params.size()));
  }
  static InstId inst_id(LineReader& line, const Stage& stage) {
    return InstId::at(line.numbered("%", stage.body.size()));
  }
  std::vector<Expr> exprs(LineReader& line) const {
    std::vector<Expr> made;
    for (const std::string_view item : line.list()) made.push_back(parse_expr(item, scope_));
    return made;
  }

  Kernel kernel_;
  ParseScope scope_{.variables = {}, .extents = {}, .declared_only = true};
};

}  // namespace

Kernel parse_kernel(base::TextLines& lines) { return KernelParser().parse(lines); }

Kernel parse_kernel(std::string_view text, std::string_view source) {
  base::TextLines lines(text, source);
  Kernel kernel = parse_kernel(lines);
  if (!lines.at_end()) lines.next().fail("this is not a line of a kernel");
  return kernel;
}

}  // namespace luminal::kernel
