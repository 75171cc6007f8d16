// libFuzzer target of cached plans: any bytes give a plan of the graph at hand, or an exception. So
// do the bytes of what planning adds to a report.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "luminal/driver/report/report_bytes.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/plan/plan_bytes.h"
#include "luminal/kernel/plan/verify_plan.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

using namespace luminal;
using kernel::ClassId;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string bytes_of(const kernel::PlannedGraph& planned) {
  shape::ExprWriter writer;
  kernel::write_plan(writer, planned);
  return writer.bytes();
}

kernel::PlannedGraph read_plan(const std::string& bytes) {
  shape::ExprReader reader(bytes);
  kernel::PlannedGraph planned = kernel::read_plan(reader);
  reader.in.finish();
  return planned;
}

// A graph and a plan of it, by hand: a product of a weight, rows by index that are read, scanned
// and stored. The fuzzer has no search.
class Program {
 public:
  Program() {
    const Expr s = Expr::var("s", 1, 64);
    const Tensor x = leaf(graph.input("x", {s, 16}));
    const Tensor w = leaf(graph.weight("w", {16, 32}, DType::BF16));
    const Tensor held = leaf(graph.state("held", {64, 32}));
    const Tensor index = leaf(graph.input("index", {4}, DType::I64));
    const Tensor wide = add(prim::cast(w, DType::F32), kernel::OpTerm{Op::Cast, {at(w)}});
    const Dims all = {s, 32, 16};
    const Expr row = Expr::index(0, s), column = Expr::index(1, 32), k = Expr::index(2, 16);
    const Tensor a = view(x, IndexMap(all, x.dims(), {row, k}));
    const Tensor b = view(wide, IndexMap(all, w.dims(), {k, column}));
    const Tensor product = add(prim::mul(a, b), kernel::OpTerm{Op::Mul, {at(a), at(b)}});
    const Tensor y =
        add(prim::reduce(product, Reducer::Sum), kernel::ReduceTerm{Reducer::Sum, at(product)});
    const Tensor rows = add(prim::gather(held, index), kernel::GatherTerm{at(held), at(index)});
    const Tensor square = add(prim::mul(rows, rows), kernel::OpTerm{Op::Mul, {at(rows), at(rows)}});
    const Tensor scanned =
        add(prim::scan(rows, Reducer::Sum), kernel::ScanTerm{Reducer::Sum, at(rows)});
    const Tensor stored = add(prim::scatter(held, index, square),
                              kernel::StoreAtTerm{{}, at(held), at(index), at(square)});
    y.output("y");
    scanned.output("scanned");
    graph.update(held, stored);
    planned.class_of.resize(graph.size());
    for (const Tensor& result : {y, scanned, stored}) lower(at(result));
  }

  Graph graph;
  kernel::PlannedGraph planned;

 private:
  ClassId at(const Tensor& tensor) const { return planned.class_of[tensor.id().index()]; }

  Tensor add(const Tensor& tensor, kernel::Term term) {
    planned.class_of.resize(std::max(planned.class_of.size(), size_t{tensor.id().index()} + 1));
    planned.class_of[tensor.id().index()] =
        ClassId{static_cast<uint32_t>(planned.terms.classes.size())};
    planned.terms.classes.push_back({tensor.dims(), tensor.dtype(), {std::move(term)}});
    return tensor;
  }
  Tensor leaf(const Tensor& tensor) {
    planned.source_nodes.push_back(tensor.id());
    return add(
        tensor,
        kernel::LoadTerm{planned.terms.sources.push_back({tensor.dims(), tensor.dtype(), "leaf"})});
  }
  Tensor view(const Tensor& tensor, const IndexMap& map) {
    return add(prim::view(tensor, map), kernel::ReindexTerm{map, at(tensor)});
  }

  // A kernel of its own, which computes all that it needs.
  void lower(ClassId root) {
    const size_t n = planned.terms.classes.size();
    const kernel::Choice choice{.cut = std::vector<bool>(n, false), .term = std::vector<int>(n, 0)};
    std::vector<std::vector<Expr>> factors;
    for (Expr dim : planned.terms.at(root).dims) factors.push_back({dim});
    const auto instances = kernel::walk(planned.terms, choice, root, factors);
    require(static_cast<bool>(instances));
    // As many outer loops as the kernel can have.
    int n_outer = instances->n_root_loops;
    auto lowered = kernel::stage(planned.terms, root, *instances, n_outer);
    while (!lowered && n_outer > 0) {
      lowered = kernel::stage(planned.terms, root, *instances, --n_outer);
    }
    require(static_cast<bool>(lowered));
    planned.plan.steps.push_back(kernel::make_step(*lowered, 1e-6));
  }
};

const Program& program() {
  static const Program made;
  return made;
}

CompileReport some_report() {
  CompileReport report;
  RuleGrowth& rule = report.rules.emplace_back();
  rule.rule = "commute-add";
  rule.group = "algebra";
  KernelReport& made = report.kernels.emplace_back();
  made.name = "kernel 0";
  made.ops = {"add ×2", "reduce"};
  made.rules = {"commute-add"};
  made.result = "f32[s, 32]";
  StoredReport& stored = report.stored.emplace_back();
  stored.value = "%1 (add)";
  stored.readers = {"kernel 1", "kernel 2"};
  report.notes.push_back("a note");
  return report;
}

// What an input is, said by its first byte.
constexpr uint8_t kPlan = 0, kReport = 1;

std::string seed(uint8_t kind) {
  std::string bytes(1, static_cast<char>(kind));
  if (kind == kPlan) return bytes + bytes_of(program().planned);
  base::ByteWriter out;
  write_report(out, some_report(), ReportMark(CompileReport()));
  return bytes + out.bytes();
}

void try_plan(const std::string& bytes) {
  const kernel::PlannedGraph planned = read_plan(bytes);
  if (!kernel::verify_plan(planned, program().graph, roots(program().graph)).empty()) return;
  for (const auto& step : planned.plan.steps) {
    const auto* of_kernel = std::get_if<kernel::KernelStep>(&step);
    if (of_kernel != nullptr) kernel::text(of_kernel->lowered.kernel);
  }
  // What was read is written in one way.
  const std::string written = bytes_of(planned);
  require(bytes_of(read_plan(written)) == written);
}

void try_report(const std::string& bytes) {
  base::ByteReader in(bytes);
  CompileReport report;
  read_report(in, report);
  in.finish();
  base::ByteWriter out;
  write_report(out, report, ReportMark(CompileReport()));
  base::ByteReader again(out.bytes());
  CompileReport same;
  read_report(again, same);
  require(same.json() == report.json());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const Program& made = program();
  require(kernel::verify_plan(made.planned, made.graph, roots(made.graph)).empty());
  try_plan(seed(kPlan).substr(1));
  try_report(seed(kReport).substr(1));
  return 0;
}

// Seeds are what this build writes: those of another would be refused at the first byte that is
// written otherwise. Inputs of a few bytes become one.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most,
                                          unsigned int random) {
  if (size >= 8) return LLVMFuzzerMutate(data, size, most);
  const std::string bytes = seed(random % 2 == 0 ? kPlan : kReport);
  const size_t n = std::min(most, bytes.size());
  std::memcpy(data, bytes.data(), n);
  return n;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    data[0] % 2 == kPlan ? try_plan(bytes) : try_report(bytes);
  } catch (const std::exception&) {
  }
  return 0;
}
