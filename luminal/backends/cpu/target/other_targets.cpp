#include "luminal/backends/cpu/target/other_targets.h"

#include <llvm/Support/TargetSelect.h>

namespace luminal::backends::cpu {

void initialize_other_targets() {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
}

}  // namespace luminal::backends::cpu
