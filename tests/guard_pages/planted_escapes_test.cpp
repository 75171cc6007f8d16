// Kernels with off-by-ones planted between scheduling and machine code: each must be caught by the
// guarded memory, and the buffer it leaves must be named. Without the mistake, nothing is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>

#include "luminal/backends/cpu/llvm/emit_kernel.h"
#include "luminal/backends/cpu/llvm/jit_session.h"
#include "tests/backends/cpu/kernel_builder.h"
#include "tests/backends/cpu/kernel_recipes.h"
#include "tests/guard_pages/guarded_launch.h"

namespace luminal::tests {
namespace {

using backends::cpu::KernelBuilder;
using backends::cpu::Schedule;
using kernel::Kernel;
using kernel::LoopId;
using kernel::ParamId;
using kernel::StageId;

constexpr int64_t kLength = 37;  // no multiple of any number of lanes

// y[i] = x[position(i)] · x[position(i)]
Kernel pointwise(DType dtype, const std::function<Expr(Expr)>& position) {
  KernelBuilder b;
  const ParamId x = b.param(dtype, {kLength}), y = b.param(dtype, {kLength}, true);
  const Expr i = b.outer(kLength);
  auto stage = b.stage(dtype);
  const auto value = stage.load(b.k, x, {position(i)});
  stage.op(Op::Mul, dtype, {value, value});
  b.output(y, {i});
  return b.done();
}
Kernel squares() {
  return pointwise(DType::BF16, [](Expr i) { return i; });
}
Kernel reversed() {
  return pointwise(DType::F32, [](Expr i) { return kLength - 1 - i; });
}

Kernel softmax() {
  for (const auto& [name, recipe] : backends::cpu::recipes()) {
    if (name == "softmax") return recipe(DType::BF16, 3, kLength);
  }
  throw std::logic_error("there is no recipe for softmax");
}

// y[i] = x[index[i]]
Kernel gather() {
  KernelBuilder b;
  const ParamId x = b.param(DType::F32, {8}), index = b.param(DType::I32, {kLength});
  const ParamId y = b.param(DType::F32, {kLength}, true);
  const Expr i = b.outer(kLength);
  auto stage = b.stage(DType::F32);
  const auto row = stage.load(b.k, index, {i});
  stage.gather(b.k, x, {{.expr = 0, .value = row}});
  b.output(y, {i});
  return b.done();
}

Kernel unpack() {
  KernelBuilder b;
  const ParamId x = b.param(DType::U4, {kLength + 1}), y = b.param(DType::F32, {kLength + 1}, true);
  const Expr i = b.outer(kLength + 1);
  auto stage = b.stage(DType::F32);
  stage.op(Op::Cast, DType::F32, {stage.load(b.k, x, {i})});
  b.output(y, {i});
  return b.done();
}

// y[m, n] = Σ x[m, k] · w[k, n], w in panels as wide as this machine's vectors.
Kernel product() {
  const int64_t lanes = backends::cpu::Target::host().vector_bytes / 4;
  const int64_t depth = 19, rows = 5;
  KernelBuilder b;
  const ParamId x = b.param(DType::F32, {rows, depth});
  const ParamId w = b.param(DType::F32, {(kLength + lanes - 1) / lanes, depth, lanes, 1});
  const ParamId y = b.param(DType::F32, {rows, kLength}, true);
  const Expr m = b.outer(rows), n = b.outer(kLength), k = b.inner(depth);
  auto stage = b.stage(DType::F32, {}, kernel::Reduction{Reducer::Sum, b.last_loop()});
  const auto left = stage.load(b.k, x, {m, k});
  const auto right = stage.load(b.k, w, {n / lanes, k, n % lanes, 0});
  stage.op(Op::Mul, DType::F32, {left, right});
  b.output(y, {m, n});
  return b.done();
}
backends::cpu::TiledContraction& first_sum(Schedule& schedule) {
  return schedule.tiling->contractions.at(0);
}

// The first access of the schedule that `kernel` loads with.
backends::cpu::Access& first_load(Schedule& schedule, bool gathered = false) {
  for (auto& stage : schedule.stages) {
    for (size_t k = 0; k < stage.access.size(); ++k) {
      if (!std::holds_alternative<kernel::LoadInst>(stage.source->body[k].what)) continue;
      if (!gathered || !stage.access[k].gathered.empty()) return stage.access[k];
    }
  }
  throw std::logic_error("the kernel has no such load");
}

void for_each_intrinsic(llvm::Module& module, llvm::Intrinsic::ID which, unsigned mask) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call == nullptr || call->getIntrinsicID() != which) continue;
      call->setArgOperand(mask,
                          llvm::Constant::getAllOnesValue(call->getArgOperand(mask)->getType()));
    }
  }
}

struct Mistake {
  const char* what;
  Kernel (*kernel)();
  const char* leaves;  // the buffer
  std::function<void(Schedule&)> in_schedule = {};
  std::function<void(llvm::Module&)> in_code = {};
  int64_t more_points = 0;
};

const Mistake kMistakes[] = {
    {.what = "a mask lets one lane too many through",
     .kernel = squares,
     .leaves = "parameter p0",
     .in_code =
         [](llvm::Module& module) {
           for (llvm::Function& function : module) {
             for (llvm::Instruction& instruction : llvm::instructions(function)) {
               auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
               if (compare != nullptr && compare->getType()->isVectorTy() &&
                   compare->getPredicate() == llvm::CmpInst::ICMP_ULT) {
                 compare->setPredicate(llvm::CmpInst::ICMP_ULE);
               }
             }
           }
         }},
    {.what = "stores of bf16 ignore their mask",
     .kernel = squares,
     .leaves = "parameter p1",
     .in_code = [](llvm::Module& m) { for_each_intrinsic(m, llvm::Intrinsic::masked_store, 3); }},
    {.what = "loads of bf16 ignore their mask",
     .kernel = squares,
     .leaves = "parameter p0",
     .in_code = [](llvm::Module& m) { for_each_intrinsic(m, llvm::Intrinsic::masked_load, 2); }},
    {.what = "a row's loop runs up to its bound inclusive",
     .kernel = softmax,
     .leaves = "parameter p0",
     .in_schedule = [](Schedule& s) { s.extents.back() = s.extents.back() + 1; }},
    {.what = "a thread runs one point too many",
     .kernel = softmax,
     .leaves = "parameter p0",
     .more_points = 1},
    {.what = "a load starts one element late",
     .kernel = squares,
     .leaves = "parameter p0",
     .in_schedule = [](Schedule& s) { first_load(s).address = first_load(s).address + 1; }},
    {.what = "a load starts one element early",
     .kernel = squares,
     .leaves = "parameter p0",
     .in_schedule = [](Schedule& s) { first_load(s).address = first_load(s).address - 1; }},
    {.what = "a reversed load counts from the size instead of the last element",
     .kernel = reversed,
     .leaves = "parameter p0",
     .in_schedule = [](Schedule& s) { first_load(s).address = first_load(s).address + 1; }},
    {.what = "a gather's index is clamped to the size instead of the last row",
     .kernel = gather,
     .leaves = "parameter p0",
     .in_schedule =
         [](Schedule& s) {
           auto& gathered = first_load(s, true).gathered[0];
           gathered.extent = gathered.extent + 1;
         }},
    {.what = "a store goes one element too far",
     .kernel = squares,
     .leaves = "parameter p1",
     .in_schedule =
         [](Schedule& s) { s.stages.back().target.address = s.stages.back().target.address + 1; }},
    {.what = "the scratch memory is a cache line too small",
     .kernel = softmax,
     .leaves = "the scratch memory",
     .in_schedule =
         [](Schedule& s) {
           for (auto& stage : s.stages) stage.local_offset = stage.local_offset + 64;
         }},
    {.what = "the rows of a product start one element late",
     .kernel = product,
     .leaves = "parameter p0",
     .in_schedule = [](Schedule& s) { first_sum(s).left.address = first_sum(s).left.address + 1; }},
    {.what = "the panels of a product start one element late",
     .kernel = product,
     .leaves = "parameter p1",
     .in_schedule =
         [](Schedule& s) { first_sum(s).right.address = first_sum(s).right.address + 1; }},
    {.what = "a product has one row too many",
     .kernel = product,
     .leaves = "parameter p0",
     .in_schedule =
         [](Schedule& s) {
           Expr& rows = s.extents[s.tiling->row_loop];
           rows = rows + 1;
           s.tiling->block_rows += s.tiling->shape.rows;
         }},
    {.what = "the sums of a product have one cache line",
     .kernel = product,
     .leaves = "the scratch memory",
     .in_schedule = [](Schedule& s) { first_sum(s).sums = s.scratch_bytes - 64; }},
    {.what = "the byte after the last pair of u4 is read",
     .kernel = unpack,
     .leaves = "parameter p0",
     .in_schedule = [](Schedule& s) { first_load(s).address = first_load(s).address + 1; }},
};

// The kernel as compiled with a mistake in it; `memory` is what the kernel without one needs.
class Compiled {
 public:
  Compiled(const Mistake& mistake, bool planted)
      : kernel_(mistake.kernel()),
        session_(std::make_shared<backends::cpu::JitSession>(backends::cpu::Target::host())) {
    const backends::cpu::EmitOptions options;
    const backends::cpu::Target& target = backends::cpu::Target::host();
    Schedule schedule = backends::cpu::make_schedule(kernel_, target, options);
    launch_ = {.kernel = &kernel_,
               .points = schedule.points.to_int().value() + (planted ? mistake.more_points : 0),
               .scratch_bytes = schedule.scratch_bytes.to_int().value(),
               .vector_outer = schedule.vector_outer && !schedule.tiling};
    if (planted && mistake.in_schedule) mistake.in_schedule(schedule);
    llvm::LLVMContext context;
    auto module = backends::cpu::emit_kernel(context, schedule, target, options);
    if (planted && mistake.in_code) mistake.in_code(*module);
    session_->generator().prepare(*module);
    session_->generator().optimize(*module);
    code_ = session_->load(session_->generator().to_object(*module));
    launch_.function = reinterpret_cast<backends::cpu::CompiledKernel::Function>(code_->address());
  }
  const GuardedLaunch& launch() const { return launch_; }

 private:
  Kernel kernel_;
  std::shared_ptr<backends::cpu::JitSession> session_;
  std::shared_ptr<backends::cpu::LoadedCode> code_;
  GuardedLaunch launch_;
};

TEST(PlantedEscapes, AreCaughtAndNamed) {
  GuardedMemory memory;
  const GuardedSide sides[] = {GuardedSide::End, GuardedSide::Start};
  for (const Mistake& mistake : kMistakes) {
    SCOPED_TRACE(mistake.what);
    RandomSource random(5);
    const Compiled right(mistake, false);
    EXPECT_EQ(escape_of(right.launch(), memory, random, sides), std::nullopt);
    const Compiled wrong(mistake, true);
    const auto escape = escape_of(wrong.launch(), memory, random, sides);
    ASSERT_TRUE(escape.has_value());
    EXPECT_THAT(*escape, testing::HasSubstr(std::string("faults at ") + mistake.leaves));
  }
}

// An index along a dim of one element at most is 0, without a loop that would guard the load.
Kernel sums_of_one_row(Expr size) {
  KernelBuilder b;
  const ParamId x = b.param(DType::F32, {4, 8, 16}), w = b.param(DType::F32, {4, size, 16});
  const ParamId y = b.param(DType::F32, {4, 8, size}, true);
  const Expr i = b.outer(4), j = b.inner(8);
  const LoopId row = b.last_loop();
  b.inner(size);
  const LoopId column = b.last_loop();
  const Expr k = b.inner(16);
  auto sum = b.stage(DType::F32, {row}, kernel::Reduction{Reducer::Sum, b.last_loop()});
  const auto left = sum.load(b.k, x, {i, j, k});
  sum.op(Op::Mul, DType::F32, {left, sum.load(b.k, w, {i, 0, k})});
  auto each = b.stage(DType::F32, {row, column});
  each.local(DType::F32, StageId{0}, {j});
  b.output(y, {i, j, 0});
  return b.done();
}
Kernel product_of_scaled_rows(Expr size) {
  KernelBuilder b;
  const ParamId x = b.param(DType::F32, {5, size, 2}), w = b.param(DType::F32, {size, kLength});
  const ParamId y = b.param(DType::F32, {5, kLength}, true);
  const Expr m = b.outer(5), n = b.outer(kLength);
  b.inner(size);
  auto stage = b.stage(DType::F32, {}, kernel::Reduction{Reducer::Sum, b.last_loop()});
  const auto element = stage.load(b.k, x, {m, 0, 1});
  const auto left = stage.op(Op::Mul, DType::F32, {element, stage.constant(DType::F32, 3)});
  stage.op(Op::Mul, DType::F32, {left, stage.load(b.k, w, {0, n})});
  b.output(y, {m, n});
  return b.done();
}

TEST(EmptyTensors, AreNotReadWhereNoLoopGuardsTheLoad) {
  GuardedMemory memory;
  RandomSource random(5);
  const GuardedSide sides[] = {GuardedSide::End, GuardedSide::Start};
  backends::cpu::Jit jit({.target = backends::cpu::Target::host(), .cache_folder = {}});
  const Expr size = Expr::var("s", 0, 1);
  for (const Kernel& kernel : {sums_of_one_row(size), product_of_scaled_rows(size)}) {
    const auto compiled = jit.compile(kernel);
    for (int64_t s : {0, 1}) {
      EXPECT_EQ(escape_of(guarded_launch(*compiled, {&s, 1}), memory, random, sides), std::nullopt)
          << kernel::text(kernel);
    }
  }
}

// An output that must start at a multiple of 64 doesn't end at the page: what lies between is
// watched.
TEST(GuardedMemory, NoticesWritesIntoTheGapOfAnAlignedBuffer) {
  GuardedMemory memory;
  std::byte* data = memory.place("data", 100, 64, GuardedSide::End, std::byte{0x5a});
  EXPECT_EQ(memory.escape_of([&] { data[99] = std::byte{1}; }), std::nullopt);
  EXPECT_EQ(memory.escape_of([&] { data[100] = std::byte{1}; }),
            "writes to data 0 bytes past its end");
}

TEST(GuardedMemory, CatchesReadsBeforeTheStart) {
  GuardedMemory memory;
  volatile std::byte* data = memory.place("data", 8, 1, GuardedSide::Start, std::byte{0x5a});
  EXPECT_EQ(memory.escape_of([&] { (void)data[-1]; }), "faults at data 1 bytes before its start");
}

}  // namespace
}  // namespace luminal::tests
