// Lines of a stream such as a pipe: no prompt, no editing, no history.
#pragma once

#include <iosfwd>

#include "apps/cli/terminal/message_reader.h"

namespace luminal::cli {

class StreamLines final : public LineSource {
 public:
  // Prompts on standard error if `typed`.
  StreamLines(std::istream& in, bool typed) : in_(in), typed_(typed) {}

  ReadLine read(bool goes_on) override;
  void remember(const std::string&) override {}

 private:
  std::istream& in_;
  bool typed_;
};

}  // namespace luminal::cli
