// Rows that advance together, each behind the one before: a loop over columns around a loop over rows, whose iterations
// may all run at once, in which an element waits for what the columns before it have made in its row and in the row
// before. What they made may stay in the lanes of vectors, one for each row, and go from lane to lane; memory need not
// know of it until many columns are done.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// Columns for which what one has made may be kept.
constexpr int most_columns_kept = 4;

// A container of which each iteration has one element, and writes it.
struct CarriedElement {
  enum class Kind : std::uint8_t {
    Own,     // it writes it whatever happens, and no two iterations have the same
    Passed,  // the row behind has the same one `columns` columns later: tables of which one row is kept
    Row      // the same one in each column
  };
  Kind kind = Kind::Own;
  Memlet place;
  int columns = 0;      // for so many what it wrote is read: 0 to most_columns_kept
  bool always = false;  // it is written in each iteration; if not, each reads it in any case
};
// An element that an earlier iteration has written, the last one to do so: of so many rows and columns before.
struct Behind {
  int rows = 0;     // 0 or 1
  int columns = 0;  // 1 to most_columns_kept
};
// Which one has written what is read, if it is one of these. (The other one writes it again later, or never.)
std::optional<Behind> behind(const Memlet& written, const Memlet& read, const std::string& row,
                             const std::string& column);

// The Simd loop that is all that the loop holds, if it is; else null.
const Loop* lanes_in(const Loop& columns);

// All that the loop over columns writes but for temporaries of a row and reductions over the rows, which are the same
// for all columns; nullopt: it cannot be kept, for it is written or read in other ways as well, or no iteration waits
// for another. `columns`: one whose lanes_in is not null. Memory as it was before the loop has, for every iteration,
// all else that is read.
std::optional<std::map<std::string, CarriedElement>> carried_columns(const Sdfg& sdfg, const Loop& columns);

// What every iteration reads, whatever happens, of memory that the loop over columns does not change, and the row
// behind reads as well, `CarriedElement::columns` columns later, or the same row in each column. `columns`: one that
// carried_columns knows.
std::vector<CarriedElement> passed_reads(const Sdfg& sdfg, const Loop& columns);

// May the two containers share elements?
bool may_overlap(const Sdfg& sdfg, const Container& a, const Container& b);

}  // namespace sous::sdfg
