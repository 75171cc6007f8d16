// Lines of a stream, as a pipe has them: no prompt, no editing, no history.
#pragma once

#include <iosfwd>

#include "apps/cli/terminal/message_reader.h"

namespace luminal::cli {

class StreamLines final : public LineSource {
 public:
  // With a prompt on standard error if someone types.
  StreamLines(std::istream& in, bool typed) : in_(in), typed_(typed) {}

  ReadLine read(bool goes_on) override;
  void remember(const std::string&) override {}

 private:
  std::istream& in_;
  bool typed_;
};

}  // namespace luminal::cli
