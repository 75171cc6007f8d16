// TextTable: rows under headings, each column as wide as its widest cell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::egraph {

class TextTable {
 public:
  enum class Align : uint8_t { Left, Right };

  // Numeric columns, right-aligned.
  explicit TextTable(std::vector<std::string> headings);
  void add_column(std::string heading, Align align = Align::Right);

  // One cell per column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // A line that spans all columns.
  void add_line(std::string text) { rows_.push_back({std::move(text)}); }

  // Every line ends in a newline, without trailing blanks.
  std::string text() const;

 private:
  std::vector<std::string> headings_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

// "0.125": three digits after the point.
std::string milliseconds(double seconds);

}  // namespace luminal::egraph
