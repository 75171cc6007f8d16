// Shared libraries loaded at run time (dlopen), if the system has them.
#pragma once

#include <initializer_list>
#include <memory>

namespace luminal::base {

class SharedLibrary {
 public:
  // Loads the first of these names that can be loaded; null if none can. It stays loaded until the
  // process ends.
  static std::unique_ptr<SharedLibrary> open(std::initializer_list<const char*> names);

  // Null if the library has no such symbol.
  void* symbol(const char* name) const;

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}

  void* handle_;
};

}  // namespace luminal::base
