// Checks of a model's configuration before anything is built of it.
#pragma once

#include <cstdint>
#include <string>

namespace luminal::llm {

// UserErrors that begin with the model's name.
class ConfigChecks {
 public:
  constexpr explicit ConfigChecks(const char* model) : model_(model) {}

  [[noreturn]] void fail(const std::string& message) const;
  // From 1 to `most`: more is no size that a model has.
  void size(const char* what, int64_t value, int64_t most) const;
  void positive(const char* what, double value) const;

 private:
  const char* model_;
};

}  // namespace luminal::llm
