#include "luminal/machine/kept_peaks.h"

#include <fmt/format.h>

#include <fstream>

#include "luminal/base/digest.h"
#include "luminal/base/errors.h"
#include "luminal/base/files/replace_file.h"
#include "luminal/base/os/cpu.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/os/own_file.h"
#include "luminal/base/os/paths.h"

namespace luminal::machine {
namespace {

constexpr uint64_t kMostBytes = 64 << 10;
constexpr size_t kDigits = 16;

std::string fingerprint(int threads) {
  return base::digest(fmt::format("{}; {} threads", base::processor_text(), threads))
      .substr(0, kDigits);
}

}  // namespace

std::filesystem::path peaks_file(int threads) {
  try {
    return base::cache_folder() / "machine" / (fingerprint(threads) + ".json");
  } catch (const UserError&) {
    return {};
  }
}

std::optional<Peaks> read_kept_peaks(int threads) {
  const std::filesystem::path file = peaks_file(threads);
  if (file.empty()) return std::nullopt;
  const base::OwnFile read = base::read_own_file(file, kMostBytes);
  if (read.state != base::OwnFile::State::Read) return std::nullopt;
  try {
    return from_json(read.bytes, file.string());
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void keep(const Peaks& peaks) {
  const std::filesystem::path file = peaks_file(peaks.threads);
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("the machine's peaks can't be saved in '{}': {}",
                                file.parent_path().string(), why));
  };
  if (file.empty()) refuse("there is no cache folder; set XDG_CACHE_HOME");
  if (!base::make_private_folder(file.parent_path())) refuse("the folder can't be made");
  // Owner only: reading rejects a file that others may write to.
  if (!base::replace_file(file, to_json(peaks), base::FileReaders::Owner)) {
    refuse("it can't be written");
  }
}

Peaks peaks_of_this_machine(const std::filesystem::path& given) {
  const auto threads = static_cast<int>(base::usable_threads());
  if (given.empty()) {
    if (std::optional<Peaks> kept = read_kept_peaks(threads)) return *std::move(kept);
    return default_peaks(instruction_set_here(), threads);
  }
  std::ifstream in(given, std::ios::binary);
  std::string bytes(kMostBytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (in.gcount() == 0) {
    throw UserError(fmt::format("'{}' can't be read as peaks of a machine", given.string()));
  }
  bytes.resize(static_cast<size_t>(in.gcount()));
  Peaks peaks = from_json(bytes, given.string());
  peaks.origin = PeaksOrigin::Given;
  peaks.source = given.filename().string();
  return peaks;
}

}  // namespace luminal::machine
