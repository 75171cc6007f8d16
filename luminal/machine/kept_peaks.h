// Peaks that were measured, in a file of the user's cache folder: machine/FINGERPRINT.json.
#pragma once

#include <optional>

#include "luminal/machine/peaks.h"

namespace luminal::machine {

// The file for this processor and this number of threads; empty where there is no cache folder.
std::filesystem::path peaks_file(int threads);

// None where nothing was measured, where others could have written the file, and where it can't be
// read as peaks: measuring writes it anew.
std::optional<Peaks> read_kept_peaks(int threads);

// UserError where the file can't be written.
void keep(const Peaks& peaks);

}  // namespace luminal::machine
