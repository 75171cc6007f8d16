#include "luminal/backends/cpu/object_cache.h"
#include <cstring>
#include <fstream>
#include <system_error>

#include "luminal/base/hash.h"
#include "luminal/base/os_process.h"

namespace luminal::backends::cpu {
namespace {

// What stands before an object in its file.
struct Header {
  char magic[8] = {'l', 'u', 'm', 'o', 'b', 'j', '0', '1'};
  uint64_t size = 0;
  uint64_t checksum = 0;
  uint64_t key = 0;  // its hash: a file under another name is another kernel
};

Header header_of(const std::string& key, std::string_view object) {
  return {.size = object.size(), .checksum = base::hash(object), .key = base::hash(key)};
}

// Unique among the processes and threads that may write the same entry.
std::string temporary_suffix() {
  static std::atomic<uint64_t> count = 0;
  return "." + std::to_string(base::process_id()) + "." + std::to_string(count++) + ".tmp";
}

}  // namespace

ObjectCache::ObjectCache(std::filesystem::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code ignored;  // store() counts what can't be written
  std::filesystem::create_directories(folder_.parent_path(), ignored);
  if (std::filesystem::create_directory(folder_, ignored)) {
    // Compiled code is run as it is found: others must not be able to put it there.
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
  }
}

std::filesystem::path ObjectCache::file_of(const std::string& key) const {
  return folder_ / (key + ".o");
}

std::optional<std::string> ObjectCache::find(const std::string& key) {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(file_of(key), std::ios::binary);
  if (!file) {
    ++misses_;
    return std::nullopt;
  }
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Header header;
  if (text.size() >= sizeof(Header)) {
    std::string object = text.substr(sizeof(Header));
    header = header_of(key, object);
    if (std::memcmp(text.data(), &header, sizeof(Header)) == 0) {
      ++hits_;
      return object;
    }
  }
  ++damaged_;
  return std::nullopt;
}

void ObjectCache::store(const std::string& key, std::string_view object) {
  if (folder_.empty()) return;
  const std::filesystem::path final_path = file_of(key);
  const std::filesystem::path temporary = final_path.string() + temporary_suffix();
  const Header header = header_of(key, object);
  std::error_code error;
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof(header));
    file.write(object.data(), static_cast<std::streamsize>(object.size()));
    file.close();
    if (!file) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) std::filesystem::rename(temporary, final_path, error);
  if (error) {
    ++not_written_;
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
  }
}

ObjectCache::Counters ObjectCache::counters() const {
  return {.hits = hits_, .misses = misses_, .damaged = damaged_, .not_written = not_written_};
}

}  // namespace luminal::backends::cpu
