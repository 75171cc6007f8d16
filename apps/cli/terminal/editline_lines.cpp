#include "apps/cli/terminal/editline_lines.h"

#include <clocale>
#include <cstdio>
#include <iostream>
#include <string>

#include "apps/cli/terminal/colours.h"
#include "apps/cli/terminal/editline_library.h"
#include "apps/cli/terminal/history_file.h"
#include "apps/cli/terminal/pasted_text.h"
#include "luminal/base/os/terminal.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::cli {
namespace {

constexpr std::wstring_view kPasteEnd = L"\x1b[201~";

class EditlineLines final : public LineSource {
 public:
  EditlineLines(const EditlineLibrary& library, const std::filesystem::path& file)
      : library_(library),
        file_(file),
        coloured_(output_has_colours()),
        history_(library.history_init(), library.history_end),
        edit_(library.el_init("luminal", stdin, stdout, stderr), library.el_end) {
    HistEvent event;
    library_.history(history_.get(), &event, H_SETSIZE,
                     static_cast<int>(HistoryFile::kMostMessages));
    library_.history(history_.get(), &event, H_SETUNIQUE, 1);
    library_.el_set(edit(), EL_CLIENTDATA, this);
    library_.el_set(edit(), EL_EDITOR, "emacs");
    library_.el_set(edit(), EL_HIST, library_.history, history_.get());
    // Escape sequences are enclosed in \1, so that they don't count as columns.
    library_.el_set(edit(), EL_PROMPT_ESC, prompt, '\1');
    library_.el_set(edit(), EL_GETCFN, next_character);
    library_.el_set(edit(), EL_ADDFN, "luminal-paste", "Insert pasted text", paste);
    library_.el_set(edit(), EL_ADDFN, "luminal-newline", "Insert a newline", newline);
    library_.el_set(edit(), EL_BIND, "^R", "em-inc-search-prev", nullptr);
    library_.el_set(edit(), EL_BIND, "\x1b\r", "luminal-newline", nullptr);
    library_.el_set(edit(), EL_BIND, "\x1b\n", "luminal-newline", nullptr);
    library_.el_source(edit(), nullptr);  // the user's ~/.editrc
    library_.el_set(edit(), EL_BIND, "\x1b[200~", "luminal-paste", nullptr);
    for (const std::string& message : file_.read()) enter(message);
  }

  ReadLine read(bool goes_on) override {
    goes_on_ = goes_on;
    state_ = ReadLine::State::Line;
    std::cout << "\x1b[?2004h" << std::flush;  // bracketed paste
    int count = 0;
    base::CatchInterrupt interrupt;
    const char* line = library_.el_gets(edit(), &count);
    std::cout << "\x1b[?2004l" << std::flush;
    if (line == nullptr || count <= 0) {
      if (state_ == ReadLine::State::Line) state_ = ReadLine::State::End;
      std::cout << std::endl;
      return {.state = state_, .text = {}};
    }
    std::string text(line, static_cast<size_t>(count));
    if (text.ends_with('\n')) text.pop_back();
    return {.state = ReadLine::State::Line, .text = std::move(text)};
  }

  void remember(const std::string& message) override {
    if (message.find_first_not_of(" \t\n") == message.npos) return;
    enter(message);
    // Immediately: other chats may be running, and this one may be killed.
    file_.add(message);
  }

 private:
  void enter(const std::string& message) {
    HistEvent event;
    library_.history(history_.get(), &event, H_ENTER, message.c_str());
  }

  static EditlineLines& of(EditLine* edit) {
    void* self = nullptr;
    editline_library()->el_get(edit, EL_CLIENTDATA, &self);
    return *static_cast<EditlineLines*>(self);
  }

  static char* prompt(EditLine* edit) {
    EditlineLines& self = of(edit);
    if (self.goes_on_) {
      self.prompt_ = "\u2026 ";
    } else {
      self.prompt_ = self.coloured_ ? "\1\x1b[1;32m\1>\1\x1b[0m\1 " : "> ";
    }
    return self.prompt_.data();
  }

  // Replaces libedit's own reader, which retries after a signal.
  static int next_character(EditLine* edit, wchar_t* character) {
    EditlineLines& self = of(edit);
    if (const int columns = base::terminal_columns(); columns != self.columns_) {
      if (self.columns_ != 0) self.library_.el_resize(edit);
      self.columns_ = columns;
    }
    std::string bytes;
    do {
      const base::InputByte read = base::read_input_byte();
      if (read.state == base::InputByte::State::Interrupted) {
        self.state_ = ReadLine::State::Interrupted;
        return -1;
      }
      if (read.state == base::InputByte::State::End) return 0;
      bytes += read.byte;
    } while (tokens::incomplete_tail(bytes) == bytes.size());
    *character = static_cast<wchar_t>(tokens::code_point_at(bytes, 0).value);
    return 1;
  }

  static unsigned char paste(EditLine* edit, int) {
    std::wstring sent;
    wchar_t character = 0;
    while (!sent.ends_with(kPasteEnd)) {
      if (of(edit).library_.el_wgetc(edit, &character) != 1) return CC_EOF;
      sent += character;
    }
    sent.resize(sent.size() - kPasteEnd.size());
    return insert(edit, pasted_text(sent));
  }

  static unsigned char newline(EditLine* edit, int) { return insert(edit, L"\n"); }

  static unsigned char insert(EditLine* edit, const std::wstring& text) {
    if (text.empty()) return CC_NORM;
    return of(edit).library_.el_winsertstr(edit, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  EditLine* edit() { return edit_.get(); }

  const EditlineLibrary& library_;
  HistoryFile file_;
  bool coloured_;
  bool goes_on_ = false;
  int columns_ = 0;
  ReadLine::State state_ = ReadLine::State::Line;
  std::string prompt_;
  std::unique_ptr<History, void (*)(History*)> history_;
  std::unique_ptr<EditLine, void (*)(EditLine*)> edit_;
};

}  // namespace

bool edits_lines() { return editline_library() != nullptr; }

std::unique_ptr<LineSource> editline_lines(const std::filesystem::path& history) {
  if (!edits_lines()) return nullptr;
  // libedit takes the terminal's encoding from the locale; all texts here are UTF-8.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  return std::make_unique<EditlineLines>(*editline_library(), history);
}

}  // namespace luminal::cli
