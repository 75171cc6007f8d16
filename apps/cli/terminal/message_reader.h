// Messages from lines: each is one, but for those between two """.
#pragma once

#include <cstdint>
#include <string>

namespace luminal::cli {

struct ReadLine {
  enum class State : uint8_t {
    Line,
    Interrupted,  // Ctrl-C: what was typed is dropped
    End,          // Ctrl-D, or the input's end
  };
  State state = State::End;
  std::string text;  // without the newline at its end; pasted text may have some inside
};

// Where lines come from: a terminal, with editing and a history, or a stream.
class LineSource {
 public:
  virtual ~LineSource() = default;
  // `goes_on`: the line belongs to a message that has begun.
  virtual ReadLine read(bool goes_on) = 0;
  // A whole message that was read, which the history keeps.
  virtual void remember(const std::string& message) = 0;
};

class MessageReader {
 public:
  explicit MessageReader(LineSource& lines) : lines_(lines) {}

  // The next message, of one line or several. A message that the input's end cuts off ends there.
  ReadLine read();

 private:
  LineSource& lines_;
};

}  // namespace luminal::cli
