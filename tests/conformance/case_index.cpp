// Reads the generated index and its elements.
#include "tests/conformance/case_index.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace luminal::conformance {
namespace {

using Bytes = std::vector<std::byte>;

std::shared_ptr<const Bytes> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("can't read " + path + "; run generate.py first");
  auto bytes = std::make_shared<Bytes>(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
  return bytes;
}

DType dtype_named(const std::string& text) {
  std::optional<DType> dtype = dtype_from_name(text);
  if (!dtype) throw std::runtime_error("unknown dtype '" + text + "' in the index");
  return *dtype;
}

TensorData elements(const std::shared_ptr<const Bytes>& file, DType dtype, const Json& entry) {
  TensorData data;
  data.dtype = dtype;
  data.dims = entry.at("dims").get<std::vector<int64_t>>();
  int64_t count =
      std::accumulate(data.dims.begin(), data.dims.end(), int64_t{1}, std::multiplies());
  size_t at = entry.at("at"), size = static_cast<size_t>(byte_size(dtype, count));
  if (at + size > file->size())
    throw std::runtime_error("cases.bin is shorter than the index says");
  data.bytes = std::span(*file).subspan(at, size);
  data.owner = file;
  return data;
}

// `line` has the facts of the case, `form` the inputs and runs.
Case parse_case(const Json& line, const Json& form, const std::shared_ptr<const Bytes>& file) {
  Case one{.name = line.at("name"),
           .op = line.at("op"),
           .params = line.at("params"),
           .inputs = {},
           .runs = {},
           .tolerance = line.at("tolerance"),
           .length = line.at("length"),
           .sign_of_zero = line.at("sign_of_zero")};
  for (const Json& input : form.at("inputs"))
    one.inputs.push_back({dtype_named(input.at("dtype")), input.at("dims"), input.at("steps")});
  for (const Json& entry : form.at("runs")) {
    Run run;
    for (const auto& [name, value] : entry.at("bindings").items())
      run.bindings.emplace_back(name, value.get<int64_t>());
    for (size_t k = 0; k < one.inputs.size(); ++k)
      run.inputs.push_back(elements(file, one.inputs[k].dtype, entry.at("inputs").at(k)));
    const Json& expected = entry.at("expected");
    run.expected = elements(file, dtype_named(expected.at("dtype")), expected);
    one.runs.push_back(std::move(run));
  }
  return one;
}

void parse_header(const Json& header, CaseIndex& index) {
  if (header.at("version") != 1) throw std::runtime_error("the index has another version than 1");
  for (const auto& [name, dtypes] : header.at("tolerances").items())
    for (const auto& [dtype, entry] : dtypes.items())
      index.classes[name][dtype] = {
          .atol = entry.at("atol"), .rtol = entry.at("rtol"), .per_term = entry.at("per_term")};
}

// The name is near the start of a line: matching it there saves parsing what no glob wants.
std::string name_in(const std::string& line) {
  constexpr std::string_view kStart = "{\"name\": \"";
  if (!line.starts_with(kStart)) throw std::runtime_error("a line of the index has no name");
  return line.substr(kStart.size(), line.find('"', kStart.size()) - kStart.size());
}

}  // namespace

Tolerance CaseIndex::tolerance(const Case& one, DType dtype) const {
  if (!is_float(dtype)) return {};
  Tolerance base = classes.at(one.tolerance).at(std::string(name(dtype)));
  base.atol += static_cast<double>(one.length) * base.per_term;
  return base;
}

CaseIndex load_cases(const std::string& folder, const std::vector<std::string>& globs, Form form) {
  std::shared_ptr<const Bytes> file = read_file(folder + "/cases.bin");
  std::ifstream lines(folder + "/cases.jsonl");
  if (!lines) throw std::runtime_error("can't read " + folder + "/cases.jsonl");
  CaseIndex index;
  std::string line;
  std::getline(lines, line);
  parse_header(Json::parse(line), index);
  while (std::getline(lines, line)) {
    std::string name = name_in(line);
    auto matches = [&](const std::string& glob) {
      return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
    };
    if (!globs.empty() && std::none_of(globs.begin(), globs.end(), matches)) continue;
    const Json parsed = Json::parse(line);
    const Json& wanted = form == Form::Dynamic ? parsed.at("dynamic") : parsed;
    if (!wanted.is_null()) index.cases.push_back(parse_case(parsed, wanted, file));
  }
  return index;
}

}  // namespace luminal::conformance
