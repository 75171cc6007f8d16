#include "luminal/text/jinja/template_budget.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"

namespace luminal::tokens {

void TemplateBudget::fail(const std::string& what) const {
  throw UserError(fmt::format("chat template: line {}: {}", line, what));
}

void TemplateBudget::step() {
  if (--steps < 0) fail("it takes too many steps; it may never end");
}

void TemplateBudget::spend(size_t n) {
  if (n > static_cast<size_t>(bytes)) fail("it makes too much intermediate text; it may never end");
  bytes -= static_cast<int64_t>(n);
}

}  // namespace luminal::tokens
