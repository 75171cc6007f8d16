// ZipArchive: the stored members of a zip file, by its central directory.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace luminal::pytorch {

class ZipArchive {
 public:
  // The bytes must outlive it. UserError, which names `source`, for what isn't an archive, and for
  // members that are compressed, encrypted, overlap or lie outside.
  ZipArchive(std::span<const std::byte> bytes, std::string source);

  // UserError if there is no such member.
  std::span<const std::byte> member(std::string_view name) const;
  const std::map<std::string, std::span<const std::byte>, std::less<>>& members() const {
    return members_;
  }

 private:
  std::string source_;
  std::map<std::string, std::span<const std::byte>, std::less<>> members_;
};

}  // namespace luminal::pytorch
