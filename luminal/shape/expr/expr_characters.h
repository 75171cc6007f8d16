// The characters of names and numbers in an expression's text, shared so that the check of new
// names and the parser agree.
#pragma once

namespace luminal::shape {

inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace luminal::shape
