#include "luminal/pytorch/pt2/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"

namespace luminal::pytorch {
namespace {

using testing::HasSubstr;

// An archive in the making: stored members, and the fields that tests change.
struct Archive {
  std::string bytes, directory;
  int members = 0;

  static void put(std::string& to, uint64_t value, int count) {
    for (int i = 0; i < count; ++i) to += static_cast<char>(value >> (8 * i) & 0xff);
  }

  struct Fields {
    uint64_t flags = 0, method = 0;
    int64_t more_size = 0, more_header = 0;
  };
  void add(const std::string& name, const std::string& content) { add(name, content, Fields()); }
  void add(const std::string& name, const std::string& content, const Fields& fields) {
    const uint64_t header = bytes.size();
    put(bytes, 0x04034b50, 4);
    bytes += std::string(22, '\0');
    put(bytes, name.size(), 2);
    put(bytes, 0, 2);
    bytes += name + content;
    const uint64_t size = content.size() + static_cast<uint64_t>(fields.more_size);
    put(directory, 0x02014b50, 4);
    put(directory, 0, 4);
    put(directory, fields.flags, 2);
    put(directory, fields.method, 2);
    put(directory, 0, 8);
    put(directory, size, 4);
    put(directory, size, 4);
    put(directory, name.size(), 2);
    directory += std::string(12, '\0');
    put(directory, header + static_cast<uint64_t>(fields.more_header), 4);
    directory += name;
    ++members;
  }

  std::string done() const {
    std::string all = bytes + directory;
    put(all, 0x06054b50, 4);
    put(all, 0, 4);
    put(all, static_cast<uint64_t>(members), 2);
    put(all, static_cast<uint64_t>(members), 2);
    put(all, directory.size(), 4);
    put(all, bytes.size(), 4);
    put(all, 0, 2);
    return all;
  }
};

ZipArchive opened(const std::string& bytes) {
  return ZipArchive(std::as_bytes(std::span(bytes)), "model.pt2");
}

std::string fault_of(const std::string& bytes) {
  try {
    opened(bytes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ZipArchive, MembersAreWhereTheyAre) {
  Archive archive;
  archive.add("m/a", "first");
  archive.add("m/b", "");
  const std::string bytes = archive.done();
  const ZipArchive zip = opened(bytes);
  const auto first = zip.member("m/a");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(first.data()), first.size()), "first");
  EXPECT_EQ(zip.member("m/b").size(), 0u);
  EXPECT_THROW(zip.member("m/c"), UserError);
}

TEST(ZipArchive, WhatIsDamagedIsNamed) {
  const auto with = [](Archive::Fields fields) {
    Archive archive;
    archive.add("m/a", "first", fields);
    return archive.done();
  };
  EXPECT_THAT(fault_of(""), HasSubstr("too short"));
  EXPECT_THAT(fault_of(std::string(100, 'x')), HasSubstr("it is no zip archive"));
  EXPECT_THAT(fault_of(with({.flags = 1})), HasSubstr("'m/a' is encrypted"));
  EXPECT_THAT(fault_of(with({.method = 8})), HasSubstr("'m/a' is compressed"));
  EXPECT_THAT(fault_of(with({.more_size = 1000})), HasSubstr("'m/a' is cut short"));
  EXPECT_THAT(fault_of(with({.more_header = 3})), HasSubstr("isn't where the directory says"));
  EXPECT_THAT(fault_of(with({.more_header = 100000})), HasSubstr("cut short"));
}

TEST(ZipArchive, TwoMembersShareNothing) {
  Archive twice;
  twice.add("m/a", "first");
  twice.add("m/a", "second");
  EXPECT_THAT(fault_of(twice.done()), HasSubstr("is there twice"));
  Archive overlapping;
  overlapping.add("m/a", "first", {.more_size = 3});
  overlapping.add("m/b", "second");
  EXPECT_THAT(fault_of(overlapping.done()), HasSubstr("two members overlap"));
}

TEST(ZipArchive, EveryCutIsAnError) {
  Archive archive;
  archive.add("m/a", "first");
  const std::string bytes = archive.done();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(fault_of(bytes.substr(0, size)), "no error") << size;
  }
}

}  // namespace
}  // namespace luminal::pytorch
