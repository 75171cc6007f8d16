#include "luminal/base/os/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace luminal::base {
namespace {

std::string why_not_own(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "it isn't a regular file";
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
  return {};
}

bool read_all(int file, std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::read(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

std::string why_not_own(const std::filesystem::path& file) {
  struct stat status = {};
  if (::lstat(file.c_str(), &status) != 0) return {};
  return why_not_own(status);
}

OwnFile read_own_file(const std::filesystem::path& path, uint64_t most_bytes) {
  using State = OwnFile::State;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (file < 0) {
    if (errno == ENOENT) return {};
    // With these flags a symlink or a socket can't be opened, nor a file without permission.
    return {why_not_own(path).empty() ? State::Refused : State::NotOwn, {}};
  }
  OwnFile result;
  struct stat status = {};
  if (::fstat(file, &status) != 0) {
    result.state = State::Refused;
  } else if (!why_not_own(status).empty()) {
    result.state = State::NotOwn;
  } else if (static_cast<uint64_t>(status.st_size) > most_bytes) {
    result.state = State::Refused;
  } else {
    result.bytes.resize(static_cast<size_t>(status.st_size));
    result.state = read_all(file, result.bytes) ? State::Read : State::Refused;
  }
  ::close(file);
  return result;
}

std::string why_others_may_replace(const std::filesystem::path& folder) {
  struct stat status = {};
  if (::stat(folder.c_str(), &status) != 0) return {};
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return "it belongs to another user";
  const bool sticky = (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky) return "other users may write to it";
  return {};
}

bool make_private_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(folder, error);
  if (error) return false;
  std::filesystem::path made;
  for (const std::filesystem::path& part : whole) {
    made /= part;
    if (::mkdir(made.c_str(), S_IRWXU) != 0 && errno != EEXIST && errno != EISDIR) {
      // mkdir may fail on a parent for lack of permission although the parent exists.
      if (!std::filesystem::is_directory(made, error)) return false;
    }
  }
  return std::filesystem::is_directory(whole, error);
}

}  // namespace luminal::base
