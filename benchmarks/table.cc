#include "benchmarks/table.h"

#include <algorithm>
#include <cstdio>

#include "sdfg/result.h"

namespace sous::benchmarks {
namespace {

// Characters, not bytes: a cell may hold UTF-8.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string printed(const char* format, int digits, double value) {
  char buffer[400];  // %f of the largest double has 309 digits
  std::snprintf(buffer, sizeof buffer, format, digits, value);
  return buffer;
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  SOUS_ASSERT(row.size() <= rows_[0].size());
  row.resize(rows_[0].size());
  rows_.push_back(std::move(row));
}

std::string Table::to_string() const {
  std::vector<std::size_t> widths(rows_[0].size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  }
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string padding(widths[c] - width(rows_[r][c]), ' ');
      if (c > 0) line += "  ";
      const bool left = c < sides_.size() && sides_[c] == 'l';
      line += left ? rows_[r][c] + padding : padding + rows_[r][c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (r > 0) continue;
    for (std::size_t c = 0; c < widths.size(); ++c) out += (c > 0 ? "  " : "") + std::string(widths[c], '-');
    out += "\n";
  }
  return out;
}

std::string fixed(double value, int digits) { return printed("%.*f", digits, value); }
std::string scientific(double value, int digits) { return printed("%.*e", digits, value); }
std::string seconds_text(double seconds) { return fixed(seconds, seconds >= 10 ? 2 : seconds >= 0.1 ? 3 : 6); }

}  // namespace sous::benchmarks
