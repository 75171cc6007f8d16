// libFuzzer target of the .pt2 reader: any bytes give a graph that is valid or a UserError.
//
// Each input is read three ways, so that mutations reach past the zip archive: as a file, as its
// program alone, and as one size of it.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/verify.h"
#include "luminal/pytorch/importer/import_program.h"
#include "luminal/pytorch/pt2.h"
#include "luminal/pytorch/pt2/program_json.h"
#include "luminal/pytorch/pt2/symbols.h"

namespace {

using luminal::Expr;
using luminal::TensorData;
using luminal::UserError;
namespace pytorch = luminal::pytorch;

void require(bool holds) {
  if (!holds) std::abort();
}

// Reads every byte a tensor claims to have; the sanitizer sees one that isn't there.
void read_all(const TensorData& data) {
  require(static_cast<int64_t>(data.bytes.size()) == byte_size(data.dtype, data.n_elements()));
  volatile unsigned sum = 0;
  for (std::byte b : data.bytes) sum = sum + std::to_integer<unsigned>(b);
}

void read_as_file(std::span<const std::byte> input) {
  // A copy of the exact size, so that a read past the end is one past an allocation.
  auto bytes = std::make_shared<std::vector<std::byte>>(input.begin(), input.end());
  try {
    const auto file = pytorch::Pt2File::parse(*bytes, bytes, "fuzz");
    for (const pytorch::ProgramInput& each : file.program().inputs) {
      if (each.path.empty()) continue;
      try {
        read_all(file.data(each.path));
      } catch (const UserError&) {  // a bad bool
      }
    }
    verify(*import_program(file.program(), file).graph);
  } catch (const UserError&) {
  }
}

void read_as_program(std::string_view text) {
  try {
    const pytorch::ExportedProgram program = pytorch::parse_program(text, "fuzz");
    verify(*import_program(program, pytorch::LeafElements()).graph);
  } catch (const UserError&) {
  }
}

// What was accepted is in bounds that it says itself.
void read_as_size(std::string_view text) {
  pytorch::Symbols symbols;
  symbols.set_range("s0", 2, 64);
  try {
    const Expr size = symbols.parse(text);
    const auto value = size.bind({{"s0", 7}}).to_int();
    require(!value || (*value >= size.lower_bound() && *value <= size.upper_bound()));
  } catch (const UserError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_as_file(std::as_bytes(std::span(data, size)));
  read_as_program(text);
  read_as_size(text);
  return 0;
}
