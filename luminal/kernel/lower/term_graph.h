// TermGraph: the values of a program as classes of equal terms, the way lowering and search see
// them.
//
// A Value is a function from an index to a scalar; nothing says yet whether it is ever in memory. A
// class holds the terms that were proved equal; all have its dims and dtype. Tensors appear only as
// what a Load reads: a leaf of the graph, or the result of a step that is not a kernel.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "luminal/base/ids.h"
#include "luminal/graph/op.h"
#include "luminal/shape/dtype.h"
#include "luminal/shape/index_map.h"

namespace luminal::kernel {

struct ClassTag;
struct SourceTag;
using ClassId = Id<ClassTag>;    // a position in TermGraph::classes
using SourceId = Id<SourceTag>;  // a position in TermGraph::sources

// A tensor in memory that no kernel computes: a leaf or the result of a host step.
struct LoadTerm {
  SourceId source;
};
struct ConstTerm {  // dims []
  double real = 0;
  int64_t integer = 0;
};
struct IotaTerm {
  Expr expr;
};
struct ReindexTerm {  // the operand at map(index)
  IndexMap map;
  ClassId operand;
};
struct ReduceTerm {  // over the operand's innermost dim
  Reducer reducer;
  ClassId operand;
};
struct ScanTerm {  // inclusive, along the operand's innermost dim: element k reduces 0 … k
  Reducer reducer;
  ClassId operand;
};
struct GatherTerm {  // data[index[i…], rest…]
  ClassId data;
  ClassId index;
};
// dest with values[i…, rest…] at rows index[i…], the last of equal ones; or combined, in order.
struct StoreAtTerm {
  std::optional<Reducer> combine;
  ClassId dest, index, values;
};
struct OpTerm {  // an element-wise primitive, Cast and Bitcast included
  Op op;
  std::vector<ClassId> operands;
};

using Term = std::variant<LoadTerm, ConstTerm, IotaTerm, ReindexTerm, ReduceTerm, ScanTerm,
                          GatherTerm, StoreAtTerm, OpTerm>;

struct TermClass {
  Dims dims;
  DType dtype;
  std::vector<Term> terms;  // at least one if anything needs the class
};

// What a Load may read.
struct Source {
  Dims dims;
  DType dtype;
  std::string name;
  bool is_state = false;  // of the graph
};

struct TermGraph {
  std::vector<TermClass> classes;
  IdVector<SourceId, Source> sources;

  const TermClass& at(ClassId id) const { return classes[id.index()]; }
};

// The classes a term reads, in the order of its fields.
std::vector<ClassId> operands(const Term& term);
// "add", "reduce max", "reindex [i1, i0]": how reports name a term.
std::string describe(const Term& term);

}  // namespace luminal::kernel
