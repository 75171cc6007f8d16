#include "luminal/kernel/lower/term_text.h"

#include <fmt/format.h>

namespace luminal::kernel {
namespace {

std::string term_text(const Term& term, DType dtype) {
  std::string out = describe(term);
  if (const auto* constant = std::get_if<ConstTerm>(&term)) {
    out += is_float(dtype) ? fmt::format(" {}", constant->real)
                           : fmt::format(" {}", constant->integer);
  }
  if (std::holds_alternative<ReindexTerm>(term)) out = "reindex";
  for (ClassId operand : operands(term)) out += " " + fmt::format("c{}", operand.value);
  if (const auto* view = std::get_if<ReindexTerm>(&term)) out += " " + view->map.text();
  return out;
}

}  // namespace

std::string text(const TermGraph& terms) {
  std::string out;
  for (size_t c = 0; c < terms.classes.size(); ++c) {
    const TermClass& value = terms.classes[c];
    out += fmt::format("class c{} : {}{}\n", c, name(value.dtype), luminal::text(value.dims));
  }
  for (size_t c = 0; c < terms.classes.size(); ++c) {
    for (const Term& term : terms.classes[c].terms) {
      out += fmt::format("term c{} {}\n", c, term_text(term, terms.classes[c].dtype));
    }
  }
  return out;
}

}  // namespace luminal::kernel
