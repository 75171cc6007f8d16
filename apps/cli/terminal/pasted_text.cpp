#include "apps/cli/terminal/pasted_text.h"

namespace luminal::cli {

std::wstring pasted_text(const std::wstring& sent) {
  std::wstring text;
  for (size_t i = 0; i < sent.size(); ++i) {
    const wchar_t character = sent[i];
    if (character == L'\r') {  // terminals send it as the line end
      if (i + 1 == sent.size() || sent[i + 1] != L'\n') text += L'\n';
    } else if (character == L'\n' || character == L'\t') {
      text += character;
    } else if (character >= L' ' && (character < 0x7F || character > 0x9F)) {
      text += character;
    }
  }
  while (text.ends_with(L'\n')) text.pop_back();
  return text;
}

}  // namespace luminal::cli
