// Messages from lines: one per line, or everything between two """.
#pragma once

#include <cstdint>
#include <string>

namespace luminal::cli {

struct ReadLine {
  enum class State : uint8_t {
    Line,
    Interrupted,  // Ctrl-C: the typed text is dropped
    End,          // Ctrl-D, or end of input
  };
  State state = State::End;
  std::string text;  // without the trailing newline; pasted text may contain some
};

// A source of lines: a terminal, with editing and history, or a stream.
class LineSource {
 public:
  virtual ~LineSource() = default;
  // `goes_on`: the line continues a message.
  virtual ReadLine read(bool goes_on) = 0;
  // Adds a complete message to the history.
  virtual void remember(const std::string& message) = 0;
};

class MessageReader {
 public:
  explicit MessageReader(LineSource& lines) : lines_(lines) {}

  // The next message, of one line or several. The end of input also ends a message.
  ReadLine read();

 private:
  LineSource& lines_;
};

}  // namespace luminal::cli
