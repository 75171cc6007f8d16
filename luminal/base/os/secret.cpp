#include "luminal/base/os/secret.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "luminal/base/errors.h"
#include "luminal/base/os/own_file.h"
#include "luminal/base/os/paths.h"

namespace luminal::base {
namespace {

std::string reason() { return std::generic_category().message(errno); }

bool others_may_read(const std::filesystem::path& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) != 0 || (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

// Written under another name, then linked into place: nobody reads a partial secret, and of several
// processes the first wins.
bool make_secret(const std::filesystem::path& path) {
  Secret secret;
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return false;
  }
  std::string temporary = path.string() + ".XXXXXX";
  const int file = ::mkstemp(temporary.data());  // readable by this user alone
  if (file < 0) return false;
  const bool written =
      ::write(file, secret.data(), secret.size()) == static_cast<ssize_t>(secret.size());
  ::close(file);
  const bool made = written && (::link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST);
  ::unlink(temporary.c_str());
  return made;
}

}  // namespace

Result<Secret> secret_of(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "secret";
  auto failure = [&](const std::string& why) {
    return Result<Secret>::failure(path.string() + ": " + why);
  };
  if (const std::string why = why_not_private(folder); !why.empty()) return failure(why);
  Secret secret;
  OwnFile file = read_own_file(path, secret.size());
  if (file.state == OwnFile::State::Absent) {
    if (!make_secret(path)) return failure(reason());
    file = read_own_file(path, secret.size());
  }
  switch (file.state) {
    case OwnFile::State::Absent:
      return failure("it vanished");
    case OwnFile::State::NotOwn:
      return failure("another user could have written it; remove it");
    case OwnFile::State::Refused:
      return failure("it isn't a secret; remove it");
    case OwnFile::State::Read:
      break;
  }
  if (file.bytes.size() != secret.size()) return failure("it isn't 16 bytes long; remove it");
  if (others_may_read(path)) return failure("others can read it; remove it");
  std::copy(file.bytes.begin(), file.bytes.end(), secret.begin());
  return secret;
}

Result<Secret> user_secret() {
  try {
    const std::filesystem::path folder = cache_folder();
    make_private_folder(folder);  // secret_of() reports a failure
    return secret_of(folder);
  } catch (const UserError& error) {
    return Result<Secret>::failure(error.what());
  }
}

}  // namespace luminal::base
