// Files that programs read: include and input.
#include "luminal/egraph/language/parser.h"
#include "luminal/egraph/language/trimmed.h"
#include "luminal/egraph/program/program_runner.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace luminal::egraph {
namespace {

constexpr size_t kMostIncludes = 100;  // maximum nesting

// The path relative to the file that names it.
std::string beside(const std::string& file, const std::string& path) {
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? path : file.substr(0, slash + 1) + path;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(separator)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string ProgramRunner::read_file(const std::string& path) const {
  if (!files_.read) {
    fail(position_,
         "\"" + path + "\" can't be read: this program is run without files" + files_.hint);
  }
  std::optional<std::string> text = files_.read(path);
  if (!text)
    fail(position_,
         "\"" + path + "\" can't be read; paths start at the working directory" + files_.hint);
  return std::move(*text);
}

// Looks in the working directory, as egglog does, then beside the including file.
void ProgramRunner::run(const IncludeCommand& command) {
  const auto& read = files_.include ? files_.include : files_.read;
  if (!read) {
    fail(position_, "\"" + command.file +
                        "\" can't be included: this program is run without files" + files_.hint);
  }
  std::string path = command.file;
  std::optional<std::string> text = read(path);
  if (!text) {
    path = beside(std::string(source_), command.file);
    if (path != command.file) text = read(path);
  }
  if (!text) {
    fail(position_, "\"" + command.file +
                        "\" can't be read, from the working directory or beside this file" +
                        files_.hint);
  }
  if (std::find(open_files_.begin(), open_files_.end(), path) != open_files_.end()) {
    fail(position_, "\"" + path + "\" includes itself; move what both need to a third file");
  }
  if (open_files_.size() > kMostIncludes) {
    fail(position_,
         "files include each other more than " + std::to_string(kMostIncludes) + " levels deep");
  }
  std::vector<std::string> open = open_files_;
  open.push_back(path);
  const std::vector<Command> commands = parse(*text, path);
  ProgramRunner(engine_, path, limits_, files_, std::move(open), result_).run(commands);
}

// One row per line, columns separated by tabs: the arguments, and a function's value.
void ProgramRunner::run(const InputCommand& command) {
  const FunctionId id = function(command.function);
  const Function& declared = database_.schema.function(id);
  rebuild_here();
  size_t line_number = 0;
  const std::string text = read_file(command.file);
  for (const std::string_view line : split_at(text, '\n')) {
    const std::string place = command.file + ":" + std::to_string(++line_number);
    if (trimmed(line).empty()) continue;
    const std::vector<Value> row = input_row(declared, line, place);
    here([&] {
      if (declared.kind == FunctionKind::Function) {
        database_.set(id, std::span(row).first(row.size() - 1), row.back());
      } else {
        database_.add(id, row);
      }
    });
  }
}

std::vector<Value> ProgramRunner::input_row(const Function& function, std::string_view line,
                                            const std::string& place) {
  std::vector<SortId> sorts = function.inputs;
  const bool has_value = function.kind == FunctionKind::Function;
  if (has_value) sorts.push_back(function.output);
  const std::vector<std::string_view> cells = split_at(line, '\t');
  if (cells.size() != sorts.size()) {
    fail(position_, place + " has " + std::to_string(cells.size()) + " columns where '" +
                        function.name + "' needs " + std::to_string(sorts.size()) +
                        "; tabs separate them");
  }
  std::vector<Value> row;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Sort& wanted = database_.schema.sort(sorts[i]);
    const std::string_view cell = trimmed(cells[i]);
    std::optional<Value> value;
    if (wanted.kind == SortKind::String) {
      value = database_.constants.intern(cell);
    } else if (wanted.kind == SortKind::Unit) {
      value = Constants::unit();
    } else if (wanted.kind == SortKind::I64) {
      if (const auto number = number_in<int64_t>(cell)) value = database_.constants.intern(*number);
    } else if (wanted.kind == SortKind::F64) {
      if (const auto number = number_in<double>(cell)) value = database_.constants.intern(*number);
    } else {
      fail(position_, "'" + function.name + "' can't be read from a file: " + wanted.name +
                          " is not i64, f64, String or Unit");
    }
    if (!value) {
      fail(position_, place + ": '" + std::string(cell) + "' is no " + wanted.name);
    }
    row.push_back(*value);
  }
  return row;
}

}  // namespace luminal::egraph
