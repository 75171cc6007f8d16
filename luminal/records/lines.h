// Records as JSON lines, for transfer between machines: a header line, then one entry per line,
// each row with its digest. The input is untrusted.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "luminal/base/result.h"
#include "luminal/records/record.h"

namespace luminal::records {

inline constexpr int kLinesVersion = 1;

// Both without a newline.
std::string header_line();
std::string line_of(const Entry& entry);

// UserError if this isn't the header line, or if its version is newer.
void check_header(std::string_view line, const std::string& source);

// Parses what line_of() wrote, or says why it can't. Values are checked like those of rows.
Result<Entry> parse_line(std::string_view line);

// Reads the next line without its newline, cut at the maximum length that line_of() can write;
// false after the last.
bool read_line(std::istream& in, std::string& line);

}  // namespace luminal::records
