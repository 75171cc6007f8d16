#include "luminal/backends/cpu/onednn/library_matmul.h"

#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <thread>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/thread.h"

namespace luminal::backends::cpu {
namespace {

using Memory = dnnl::memory;
using MadeMatmul = Result<std::unique_ptr<LibraryMatmul>>;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

// oneDNN asks OpenMP for the number of threads, both when it plans and when it runs a product, and
// expects the same answer. It is a setting of the calling thread, restored afterwards.
class ThreadsOfOpenMp {
 public:
  explicit ThreadsOfOpenMp(int count) : before_(omp_get_max_threads()) {
    omp_set_num_threads(count);
  }
  ~ThreadsOfOpenMp() { omp_set_num_threads(before_); }
  ThreadsOfOpenMp(const ThreadsOfOpenMp&) = delete;
  ThreadsOfOpenMp& operator=(const ThreadsOfOpenMp&) = delete;

 private:
  int before_;
};

// After each parallel region OpenMP's threads spin for milliseconds, on cores that our own thread
// pool needs then. If there are more of them than cores they stop after a few microseconds
// (libgomp's manual, GOMP_SPINCOUNT). So a thread that sleeps forever owns an extra OpenMP team.
void keep_openmp_from_spinning() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto started = std::make_shared<std::promise<void>>();
    std::future<void> has_started = started->get_future();
    const bool starts = base::start_helper_thread([started] {
      std::atomic<int> members = 0;  // a region that does nothing is no region to the compiler
#pragma omp parallel num_threads(omp_get_num_procs() + 1)
      {
        members.fetch_add(1, std::memory_order_relaxed);
      }
      LUMINAL_CHECK(members > 0, "a parallel region ran no thread");
      started->set_value();
      for (;;) std::this_thread::sleep_for(std::chrono::hours(24));
    });
    if (!starts) return;
    has_started.wait();
  });
}

// None for dtypes that aren't supported here.
std::optional<Memory::data_type> library_type(DType dtype) {
  if (dtype == DType::F32) return Memory::data_type::f32;
  if (dtype == DType::BF16) return Memory::data_type::bf16;
  return std::nullopt;
}

Memory::dims dims_of(const LibraryMatmulShape& shape, int64_t rows, int64_t columns) {
  Memory::dims dims = shape.batch;
  dims.insert(dims.end(), {rows, columns});
  return dims;
}

// A broadcast dim (stride 0) is described to oneDNN as one of size 1. The stride of a dim of size 1
// has no meaning, but oneDNN's fast routines require dense rows or columns, so it is chosen to make
// them dense.
Memory::desc describe(Memory::data_type type, Memory::dims dims, const MatmulStrides& from) {
  Memory::dims strides = from.batch;
  strides.insert(strides.end(), {from.row, from.column});
  LUMINAL_CHECK(strides.size() == dims.size(), "a tensor and c differ in their number of dims");
  int64_t span = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (strides[d] == 0) dims[d] = 1;
    if (dims[d] > 1) span = std::max(span, dims[d] * strides[d]);
  }
  const size_t row = dims.size() - 2, column = dims.size() - 1;
  if (dims[column] == 1) strides[column] = 1;
  if (dims[row] == 1) strides[row] = strides[column] == 1 ? span : 1;
  for (size_t d = 0; d < row; ++d) {
    if (dims[d] == 1) strides[d] = span;
  }
  return Memory::desc(dims, type, strides);
}

dnnl::algorithm algorithm(PostOpKind kind) {
  switch (kind) {
    case PostOpKind::Relu:
      return dnnl::algorithm::eltwise_relu;
    case PostOpKind::GeluTanh:
      return dnnl::algorithm::eltwise_gelu_tanh;
    case PostOpKind::GeluErf:
      return dnnl::algorithm::eltwise_gelu_erf;
    case PostOpKind::Swish:
      return dnnl::algorithm::eltwise_swish;
    case PostOpKind::Add:
      return dnnl::algorithm::binary_add;
    case PostOpKind::Multiply:
      return dnnl::algorithm::binary_mul;
  }
  LUMINAL_CHECK(false, "a post-op has no name in oneDNN");
}

dnnl::primitive_attr attributes(const LibraryMatmulShape& shape, const Memory::dims& c_dims) {
  dnnl::post_ops ops;
  for (const PostOp& op : shape.post_ops) {
    if (has_tensor(op.kind)) {
      ops.append_binary(algorithm(op.kind), describe(*library_type(op.dtype), c_dims, op.strides));
    } else {
      // alpha: the slope of relu below 0; the factor in the sigmoid of swish.
      const float alpha = op.kind == PostOpKind::Swish ? 1.0f : 0.0f;
      ops.append_eltwise(algorithm(op.kind), alpha, 0.0f);
    }
  }
  dnnl::primitive_attr attr;
  attr.set_post_ops(ops);
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

bool any_negative(const MatmulStrides& strides) {
  return strides.row < 0 || strides.column < 0 ||
         std::ranges::any_of(strides.batch, [](int64_t stride) { return stride < 0; });
}

// Why a shape isn't passed to oneDNN; empty if it is.
std::string refusal(const LibraryMatmulShape& shape) {
  auto empty = [](int64_t size) { return size < 1; };
  if (empty(std::min({shape.m, shape.n, shape.k})) || std::ranges::any_of(shape.batch, empty)) {
    return "it is empty";
  }
  if (!library_type(shape.dtype) || !library_type(shape.result) ||
      (shape.bias && !library_type(*shape.bias))) {
    return "it has a dtype other than f32 and bf16";
  }
  if (any_negative(shape.a) || any_negative(shape.b) || any_negative(shape.c)) {
    return "a stride is negative";
  }
  if ((shape.m > 1 && shape.a.row == 0) || (shape.n > 1 && shape.b.column == 0) ||
      (shape.k > 1 && (shape.a.column == 0 || shape.b.row == 0))) {
    return "a or b is broadcast along its rows or columns";
  }
  for (const PostOp& op : shape.post_ops) {
    if (!has_tensor(op.kind)) continue;
    if (!library_type(op.dtype)) return "a post-op's tensor is neither f32 nor bf16";
    if (any_negative(op.strides)) return "a stride is negative";
  }
  return {};
}

class OneDnnMatmul : public LibraryMatmul {
 public:
  static MadeMatmul make(const LibraryMatmulShape& shape, int threads,
                         const OneDnnMatmul* packed_as) {
    const ThreadsOfOpenMp guard(threads);
    const Memory::data_type type = *library_type(shape.dtype);
    const Memory::dims c_dims = dims_of(shape, shape.m, shape.n);
    const Memory::desc a = describe(type, dims_of(shape, shape.m, shape.k), shape.a);
    const Memory::desc b = describe(type, dims_of(shape, shape.k, shape.n), shape.b);
    const Memory::desc c = describe(*library_type(shape.result), c_dims, shape.c);
    Memory::desc b_in_run = b;
    if (shape.pack_b) {
      b_in_run = packed_as != nullptr ? packed_as->description_.weights_desc()
                                      : Memory::desc(b.get_dims(), type, Memory::format_tag::any);
    }
    Memory::desc bias;
    if (shape.bias) {
      MatmulStrides along_n{.batch = std::vector<int64_t>(shape.batch.size()), .column = 1};
      bias = describe(*library_type(*shape.bias), c_dims, along_n);
    }
    const dnnl::matmul::primitive_desc description(engine(), a, b_in_run, bias, c,
                                                   attributes(shape, c_dims), true);
    if (!description) return MadeMatmul::failure("oneDNN has no routine for this product");
    const std::string routine = description.impl_info_str();
    if (routine.starts_with("ref") && !shape.accept_plain_loops) {
      return MadeMatmul::failure("oneDNN has only its plain loops for this product (" + routine +
                                 ")");
    }
    return MadeMatmul(
        std::unique_ptr<LibraryMatmul>(new OneDnnMatmul(shape, threads, b, description)));
  }

  std::string routine() const override { return description_.impl_info_str(); }

  size_t packed_bytes() const override {
    return pack_b_ ? description_.weights_desc().get_size() : 0;
  }

  std::string layout() const override {
    const Memory::desc b = description_.weights_desc();
    return fmt::format("[{}] padded to [{}], strides [{}], blocks of [{}] along dims [{}]",
                       fmt::join(b.get_dims(), ", "), fmt::join(b.get_padded_dims(), ", "),
                       fmt::join(b.get_strides(), ", "), fmt::join(b.get_inner_blks(), ", "),
                       fmt::join(b.get_inner_idxs(), ", "));
  }

  bool wants_b_as_it_is() const override { return description_.weights_desc() == plain_b_; }

  void pack(const void* b, void* packed) const override {
    LUMINAL_CHECK(pack_b_, "a product that reads b unpacked was asked to pack it");
    const ThreadsOfOpenMp guard(threads_);
    try {
      Memory from(plain_b_, engine(), const_cast<void*>(b));
      Memory to(description_.weights_desc(), engine(), packed);
      dnnl::stream stream(engine());
      dnnl::reorder(from, to).execute(stream, from, to);
      stream.wait();
    } catch (const dnnl::error& error) {
      throw DeviceError(std::string("oneDNN can't pack a matrix: ") + error.what());
    }
  }

  size_t scratch_bytes() const override { return description_.scratchpad_desc().get_size(); }

  void run(const LibraryMatmulTensors& tensors) override {
    LUMINAL_CHECK(tensors.post_ops.size() + kFixed + (has_bias_ ? 1 : 0) == memories_.size(),
                  "a product of the library got the wrong number of tensors");
    size_t next = 0;
    auto set = [&](const void* data) {
      memories_[next++].set_data_handle(const_cast<void*>(data));
    };
    set(tensors.a);
    set(tensors.b);
    set(tensors.c);
    set(tensors.scratch);
    if (has_bias_) set(tensors.bias);
    for (const void* data : tensors.post_ops) set(data);
    const ThreadsOfOpenMp guard(threads_);
    // The C++ wrapper would first copy all arguments.
    const dnnl_status_t status = dnnl_primitive_execute(
        primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()), arguments_.data());
    if (status != dnnl_success) {
      throw DeviceError(fmt::format("oneDNN failed in {} with status {} ({})", routine(),
                                    static_cast<int>(status), dnnl_status2str(status)));
    }
  }

 private:
  static constexpr size_t kFixed = 4;  // a, b, c, scratch

  OneDnnMatmul(const LibraryMatmulShape& shape, int threads, const Memory::desc& plain_b,
               const dnnl::matmul::primitive_desc& description)
      : threads_(threads),
        pack_b_(shape.pack_b),
        has_bias_(shape.bias.has_value()),
        plain_b_(plain_b),
        description_(description),
        primitive_(description),
        stream_(engine()) {
    add(DNNL_ARG_SRC, description_.src_desc());
    add(DNNL_ARG_WEIGHTS, description_.weights_desc());
    add(DNNL_ARG_DST, description_.dst_desc());
    add(DNNL_ARG_SCRATCHPAD, description_.scratchpad_desc());
    if (has_bias_) add(DNNL_ARG_BIAS, description_.bias_desc());
    const dnnl::post_ops ops = description_.get_primitive_attr().get_post_ops();
    for (int k = 0; k < ops.len(); ++k) {
      if (ops.kind(k) != dnnl::primitive::kind::binary) continue;
      dnnl::algorithm which;
      Memory::desc tensor;
      ops.get_params_binary(k, which, tensor);
      add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(k) | DNNL_ARG_SRC_1, tensor);
    }
  }

  void add(int argument, const Memory::desc& tensor) {
    memories_.push_back(Memory(tensor, engine(), DNNL_MEMORY_NONE));
    arguments_.push_back({argument, memories_.back().get()});
  }

  int threads_;
  bool pack_b_;
  bool has_bias_;
  Memory::desc plain_b_;
  dnnl::matmul::primitive_desc description_;
  dnnl::matmul primitive_;
  dnnl::stream stream_;
  std::vector<Memory> memories_;            // a, b, c, scratch, bias, tensors of post-ops
  std::vector<dnnl_exec_arg_t> arguments_;  // the same with their argument ids
};

}  // namespace

bool library_available() { return true; }

std::string library_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

MadeMatmul make_library_matmul(const LibraryMatmulShape& shape, int threads,
                               const LibraryMatmul* packed_as) {
  if (const std::string why = refusal(shape); !why.empty()) {
    return MadeMatmul::failure("not a product for oneDNN: " + why);
  }
  keep_openmp_from_spinning();
  try {
    return OneDnnMatmul::make(shape, threads, static_cast<const OneDnnMatmul*>(packed_as));
  } catch (const dnnl::error& error) {
    return MadeMatmul::failure(std::string("oneDNN refused this product: ") + error.what());
  }
}

}  // namespace luminal::backends::cpu
