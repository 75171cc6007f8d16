// The table `texts`: each text stored once, under its digest.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "luminal/records/row_key.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

// Also replaces a damaged one.
void store_text(Connection& db, const std::string& digest, std::string_view content);

// The text of a digest; none if it is absent or doesn't match its digest.
std::optional<std::string> find_text(Connection& db, const std::string& digest);

// Whether exactly these texts are stored under the key's digests.
bool has_texts(Connection& db, const RowKey& key, std::string_view subject, std::string_view device,
               std::string_view compiler);

// Removes the texts that no row references.
void remove_unused_texts(Connection& db);

}  // namespace luminal::records
