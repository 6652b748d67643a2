// A table for the terminal: columns as wide as their widest cell, numbers to the right.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sous::benchmarks {

class Table {
 public:
  // `sides`: for each column l (names) or r (numbers); columns beyond it are r.
  explicit Table(std::vector<std::string> head, std::string sides = "l")
      : sides_(std::move(sides)), rows_{std::move(head)} {}
  // Shorter rows are filled up with empty cells.
  void add(std::vector<std::string> row);
  std::string to_string() const;
  std::size_t rows() const { return rows_.size() - 1; }

 private:
  std::string sides_;
  std::vector<std::vector<std::string>> rows_;
};

// printf's %.*f and %.*e.
std::string fixed(double value, int digits);
std::string scientific(double value, int digits);
// Seconds with enough digits for their size: "12.34", "0.00123".
std::string seconds_text(double seconds);

}  // namespace sous::benchmarks
