#include "apps/cli/files.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include "luminal/base/errors.h"
#include "luminal/base/os_memory.h"
#include "luminal/graph/text_form.h"

namespace luminal::cli {
namespace {

std::string read_text(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  const base::MappedFile mapped(file);
  return {reinterpret_cast<const char*>(mapped.bytes().data()), mapped.size()};
}

}  // namespace

std::unique_ptr<Graph> read_graph(const std::string& file) {
  return parse_graph(read_text(file), file == "-" ? "<stdin>" : file);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw UserError("can't write '" + path + "'; check the folder and its permissions");
}

}  // namespace luminal::cli
