#include "luminal/kernel/lower/term_graph.h"

#include <fmt/format.h>

namespace luminal::kernel {
namespace {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace

std::vector<ClassId> operands(const Term& term) {
  return std::visit(
      Overloaded{
          [](const LoadTerm&) { return std::vector<ClassId>{}; },
          [](const ConstTerm&) { return std::vector<ClassId>{}; },
          [](const IotaTerm&) { return std::vector<ClassId>{}; },
          [](const ReindexTerm& t) { return std::vector<ClassId>{t.operand}; },
          [](const ReduceTerm& t) { return std::vector<ClassId>{t.operand}; },
          [](const ScanTerm& t) { return std::vector<ClassId>{t.operand}; },
          [](const GatherTerm& t) { return std::vector<ClassId>{t.data, t.index}; },
          [](const StoreAtTerm& t) { return std::vector<ClassId>{t.dest, t.index, t.values}; },
          [](const OpTerm& t) { return t.operands; },
      },
      term);
}

std::string describe(const Term& term) {
  return std::visit(
      Overloaded{
          [](const LoadTerm& t) { return fmt::format("load {}", t.source.value); },
          [](const ConstTerm&) { return std::string("constant"); },
          [](const IotaTerm& t) { return fmt::format("iota {}", t.expr.text()); },
          [](const ReindexTerm& t) { return fmt::format("reindex {}", t.map.text()); },
          [](const ReduceTerm& t) { return fmt::format("reduce {}", name(t.reducer)); },
          [](const ScanTerm& t) { return fmt::format("scan {}", name(t.reducer)); },
          [](const GatherTerm&) { return std::string("gather"); },
          [](const StoreAtTerm& t) {
            return t.combine ? fmt::format("scatter {}", name(*t.combine)) : std::string("scatter");
          },
          [](const OpTerm& t) { return std::string(name(t.op)); },
      },
      term);
}

}  // namespace luminal::kernel
