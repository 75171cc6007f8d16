// A case of tests/golden: what goes in and what is to come out, in one file.
//
//   # What it shows.
//   ! sizes s=128          options, one a line
//   INPUT
//   =>
//   EXPECTED
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace luminal::golden {

struct Case {
  std::filesystem::path file;
  std::string head;                            // comments and options, as they stand there
  std::map<std::string, std::string> options;  // "sizes": "s=128"
  std::string input;
  std::string expected;

  // The option, or `other` where it isn't given.
  std::string option(const std::string& name, const std::string& other = {}) const;
};

// All of a folder, by name.
std::vector<Case> cases_in(const std::filesystem::path& folder);
// With what came out in place of what was expected.
void update(const Case& given, const std::string& found);

// What each folder's cases do with their input.
std::string terms_of(const Case& given);   // a graph: its terms once rules have run
std::string lowered(const Case& given);    // a graph: its kernels, fused as far as can be
std::string planned(const Case& given);    // a graph: its plan
std::string scheduled(const Case& given);  // a kernel: how the CPU runs it
std::string costs_of(const Case& given);   // a kernel: its work and its time on some machines

}  // namespace luminal::golden
