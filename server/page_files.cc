#include "server/page_files.h"

#include <algorithm>
#include <span>
#include <vector>

#include "sdfg/result.h"
#include "tuning-db/hash.h"

namespace sous::server {
namespace {

std::string_view content_type(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  SOUS_ASSERT(name.ends_with(".svg"));
  return "image/svg+xml";
}

}  // namespace

const PageFile* find_page_file(std::string_view name) {
  static const std::vector<PageFile> files = [] {
    std::vector<PageFile> all;
    for (const EmbeddedFile& file : std::span(embedded_files, embedded_count))
      all.push_back({.name = file.name,
                     .text = file.text,
                     .content_type = content_type(file.name),
                     .etag = "\"" + tuning_db::content_hash(file.text) + "\""});
    return all;
  }();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace sous::server
