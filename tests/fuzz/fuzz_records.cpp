// libFuzzer target of exported tuning records: any text gives entries that write and read back, or
// a reason.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <variant>

#include "luminal/base/errors.h"
#include "luminal/records/lines.h"

namespace {

using namespace luminal::records;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Device& device) { require(why_refused(device).empty()); }
void check(const KernelEntry& entry) {
  require(why_refused(entry.key).empty() && why_refused(entry.record).empty());
}
void check(const PlanEntry& entry) {
  require(why_refused(entry.key).empty());
  require(!entry.champion || why_refused(*entry.champion).empty());
  for (const Comparison& of : entry.comparisons) require(why_refused(of).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  std::string line;
  while (read_line(in, line)) {
    try {
      check_header(line, "fuzz");
    } catch (const luminal::UserError&) {
    }
    const luminal::Result<Entry> entry = parse_line(line);
    if (!entry) {
      require(!entry.why().empty());
      continue;
    }
    // What was accepted can have been measured, and writes as something that says the same.
    std::visit([](const auto& of) { check(of); }, *entry);
    const std::string written = line_of(*entry);
    const luminal::Result<Entry> again = parse_line(written);
    require(again && line_of(*again) == written);
  }
  return 0;
}
