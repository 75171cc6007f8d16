// LibraryStep: a kernel of a plan as a product of the library, at whatever sizes a run has.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/backends/cpu/onednn/library_form.h"

namespace luminal::backends::cpu {

// A product at some sizes, for one program.
struct LibraryLaunch {
  struct Operand {
    size_t param = 0;
    size_t start = 0;  // in bytes
  };
  std::unique_ptr<LibraryMatmul> matmul;  // null where there is nothing to compute
  Operand a, b, c;
  std::optional<Operand> bias;
  std::vector<Operand> post_ops;        // those that have a tensor
  std::vector<const void*> in_post_op;  // their addresses, filled in when it runs
};

class LibraryStep {
 public:
  // `b_is_fixed`: b comes from weights alone, and is packed once. A failure where the library
  // can't, or not well, at the typical sizes.
  static Result<std::shared_ptr<const LibraryStep>> make(LibraryForm form, bool b_is_fixed,
                                                         const LoadOptions& options);

  const LibraryForm& form() const { return form_; }
  std::string routine() const { return typical_->routine(); }  // at the typical sizes
  // Of b in the library's order; 0 where it is read as it is.
  size_t packed_bytes() const { return packs_ ? typical_->packed_bytes() : 0; }
  // What b becomes: equal text, equal order.
  std::string layout() const;
  void pack(const void* b, void* packed) const;

  LibraryLaunch prepare(const Bindings& bindings) const;
  // `params` are the kernel's; `packed` is b as pack() made it, where it is packed.
  void run(LibraryLaunch& launch, std::span<const void* const> params, const void* packed,
           void* scratch) const;

 private:
  LibraryStep(LibraryForm form, int threads) : form_(std::move(form)), threads_(threads) {}

  LibraryForm form_;
  int threads_;
  bool packs_ = false;
  std::unique_ptr<LibraryMatmul> typical_;  // never run: programs run their own
};

}  // namespace luminal::backends::cpu
