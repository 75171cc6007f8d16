#include "luminal/base/files/replace_file.h"

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>

#include "luminal/base/os/process.h"

namespace luminal::base {
namespace {

// Unique among the processes and threads that may write the same file.
std::string temporary_suffix() {
  static std::atomic<uint64_t> count = 0;
  return "." + std::to_string(process_id()) + "." + std::to_string(count++) + ".tmp";
}

}  // namespace

bool replace_file(const std::filesystem::path& file, std::string_view bytes, FileReaders readers) {
  const std::filesystem::path beside = file.string() + temporary_suffix();
  std::ofstream out(beside, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code error;
  if (!out) error = std::make_error_code(std::errc::io_error);
  constexpr auto kOwn = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  if (!error && readers == FileReaders::Owner) std::filesystem::permissions(beside, kOwn, error);
  if (!error) std::filesystem::rename(beside, file, error);
  if (!error) return true;
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
  return false;
}

}  // namespace luminal::base
