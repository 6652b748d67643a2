// The files of server/page/, which the build puts into this program.
#pragma once

#include <string>
#include <string_view>

namespace sous::server {

struct PageFile {
  std::string_view name, text;
  std::string_view content_type;
  std::string etag;  // with its quotes: of the content
};

// Null: there is none.
const PageFile* find_page_file(std::string_view name);

// What embed.cmake writes.
struct EmbeddedFile {
  std::string_view name, text;
};
extern const EmbeddedFile embedded_files[];
extern const unsigned long embedded_count;

}  // namespace sous::server
