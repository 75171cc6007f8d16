// LibraryStep: a kernel of a plan computed by the library, for any sizes of a run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/backends/cpu/onednn/library_form.h"

namespace luminal::backends::cpu {

// A library call prepared for one set of sizes, owned by one program.
struct LibraryLaunch {
  struct Operand {
    kernel::ParamId param{0};
    size_t start = 0;  // in bytes
  };
  std::unique_ptr<LibraryMatmul> matmul;  // null if there is nothing to compute
  Operand a, b, c;
  std::optional<Operand> bias;
  std::vector<Operand> post_ops;        // those that have a tensor
  std::vector<const void*> in_post_op;  // their addresses, filled in when it runs
};

class LibraryStep {
 public:
  // `b_is_fixed`: b depends only on weights and is packed once. Fails if the library can't compute
  // the product at the typical sizes, or only slowly.
  static Result<std::shared_ptr<const LibraryStep>> make(LibraryForm form, bool b_is_fixed,
                                                         const LoadOptions& options);

  const LibraryForm& form() const { return form_; }
  std::string routine() const { return typical_->routine(); }  // at the typical sizes
  // Size of b in the library's layout; 0 if it isn't packed.
  size_t packed_bytes() const { return packs_ ? typical_->packed_bytes() : 0; }
  // Describes the packed layout of b: equal texts mean equal layouts.
  std::string layout() const;
  void pack(const void* b, void* packed) const;

  LibraryLaunch prepare(const Bindings& bindings) const;
  // `params` are the kernel's; `packed` is the result of pack(), if b is packed.
  void run(LibraryLaunch& launch, std::span<const void* const> params, const void* packed,
           void* scratch) const;

 private:
  LibraryStep(LibraryForm form, int threads) : form_(std::move(form)), threads_(threads) {}

  LibraryForm form_;
  int threads_;
  bool packs_ = false;
  std::unique_ptr<LibraryMatmul> typical_;  // for queries only; programs run their own
};

}  // namespace luminal::backends::cpu
