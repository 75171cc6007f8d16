#include "apps/cli/models/program_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/models/listing_text.h"
#include "luminal/base/errors.h"
#include "luminal/base/text/printable.h"
#include "luminal/pytorch/pt2.h"

namespace luminal::cli {
namespace {

using ProgramJson = nlohmann::ordered_json;
using pytorch::ExportedProgram;
using pytorch::InputRole;
using pytorch::ProgramInput;
using pytorch::ProgramOutput;

// A row of a table: of an input, output or weight.
struct TypedRow {
  std::string name, role, type;
  int64_t n_elements = 0, bytes = 0;  // of a weight
};

struct OperatorCount {
  std::string target;
  int64_t calls = 0;
};

struct ProgramListing {
  std::string torch_version;
  std::vector<TypedRow> inputs, outputs, weights;
  std::vector<Expr> sizes;               // the variables, by name
  std::vector<OperatorCount> operators;  // the most frequent first
  std::vector<std::string> guards;
  std::vector<pytorch::UnknownOperator> unknown;
  std::string why_not;  // why it can't be run; empty if it can

  int64_t n_bytes() const {
    int64_t total = 0;
    for (const TypedRow& weight : weights) total += weight.bytes;
    return total;
  }
  int64_t n_elements() const {
    int64_t total = 0;
    for (const TypedRow& weight : weights) total += weight.n_elements;
    return total;
  }
};

std::string role_name(InputRole role) {
  switch (role) {
    case InputRole::Parameter:
      return "parameter";
    case InputRole::Buffer:
      return "buffer";
    case InputRole::Constant:
      return "constant";
    case InputRole::User:
      return "input";
    case InputRole::Literal:
      return "literal";
  }
  return "input";
}

TypedRow row_of(const ProgramInput& input) {
  TypedRow row{.name = input.path.empty() ? input.name : input.path,
               .role = role_name(input.role),
               .type = std::string(name(input.dtype)) + text(input.dims)};
  if (input.is_number) row.type = "integer " + text(input.dims);
  if (input.role == InputRole::Literal) row.type = "fixed when it was exported";
  return row;
}

// The file's dims agree with its tensors, so that their product is a number of bytes that is there.
TypedRow weight_row(const ProgramInput& input) {
  TypedRow row = row_of(input);
  row.n_elements = 1;
  for (Expr dim : input.dims) row.n_elements *= dim.to_int().value_or(0);
  row.bytes = byte_size(input.dtype, row.n_elements);
  return row;
}

TypedRow row_of(const ProgramOutput& output) {
  const auto* ref = std::get_if<pytorch::Ref>(&output.value.value);
  TypedRow row{.name = ref == nullptr ? "" : ref->name,
               .role = output.mutates.empty() ? "" : "new value of " + output.mutates,
               .type = std::string(name(output.dtype)) + text(output.dims)};
  if (!output.is_tensor) row.type = ref == nullptr ? "fixed when it was exported" : "number";
  return row;
}

void add_variables(const Dims& dims, std::map<std::string, Expr>& found) {
  for (Expr dim : dims) {
    for (Expr variable : dim.variables()) found.emplace(variable.name(), variable);
  }
}

std::vector<OperatorCount> counted(const ExportedProgram& program) {
  std::map<std::string, int64_t> calls;
  for (const pytorch::Call& call : program.calls) ++calls[call.target];
  std::vector<OperatorCount> counts;
  for (const auto& [target, count] : calls) counts.push_back({target, count});
  std::ranges::sort(counts, [](const OperatorCount& a, const OperatorCount& b) {
    return a.calls != b.calls ? a.calls > b.calls : a.target < b.target;
  });
  return counts;
}

std::string why_not_imported(const pytorch::Pt2File& file) {
  try {
    pytorch::import_program(file.program(), file);
    return {};
  } catch (const UserError& error) {
    return error.what();
  }
}

ProgramListing list_program(const pytorch::Pt2File& file) {
  const ExportedProgram& program = file.program();
  ProgramListing listing{.torch_version = program.torch_version,
                         .inputs = {},
                         .outputs = {},
                         .weights = {},
                         .sizes = {},
                         .operators = counted(program),
                         .guards = program.guards,
                         .unknown = unknown_operators(program),
                         .why_not = why_not_imported(file)};
  std::map<std::string, Expr> variables;
  for (const ProgramInput& input : program.inputs) {
    const bool is_users = input.role == InputRole::User || input.role == InputRole::Literal;
    (is_users ? listing.inputs : listing.weights)
        .push_back(is_users ? row_of(input) : weight_row(input));
    add_variables(input.dims, variables);
  }
  for (const ProgramOutput& output : program.outputs) {
    listing.outputs.push_back(row_of(output));
    add_variables(output.dims, variables);
  }
  for (const auto& [name, variable] : variables) listing.sizes.push_back(variable);
  return listing;
}

std::string range_text(Expr size) {
  if (size.upper_bound() >= Expr::kMaxVar) return fmt::format("{} or more", size.lower_bound());
  return fmt::format("{} to {}", size.lower_bound(), size.upper_bound());
}

void print_rows(const std::string& title, const std::vector<TypedRow>& rows) {
  size_t names = 0, types = 0;
  for (const TypedRow& row : rows) {
    names = std::max(names, listing_name(row.name).size());
    types = std::max(types, row.type.size());
  }
  std::cout << fmt::format("{}: {}\n", title, rows.size());
  for (const TypedRow& row : rows) {
    std::string line =
        fmt::format("  {:<{}}  {:<{}}", listing_name(row.name), names, row.type, types);
    if (row.role != "input" && !row.role.empty()) line += "  " + listing_name(row.role);
    if (title == "weights") line += fmt::format("  {:>9}", listing_size(row.bytes));
    std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
  }
}

void print_program_tables(const std::string& path, const ProgramListing& listing) {
  const std::string version =
      listing.torch_version.empty() ? "" : " of torch " + listing_name(listing.torch_version);
  std::cout << fmt::format("{}: exported program{}, {} elements in {} weights, {}; runs here: {}\n",
                           path, version, listing.n_elements(), listing.weights.size(),
                           listing_size(listing.n_bytes()), listing.why_not.empty() ? "yes" : "no");
  print_rows("inputs", listing.inputs);
  std::cout << fmt::format("sizes: {}\n", listing.sizes.size());
  for (Expr size : listing.sizes) {
    std::cout << fmt::format("  {}  {}\n", listing_name(std::string(size.name())),
                             range_text(size));
  }
  print_rows("outputs", listing.outputs);
  print_rows("weights", listing.weights);
  std::cout << fmt::format("operators: {}\n", listing.operators.size());
  for (const OperatorCount& each : listing.operators) {
    std::cout << fmt::format("  {:>5}  {}\n", each.calls, listing_name(each.target));
  }
  std::cout << fmt::format("guards: {}\n", listing.guards.size());
  for (const std::string& guard : listing.guards) std::cout << "  " << listing_name(guard) << "\n";
  if (listing.why_not.empty()) return;
  constexpr size_t kMostOfALine = 2000;
  std::cout << "why it doesn't run here: " << base::printable(listing.why_not, kMostOfALine, true)
            << "\n";
}

ProgramJson rows_json(const std::vector<TypedRow>& rows, bool of_weights) {
  ProgramJson all = ProgramJson::array();
  for (const TypedRow& row : rows) {
    ProgramJson one = {{"name", row.name}, {"role", row.role}, {"type", row.type}};
    if (of_weights) one["bytes"] = row.bytes;
    all.push_back(std::move(one));
  }
  return all;
}

void print_program_json(const std::string& path, const ProgramListing& listing) {
  ProgramJson sizes = ProgramJson::array(), operators = ProgramJson::object();
  for (Expr size : listing.sizes) {
    sizes.push_back(
        {{"name", size.name()}, {"min", size.lower_bound()}, {"max", size.upper_bound()}});
  }
  for (const OperatorCount& each : listing.operators) operators[each.target] = each.calls;
  ProgramJson unsupported = ProgramJson::array();
  for (const pytorch::UnknownOperator& each : listing.unknown) {
    unsupported.push_back({{"operator", each.target},
                           {"calls", each.calls.size()},
                           {"module", each.calls.front()->module},
                           {"line", each.calls.front()->source}});
  }
  const ProgramJson all = {{"path", path},
                           {"format", "pt2"},
                           {"torch_version", listing.torch_version},
                           {"elements", listing.n_elements()},
                           {"bytes", listing.n_bytes()},
                           {"runs_here", listing.why_not.empty()},
                           {"why_not", listing.why_not},
                           {"inputs", rows_json(listing.inputs, false)},
                           {"sizes", std::move(sizes)},
                           {"outputs", rows_json(listing.outputs, false)},
                           {"weights", rows_json(listing.weights, true)},
                           {"operators", std::move(operators)},
                           {"guards", listing.guards},
                           {"unsupported", std::move(unsupported)}};
  std::cout << all.dump(1, ' ', false, ProgramJson::error_handler_t::replace) << "\n";
}

}  // namespace

void print_program(const std::string& path, bool json) {
  const pytorch::Pt2File file = pytorch::Pt2File::open(path);
  const ProgramListing listing = list_program(file);
  json ? print_program_json(path, listing) : print_program_tables(path, listing);
}

}  // namespace luminal::cli
