#include "apps/cli/files/files.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/base/os/process.h"
#include "luminal/graph/text_form.h"
#include "luminal/io/foreign_file.h"
#include "luminal/pytorch/pt2.h"

namespace luminal::cli {
namespace {

// RAII: removes the file.
struct Temporary {
  std::string path;
  ~Temporary() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

// Resolves symlinks before checking that the file is below the folder.
std::string file_below(const std::filesystem::path& folder, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder.empty() ? "." : folder, error);
  const fs::path whole = fs::weakly_canonical(root / path, error);
  const fs::path inside = whole.lexically_relative(root);
  if (error || fs::path(path).is_absolute() || inside.empty() || *inside.begin() == "..") {
    throw UserError("'" + path +
                    "' isn't in the folder of the graph or below it; a graph's text names no other "
                    "files: copy the file there");
  }
  return (folder / path).string();
}

}  // namespace

std::string read_text(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  const base::MappedFile mapped(file);
  return {reinterpret_cast<const char*>(mapped.bytes().data()), mapped.size()};
}

std::string source_name(const std::string& file) { return file == "-" ? "<stdin>" : file; }

std::unique_ptr<Graph> read_graph(const std::string& file) {
  if (pytorch::looks_like_pt2(file)) {
    return std::make_unique<Graph>(std::move(*pytorch::import_pt2(file).graph));
  }
  if (const auto what = foreign_file(file)) throw UserError("'" + file + "' is " + *what);
  return graph_of_file(read_text(file), file);
}

std::unique_ptr<Graph> graph_of_file(const std::string& text, const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file == "-" ? "" : file).parent_path();
  return parse_graph(text, source_name(file), {},
                     [&](const std::string& path) { return file_below(folder, path); });
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw UserError("can't write '" + path + "'; check the folder and its permissions");
}

std::string write_trace(const std::string& path, const Trace& trace) {
  write_text(path, trace.json());
  return std::to_string(trace.events.size()) + " events written to " + path + "\n";
}

void draw_with_dot(const std::string& dot_text, const std::string& format,
                   const std::string& output) {
  const Temporary source{output + "." + std::to_string(base::process_id()) + ".dot"};
  write_text(source.path, dot_text);
  const auto code = base::run_program("dot", {"-T" + format, "-o", output, source.path});
  if (!code) {
    throw UserError("drawing " + format +
                    " needs the program 'dot', which isn't installed: install the package "
                    "'graphviz', or write a .dot file with -o");
  }
  if (*code != 0) throw DeviceError("'dot' failed with exit code " + std::to_string(*code));
}

}  // namespace luminal::cli
