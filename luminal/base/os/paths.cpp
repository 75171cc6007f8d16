#include "luminal/base/os/paths.h"

#include "luminal/base/errors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace luminal::base {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

namespace {

std::filesystem::path user_folder(const std::string& kind, const std::string& variable,
                                  const char* below_home) {
  // The XDG rule: a relative path in the variable is invalid and ignored.
  if (auto xdg = environment(variable.c_str())) {
    std::filesystem::path path = *xdg;
    if (path.is_absolute()) return path / "luminal";
  }
  if (auto home = environment("HOME")) {
    return std::filesystem::path(*home) / below_home / "luminal";
  }
  throw UserError("no " + kind + " folder: HOME and " + variable + " are unset; set " + variable +
                  " to an absolute path");
}

}  // namespace

std::filesystem::path cache_folder() { return user_folder("cache", "XDG_CACHE_HOME", ".cache"); }

std::filesystem::path state_folder() {
  return user_folder("state", "XDG_STATE_HOME", ".local/state");
}

bool is_writable_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(folder, error);
  if (error) return false;
  while (!std::filesystem::exists(path, error)) {
    if (error || !path.has_relative_path()) return false;
    path = path.parent_path();
  }
  // Permissions don't tell everything (a full or read-only disk, the superuser), so try.
  std::string probe = (path / ".luminal-XXXXXX").string();
  if (::mkdtemp(probe.data()) == nullptr) return false;
  ::rmdir(probe.c_str());
  return true;
}

std::string why_not_private(const std::filesystem::path& folder) {
  struct stat status = {};
  if (::stat(folder.c_str(), &status) != 0) return {};
  if (!S_ISDIR(status.st_mode)) return "it is not a folder";
  if (status.st_uid != ::geteuid()) return "it belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write to it";
  return {};
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "luminal-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    throw UserError("can't make a temporary folder: set TMPDIR to one that can be written to");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);  // on failure the system cleans up later
}

}  // namespace luminal::base
