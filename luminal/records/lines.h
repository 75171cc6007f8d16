// Records as lines of JSON, to be sent from machine to machine: a first line that says what they
// are, then one entry a line, each row with its digest. Lines may come from anybody.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "luminal/base/result.h"
#include "luminal/records/record.h"

namespace luminal::records {

inline constexpr int kLinesVersion = 1;

// Without the end of the line.
std::string header_line();
std::string line_of(const Entry& entry);

// UserError where this isn't the first line of records, or they are of a newer version.
void check_header(std::string_view line, const std::string& source);

// What line_of() wrote, or why it isn't that: each value is checked as those of rows are.
Result<Entry> parse_line(std::string_view line);

// The next line, without its end and what lies beyond the longest that line_of() can write;
// false after the last.
bool read_line(std::istream& in, std::string& line);

}  // namespace luminal::records
