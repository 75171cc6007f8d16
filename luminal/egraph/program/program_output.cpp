// What programs print: terms, tables, sizes and statistics, as text or to files.
#include "luminal/egraph/database/rebuild.h"
#include "luminal/egraph/extract/extract.h"
#include "luminal/egraph/program/program_runner.h"

#include <algorithm>
#include <utility>

namespace luminal::egraph {
namespace {

// Maximum bytes of all outputs of a program, and of one command: outputs are held in memory until
// the program ends.
constexpr uint64_t kMostOutput = uint64_t{128} << 20;

// CSV quoting: a cell is quoted if it contains a separator, quote or line break.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// A parenthesised list, one item per line.
std::string listed(const std::vector<std::string>& items) {
  std::string text = "(\n";
  for (const std::string& item : items) text += "   " + item + "\n";
  return text + ")";
}

}  // namespace

void ProgramRunner::run(const ExtractCommand& command) {
  const auto [value, value_sort] = evaluate(command.expr);
  uint64_t variants = 0;
  if (command.variants) {
    const auto [count, count_sort] = evaluate(*command.variants);
    const bool is_i64 = count_sort == database_.schema.i64();
    if (!is_i64 || database_.constants.i64(count) < 0) {
      fail(command.variants->position,
           "how many variants to extract is a natural number, found " +
               (is_i64 ? database_.print(count, count_sort)
                       : "a value of sort " + database_.schema.sort(count_sort).name));
    }
    variants = static_cast<uint64_t>(database_.constants.i64(count));
  }
  rebuild_here();
  const TermExtractor terms(database_);
  std::string text = here([&, of = value, sort = value_sort] {
    return variants == 0 ? terms.term(of, sort) : listed(terms.variants(of, sort, variants));
  });
  if (variants == 0) {
    result_.costs.push_back(
        {.output = result_.outputs.size(), .cost = terms.cost(value, value_sort)});
  }
  emit(std::move(text));
}

void ProgramRunner::run(const PrintSizeCommand& command) {
  rebuild_here();
  if (!command.function.empty()) {
    const FunctionId id = function({command.function, position_});
    emit(std::to_string(database_.table(id).live()));
    return;
  }
  std::vector<std::string> lines;
  for (uint32_t f = 0; f < database_.functions(); ++f) {
    lines.push_back("(" + database_.schema.function(FunctionId{f}).name + " " +
                    std::to_string(database_.table(FunctionId{f}).live()) + ")");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "(" : "\n ") + line;
  emit(text.empty() ? "()" : text + ")");
}

// A relation's row is printed as its own value, as in egglog.
void ProgramRunner::run(const PrintFunctionCommand& command) {
  const FunctionId id = function(command.function);
  rebuild_here();
  const TermExtractor terms(database_);
  const Function& declared = database_.schema.function(id);
  const Table& table = database_.table(id);
  std::vector<std::string> lines;
  uint64_t bytes = 0;
  const uint64_t most = command.rows.value_or(UINT64_MAX);
  for (size_t row = 0; row < table.rows() && lines.size() < most; ++row) {
    if (!table.alive(row)) continue;
    std::vector<std::string> cells{declared.name};
    for (size_t i = 0; i < table.inputs(); ++i) {
      cells.push_back(terms.term_or(Value{table.row(row)[i]}, declared.inputs[i], "Unextractable"));
    }
    std::string call = "(";
    for (const std::string& cell : cells) call += (call.size() > 1 ? " " : "") + cell;
    call += ")";
    cells.push_back(
        declared.kind == FunctionKind::Relation
            ? call
            : terms.term_or(Value{table.output(row)}, declared.output, "Unextractable"));
    std::string line;
    if (command.as_csv) {
      for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + csv_cell(cell);
    } else {
      line = call + " -> " + cells.back();
    }
    bytes += line.size();
    if (bytes > kMostOutput) {
      fail(position_, "the rows of '" + declared.name + "' take more than " +
                          std::to_string(kMostOutput) + " bytes to print; name how many to print");
    }
    lines.push_back(std::move(line));
  }
  if (!command.as_csv) return print(listed(lines), command.file);
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  print(std::move(text), command.file);
}

void ProgramRunner::run(const PrintStatsCommand& command) {
  RunReport total = overall(result_.runs);
  total.tuples = database_.tuples();
  total.classes = database_.classes();
  print("Overall statistics: " + total.text(), command.file);
}

void ProgramRunner::run(const OutputCommand& command) {
  std::string text;
  for (const Expr& expr : command.exprs) {
    const auto [value, value_sort] = evaluate(expr);
    rebuild_here();
    const TermExtractor terms(database_);
    text += here([&, of = value, sort = value_sort] { return terms.term(of, sort); }) + "\n";
  }
  append_to_file(command.file, text);
}

void ProgramRunner::print(std::string text, const std::string& file) {
  if (!file.empty()) return append_to_file(file, text + "\n");
  emit(std::move(text));
}

void ProgramRunner::emit(std::string text) {
  result_.output_bytes += text.size();
  if (result_.output_bytes > kMostOutput) {
    fail(position_, "the program prints more than " + std::to_string(kMostOutput) + " bytes");
  }
  result_.outputs.push_back(std::move(text));
}

void ProgramRunner::append_to_file(const std::string& path, std::string_view text) const {
  if (!files_.append) {
    fail(position_,
         "\"" + path + "\" can't be written: this program is run without files" + files_.hint);
  }
  if (!files_.append(path, text)) fail(position_, "\"" + path + "\" can't be written");
}

ExtractedTerm extract_value(Engine& engine, Value value, SortId sort) {
  rebuild(engine.database);
  const TermExtractor terms(engine.database);
  return {.text = terms.term(value, sort), .cost = terms.cost(value, sort)};
}

}  // namespace luminal::egraph
