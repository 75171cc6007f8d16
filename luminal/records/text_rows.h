// The table `texts`: each text once, under its digest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "luminal/records/row_key.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

// Also in place of one that was damaged.
void store_text(Connection& db, const std::string& digest, std::string_view content);

// The text of a digest; none where it is absent, or isn't what the digest was taken of.
std::optional<std::string> find_text(Connection& db, const std::string& digest);

// Whether these texts stand under the key's digests, byte for byte.
bool has_texts(Connection& db, const RowKey& key, std::string_view subject, std::string_view device,
               std::string_view compiler);

// Removes the texts that no row names.
void remove_unused_texts(Connection& db);

}  // namespace luminal::records
