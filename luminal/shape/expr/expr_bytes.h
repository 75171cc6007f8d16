// Expressions as bytes, for files that this library writes for itself: what is read back is the
// very same expression, also where simplifying it anew would give another form of it.
#pragma once

#include <unordered_map>
#include <vector>

#include "luminal/base/byte_stream.h"
#include "luminal/shape/expr.h"
#include "luminal/shape/index_map.h"

namespace luminal::shape {

// Bytes that mention expressions by number, and the table of those. The table comes first in the
// file, each expression after its operands.
class ExprWriter {
 public:
  base::ByteWriter out;

  void expr(Expr e) { out.number(number_of(e)); }
  void exprs(const std::vector<Expr>& list);
  void map(const IndexMap& map);
  // The table, then what was written to `out`.
  std::string bytes() const;

 private:
  uint64_t number_of(Expr e);

  base::ByteWriter table_;
  std::unordered_map<Expr, uint64_t> numbers_;
};

// Reads what ExprWriter wrote; ByteError for anything else, so an Expr that it gives is one.
class ExprReader {
 public:
  explicit ExprReader(std::string_view bytes);
  base::ByteReader in;

  Expr expr() { return table_[in.below(table_.size())]; }
  std::vector<Expr> exprs();
  IndexMap map();

 private:
  Expr read_node();

  std::vector<Expr> table_;
};

}  // namespace luminal::shape
