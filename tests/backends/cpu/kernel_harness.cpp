#include "tests/backends/cpu/kernel_harness.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "luminal/backends/cpu/launch/launch.h"
#include "luminal/base/check.h"
#include "luminal/graph/interpret/scalar_ops.h"
#include "luminal/shape/scalar.h"

namespace luminal::backends::cpu {
namespace {

using interpret::Lane;
using kernel::LoopId;
using kernel::ParamId;
using kernel::StageId;

Bindings bindings_of(const kernel::Kernel& kernel, std::span<const int64_t> variables) {
  Bindings bindings;
  for (size_t k = 0; k < variables.size(); ++k) {
    bindings.set(kernel.variables[k].name(), variables[k]);
  }
  return bindings;
}

int64_t value_of(Expr e, const Bindings& bindings, std::span<const int64_t> index = {}) {
  return e.evaluate(bindings, index).value.value_or(0);
}

class Reference {
 public:
  Reference(const kernel::Kernel& kernel, std::span<const int64_t> variables,
            std::vector<Bytes>& params)
      : kernel_(kernel), bindings_(bindings_of(kernel, variables)), params_(params) {
    for (const auto& loop : kernel.loops) extents_.push_back(value_of(loop.extent, bindings_));
    index_.resize(extents_.size());
    locals_.resize(kernel.stages.size());
  }

  void run() { outer(LoopId{0}); }

 private:
  void outer(LoopId loop) {
    if (!is_outer(kernel_, loop)) {
      for (StageId s : kernel_.stages.ids()) {
        locals_[s].clear();
        nest(s, 0);
      }
      return;
    }
    int64_t& i = index_[loop];
    for (i = 0; i < extents_[loop]; ++i) outer(LoopId{loop.value + 1});
  }

  void nest(StageId s, size_t k) {
    const kernel::Stage& stage = kernel_.stages[s];
    if (k < stage.loops.size()) {
      int64_t& i = index_[stage.loops[k]];
      for (i = 0; i < extents_[stage.loops[k]]; ++i) nest(s, k + 1);
      return;
    }
    Lane result;
    if (stage.reduction) {
      result = interpret::identity(stage.reduction->reducer, stage.dtype);
      int64_t& i = index_[stage.reduction->loop];
      for (i = 0; i < extents_[stage.reduction->loop]; ++i) {
        result = interpret::accumulate(stage.reduction->reducer, stage.dtype, result, body(stage));
      }
      interpret::settle(stage.dtype, interpret::Precision::AsDeclared, &result, 1);
    } else {
      result = body(stage);
    }
    if (const auto* out = std::get_if<kernel::OutputTarget>(&stage.target)) {
      int64_t at = 0;
      const Dims& dims = kernel_.params[out->param].dims;
      for (size_t d = 0; d < dims.size(); ++d) {
        at = at * value_of(dims[d], bindings_) + value_of(out->index[d], bindings_, index_.items());
      }
      if (is_float(stage.dtype)) {
        store_float(stage.dtype, params_[out->param.index()].data(), at, result.real);
      } else {
        store_int(stage.dtype, params_[out->param.index()].data(), at, result.integer);
      }
    } else {
      locals_[s].push_back(result);
    }
  }

  Lane body(const kernel::Stage& stage) {
    std::vector<Lane> v(stage.body.size());
    for (size_t k = 0; k < v.size(); ++k) v[k] = instruction(stage, k, v);
    return v[stage.result.index()];
  }

  Lane instruction(const kernel::Stage& stage, size_t k, std::vector<Lane>& v) {
    const kernel::Inst& inst = stage.body[k];
    const bool real = is_float(inst.dtype);
    Lane lane;
    if (const auto* c = std::get_if<kernel::ConstInst>(&inst.what)) {
      if (real) return {.real = round_to(inst.dtype, c->real)};
      return {.integer = wrap_to(inst.dtype, c->integer)};
    }
    if (const auto* iota = std::get_if<kernel::IotaInst>(&inst.what)) {
      Lane index{.integer = value_of(iota->expr, bindings_, index_.items())};
      Lane* in = &index;
      interpret::apply(Op::Cast, DType::I64, inst.dtype, interpret::Precision::AsDeclared,
                       std::span<Lane* const>(&in, 1), &lane, 1);
      return lane;
    }
    if (const auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
      const kernel::Param& param = kernel_.params[load->param];
      int64_t at = 0, count = 1;
      for (size_t d = 0; d < param.dims.size(); ++d) {
        const int64_t n = value_of(param.dims[d], bindings_);
        int64_t i = load->index[d].value ? v[load->index[d].value->index()].integer
                                         : value_of(load->index[d].expr, bindings_, index_.items());
        if (load->index[d].value) i = std::max<int64_t>(0, std::min(i, n - 1));
        at = at * n + i;
        count *= n;
      }
      if (count == 0) return {.integer = 0};
      LUMINAL_CHECK(at >= 0 && at < count, "the test's kernel reads out of range");
      if (real) return {.real = load_float(inst.dtype, params_[load->param.index()].data(), at)};
      return {.integer = load_int(inst.dtype, params_[load->param.index()].data(), at)};
    }
    if (const auto* local = std::get_if<kernel::LocalInst>(&inst.what)) {
      int64_t at = 0;
      const kernel::Stage& source = kernel_.stages[local->stage];
      for (size_t d = 0; d < source.loops.size(); ++d) {
        at = at * extents_[source.loops[d]] + value_of(local->index[d], bindings_, index_.items());
      }
      return locals_[local->stage][static_cast<size_t>(at)];
    }
    const auto& op = std::get<kernel::OpInst>(inst.what);
    std::vector<Lane*> in;
    for (auto id : op.operands) in.push_back(&v[id.index()]);
    interpret::apply(op.op, stage.body[op.operands.back().index()].dtype, inst.dtype,
                     interpret::Precision::AsDeclared, in, &lane, 1);
    return lane;
  }

  const kernel::Kernel& kernel_;
  Bindings bindings_;
  std::vector<Bytes>& params_;
  IdVector<LoopId, int64_t> extents_, index_;
  IdVector<StageId, std::vector<Lane>> locals_;
};

double special_float(std::mt19937_64& random) {
  static const double values[] = {0.0,      -0.0,     1.0,    -1.0,    INFINITY, -INFINITY, NAN,
                                  -NAN,     1e-40,    -1e-40, 6e-8,    -6e-8,    65504,     1e38,
                                  -3e38,    2.5,      -2.5,   1e10,    -1e10,    9.3e18,    -9.3e18,
                                  1e19,     -1e19,    3e9,    -3e9,    127,      -128.5,    0.5,
                                  65520,    1e-45,    1.4142, 100000., 1048576., 16777216., 3.0,
                                  123456.7, 1.75e-38, 255,    -256,    32768,    6.1e-5,    1e300};
  return values[random() % std::size(values)];
}

int64_t special_int(std::mt19937_64& random) {
  static const int64_t values[] = {0,         1,          -1,        2,        -2,        INT64_MIN,
                                   INT64_MAX, INT32_MIN,  INT32_MAX, -32768,   32767,     -128,
                                   127,       255,        3,         16777217, -16777219, 1 << 24,
                                   7,         1000000007, 65537,     33554433, -5};
  return values[random() % std::size(values)];
}

void fill_random(DType dtype, Bytes& bytes, int64_t count, std::mt19937_64& random, Fill fill) {
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < count; ++i) {
    const bool special = fill == Fill::Special && random() % 3 != 0;
    if (is_float(dtype)) {
      const double value = special ? special_float(random) : normal(random) * 4;
      store_float(dtype, bytes.data(), i, round_to(dtype, value));
    } else {
      int64_t value = special ? special_int(random) : static_cast<int64_t>(random() % 41) - 20;
      if (fill == Fill::Special && random() % 4 == 0) value = static_cast<int64_t>(random());
      store_int(dtype, bytes.data(), i, wrap_to(dtype, value));
    }
  }
}

double ulp_of(DType dtype, double value) {
  int mantissa = 52, low = -1074;
  if (dtype == DType::F32) mantissa = 23, low = -149;
  if (dtype == DType::F16) mantissa = 10, low = -24;
  if (dtype == DType::BF16) mantissa = 7, low = -133;
  if (!std::isfinite(value) || value == 0) return std::ldexp(1.0, low);
  return std::ldexp(1.0, std::max(std::ilogb(value) - mantissa, low));
}

bool close(DType dtype, const Bytes& want, const std::byte* got, int64_t i, Tolerance tolerance) {
  if (!is_float(dtype)) return load_int(dtype, want.data(), i) == load_int(dtype, got, i);
  const double a = load_float(dtype, want.data(), i), b = load_float(dtype, got, i);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return std::signbit(a) == std::signbit(b) || tolerance.ulps > 0;
  const double most = tolerance.ulps * ulp_of(dtype, a) + tolerance.absolute;
  if (std::isinf(a) || std::isinf(b)) {
    // The last finite number may be one rounding away from infinity.
    const double finite = std::isinf(a) ? b : a;
    return tolerance.ulps > 0 && std::isfinite(finite) && std::signbit(a) == std::signbit(b) &&
           std::isinf(round_to(dtype, finite + std::copysign(4 * ulp_of(dtype, finite), finite)));
  }
  return std::fabs(a - b) <= most;
}

}  // namespace

GuardedBuffer::GuardedBuffer(size_t size, Side side) : size_(size) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t inside = (size + page - 1) / page * page;
  mapped_ = inside + 2 * page;
  mapping_ = static_cast<std::byte*>(
      mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (inside > 0) mprotect(mapping_ + page, inside, PROT_READ | PROT_WRITE);
  data_ = mapping_ + page + (side == Side::End ? inside - size : 0);
}
GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}
GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      data_(other.data_),
      size_(other.size_) {}

void run_reference(const kernel::Kernel& kernel, std::span<const int64_t> variables,
                   std::vector<Bytes>& params) {
  Reference(kernel, variables, params).run();
}

std::vector<Bytes> random_params(const kernel::Kernel& kernel, std::span<const int64_t> variables,
                                 std::mt19937_64& random, Fill fill) {
  const Bindings bindings = bindings_of(kernel, variables);
  std::vector<Bytes> result;
  for (const auto& param : kernel.params) {
    const int64_t count = value_of(n_elements(param.dims), bindings);
    result.emplace_back(static_cast<size_t>(byte_size(param.dtype, count)));
    if (!param.output) fill_random(param.dtype, result.back(), count, random, fill);
  }
  return result;
}

std::vector<Jit*> test_jits() {
  static const std::vector<std::unique_ptr<Jit>> jits = [] {
    std::vector<std::unique_ptr<Jit>> made;
    for (const Target& target : Target::here()) {
      if (target.name == "sse2" && !made.empty()) continue;  // a test of its own has that
      made.push_back(std::make_unique<Jit>(Jit::Options{.target = target, .cache_folder = {}}));
    }
    return made;
  }();
  std::vector<Jit*> result;
  for (const auto& jit : jits) result.push_back(jit.get());
  return result;
}

void expect_like_reference(const kernel::Kernel& kernel, std::vector<int64_t> variables,
                           Tolerance tolerance, Fill fill, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Bytes> want = random_params(kernel, variables, random, fill);
  const std::vector<Bytes> given = want;
  run_reference(kernel, variables, want);
  for (Jit* jit : test_jits()) {
    static std::vector<std::shared_ptr<const CompiledKernel>> kept;  // other sizes compile nothing
    auto compiled = jit->compile(kernel);
    if (kept.empty() || kept.back() != compiled) kept.push_back(compiled);
    std::vector<Bytes> one_thread;
    for (int run_number = 0; run_number < 4; ++run_number) {
      const int threads = run_number % 2 + 1;
      const auto side = run_number < 2 ? GuardedBuffer::Side::End : GuardedBuffer::Side::Start;
      Launch launch =
          prepare_launch(*compiled, variables, {.threads = threads, .min_parallel_us = 0});
      std::vector<GuardedBuffer> buffers;
      std::vector<const void*> addresses;
      for (const Bytes& bytes : given) {
        buffers.emplace_back(bytes.size(), side);
        if (!bytes.empty()) std::memcpy(buffers.back().data(), bytes.data(), bytes.size());
        addresses.push_back(buffers.back().data());
      }
      GuardedBuffer scratch(static_cast<size_t>(launch.scratch_bytes) * threads, side);
      run(launch, addresses, scratch.data());
      for (size_t p = 0; p < kernel.params.size(); ++p) {
        const kernel::Param& param = kernel.params[ParamId::at(p)];
        const DType dtype = param.dtype;
        const int64_t count = value_of(n_elements(param.dims), bindings_of(kernel, variables));
        for (int64_t i = 0; i < count; ++i) {
          if (close(dtype, want[p], buffers[p].data(), i, tolerance)) continue;
          auto show = [&](const std::byte* data) {
            return is_float(dtype) ? std::to_string(load_float(dtype, data, i))
                                   : std::to_string(load_int(dtype, data, i));
          };
          FAIL() << "param " << p << " element " << i << " of " << count << ": want "
                 << show(want[p].data()) << ", got " << show(buffers[p].data()) << " with "
                 << threads << " threads, target " << jit->target().name << "\n"
                 << kernel::text(kernel);
        }
        if (one_thread.size() <= p) {
          one_thread.emplace_back(buffers[p].data(), buffers[p].data() + buffers[p].size());
        }
        if (buffers[p].size() > 0) {
          ASSERT_EQ(std::memcmp(one_thread[p].data(), buffers[p].data(), buffers[p].size()), 0)
              << "other bits with " << threads << " threads\n"
              << kernel::text(kernel);
        }
      }
    }
  }
}

}  // namespace luminal::backends::cpu
