// Measured peaks, cached in the user's cache folder as machine/FINGERPRINT.json.
#pragma once

#include <optional>

#include "luminal/machine/peaks.h"

namespace luminal::machine {

// The file for this processor and this number of threads; empty if there is no cache folder.
std::filesystem::path peaks_file(int threads);

// None if nothing was measured, if others could have written the file, or if it doesn't parse;
// measuring then rewrites it.
std::optional<Peaks> read_kept_peaks(int threads);

// UserError if the file can't be written.
void keep(const Peaks& peaks);

}  // namespace luminal::machine
