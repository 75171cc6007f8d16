// The characters that names and numbers in an expression's text are made of: what makes names and
// what reads them must agree.
#pragma once

namespace luminal::shape {

inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace luminal::shape
