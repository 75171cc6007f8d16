#include "luminal/driver/calibrate/recorded_samples.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/driver/options/machine_peaks.h"
#include "luminal/kernel/ir/kernel_text.h"
#include "luminal/kernel/recognise/work.h"

namespace luminal {
namespace {

constexpr size_t kNameDigits = 12;

// The key of a record: the kernel's text, a line "params wro", a line "s = 128" per variable and,
// if it was tuned, its strategy and schedule; see KernelCosts::key().
struct RecordedKernel {
  kernel::Kernel kernel;
  Bindings sizes;
};

std::optional<RecordedKernel> read_key(const std::string& key) {
  const size_t at = key.find("params ");
  if (at == std::string::npos || (at > 0 && key[at - 1] != '\n')) return std::nullopt;
  RecordedKernel read;
  for (size_t begin = key.find('\n', at) + 1; begin != 0 && begin < key.size();) {
    const size_t end = std::min(key.find('\n', begin), key.size());
    const std::string line = key.substr(begin, end - begin);
    const size_t equals = line.find(" = ");
    const bool is_tuned = line.starts_with("schedule ") || line.starts_with("strategy ");
    if (is_tuned || equals == std::string::npos) return std::nullopt;
    int64_t value = 0;
    std::from_chars(line.data() + equals + 3, line.data() + line.size(), value);
    read.sizes.set(line.substr(0, equals), value);
    begin = end + 1;
  }
  try {
    read.kernel = kernel::parse_kernel(std::string_view(key).substr(0, at), "a record");
  } catch (const UserError&) {
    return std::nullopt;
  }
  kernel::finish(read.kernel);
  return read;
}

double bytes_of(const RecordedKernel& of) {
  const Expr bytes = of.kernel.bytes_read + of.kernel.bytes_written;
  return static_cast<double>(bytes.evaluate(of.sizes).value.value_or(0));
}

}  // namespace

std::vector<search::CostSample> samples_of(const std::vector<records::KernelEntry>& entries,
                                           const machine::Peaks& peaks) {
  std::vector<search::CostSample> samples;
  for (const records::KernelEntry& entry : entries) {
    if (!entry.record.checked) continue;
    const std::optional<RecordedKernel> read = read_key(entry.key.kernel);
    if (!read) continue;
    const bool updates = std::ranges::any_of(read->kernel.stages, [](const kernel::Stage& stage) {
      return std::holds_alternative<kernel::UpdateTarget>(stage.target);
    });
    if (updates) continue;
    const search::MachineModel machine = machine_model(peaks, bytes_of(*read));
    samples.push_back({.name = "record " + base::digest(entry.key.kernel).substr(0, kNameDigits),
                       .kernels = {search::cost_parts(read->kernel, machine, read->sizes)},
                       .seconds = entry.record.seconds});
  }
  return samples;
}

}  // namespace luminal
