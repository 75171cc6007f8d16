#include "luminal/egraph/report/text_table.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace luminal::egraph {
namespace {

// Terminal columns: UTF-8 continuation bytes take none.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headings)
    : headings_(std::move(headings)), aligns_(headings_.size(), Align::Right) {}

void TextTable::add_column(std::string heading, Align align) {
  headings_.push_back(std::move(heading));
  aligns_.push_back(align);
}

std::string TextTable::text() const {
  std::vector<size_t> widths;
  for (const std::string& heading : headings_) widths.push_back(width_of(heading));
  for (const auto& row : rows_) {
    if (row.size() != widths.size()) continue;
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  const auto add = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size(); ++i) {
      const size_t fill = widths[i] > width_of(row[i]) ? widths[i] - width_of(row[i]) : 0;
      if (aligns_[i] == Align::Right) out.append(fill, ' ');
      out += row[i];
      if (aligns_[i] == Align::Left) out.append(fill, ' ');
      out += "  ";
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  add(headings_);
  for (const auto& row : rows_) add(row);
  return out;
}

std::string milliseconds(double seconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f", seconds * 1e3);
  return buffer;
}

}  // namespace luminal::egraph
