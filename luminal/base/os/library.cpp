#include "luminal/base/os/library.h"

#include <dlfcn.h>

namespace luminal::base {

std::unique_ptr<SharedLibrary> SharedLibrary::open(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      return std::unique_ptr<SharedLibrary>(new SharedLibrary(handle));
    }
  }
  return nullptr;
}

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace luminal::base
