// Tiles of an update by pivots (transforms/pivots.h) for the blocks of a GPU: so many pivots at a time. What their rows
// and columns are ahead of and behind the iteration of each pivot is kept, so that all other elements go through all of
// these iterations at once, with the values that each of them had.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "transforms/normal/util.h"
#include "transforms/pivots.h"

namespace sous::transforms {

class PivotTiles {
 public:
  // `size`: pivots, and rows and columns of a tile; `each`: rows and columns of a thread, a divisor of it.
  PivotTiles(sdfg::Sdfg& sdfg, normal::Names& names, const PivotUpdate& update, std::int64_t size, std::int64_t each);

  // All pivots, block by block.
  sdfg::Node loops();

 private:
  // Which tile: where pivots meet each other, their rows, or their columns.
  enum class Panel { Both, Rows, Columns };
  // Where an element is: its row and column in the program, and in the tile.
  struct Place {
    sdfg::Expr row, column, down, across;
  };
  using Body = std::function<std::vector<sdfg::Node>(const Place&)>;

  // What a kernel keeps in shared memory: the tile; the pivots' columns and rows, ahead of and behind each.
  struct Shared {
    std::string tile, columns, rows;
  };

  sdfg::Node panel(Panel which);
  std::vector<sdfg::Node> iterate(Panel which, const Shared& shared, const Place& origin);
  std::vector<sdfg::Node> keep_columns(Panel which, const Shared& shared, const Place& origin, const sdfg::Expr& pivot);
  std::vector<sdfg::Node> keep_rows(const Shared& shared, const Place& origin, const sdfg::Expr& pivot);
  sdfg::Node rest();
  sdfg::Node compute_rest(const Shared& shared, const Place& origin);

  // Every element of a tile, `each` rows one after the other for each thread; what is outside of the array, too.
  sdfg::Node over_tile(const std::string& name, const Place& origin, const Body& body);
  // One thread for each of `size`.
  sdfg::Node over_line(const std::string& name, const std::function<std::vector<sdfg::Node>(sdfg::Loop& line)>& body);
  sdfg::Loop over_pivots(const std::string& wish);
  sdfg::Loop over_blocks(const std::string& wish, const sdfg::Expr& end, int dimension);
  std::string share(sdfg::Loop& owner, const std::string& wish, std::vector<sdfg::Expr> shape);

  sdfg::State copy(const std::string& wish, const sdfg::Memlet& to, const sdfg::Memlet& from);
  // to = f(own, column, row) in the iteration (pivot, row, column) of the program.
  sdfg::State apply(const sdfg::Memlet& to, const sdfg::Memlet& own, const sdfg::Memlet& column,
                    const sdfg::Memlet& row, const sdfg::Expr& at_row, const sdfg::Expr& at_column,
                    const sdfg::Expr& pivot);

  sdfg::Sdfg& sdfg_;
  normal::Names& names_;
  const PivotUpdate& update_;
  const std::int64_t size_, each_;
  sdfg::ElementType type_;
  std::string group_;           // the symbol of the block of pivots
  std::string columns_, rows_;  // what is kept of these pivots, for all rows and columns
};

}  // namespace sous::transforms
