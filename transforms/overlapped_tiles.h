// Tiles of sweeps for the blocks of a GPU: each block has the grids as far around its own elements as the sweeps need,
// in memory that its threads share, computes there what it needs of some iterations in time, and writes its own.
//
// A grid that no sweep of a kernel reads once one has written it has no place there: the first sweeps read it where it
// comes from, the last one writes it where it goes.
//
// What lies between two tiles is computed by both: the same operations on the same values. So blocks need nothing of
// each other, as long as none overwrites what another one reads: grids come from one place and go to another.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "transforms/normal/util.h"
#include "transforms/sweeps.h"

namespace sous::transforms {

// Where the elements of a grid lie: those of the container, from `first` on.
struct GridPlace {
  std::string container;
  std::vector<sdfg::Expr> first;
};
using GridPlaces = std::map<std::string, GridPlace>;

struct TileShape {
  std::vector<std::int64_t> sizes;  // of what a block has of a grid in each dimension
  std::int64_t rows = 1;            // of the first dimension, one after the other by one thread
};

class OverlappedTiles {
 public:
  OverlappedTiles(sdfg::Sdfg& sdfg, normal::Names& names, const Sweeps& sweeps, const sdfg::Loop& time, TileShape shape,
                  std::int64_t iterations);

  // How many of a tile's elements are its own in each dimension; none positive: it has none.
  const std::vector<std::int64_t>& own() const { return own_; }
  const Halo& halo() const { return halo_; }
  // Of a block.
  std::int64_t threads() const;
  // What is not negative where the nodes below do what they say.
  const std::vector<sdfg::Expr>& present() const { return present_; }
  // The least box around all that is touched of the grid.
  SweepBox around(const std::string& grid) const;

  // Some iterations from `begin` on, from one place to another.
  sdfg::Node kernel(const GridPlaces& from, const GridPlaces& to, const sdfg::Expr& begin);
  // Every element of the grid that is touched, from one place to another.
  sdfg::Node copy(const std::string& grid, const GridPlaces& from, const GridPlaces& to);

 private:
  // What threads do on some elements (or iterations): all in `box` that are in one of `among`, if there are any, and in
  // none of `without`.
  struct Work {
    SweepBox box;
    std::vector<SweepBox> among, without;
    std::function<sdfg::State(const std::vector<sdfg::Expr>& local)> state;
  };
  sdfg::Node in_threads(const std::string& name, const std::vector<sdfg::Expr>& origin, const Work& work);
  std::vector<sdfg::Node> rows(const sdfg::Expr& first, const std::vector<sdfg::Expr>& origin, const Work& work,
                               std::vector<sdfg::Expr> local);
  std::vector<sdfg::Loop> blocks(const SweepBox& box, const std::vector<std::int64_t>& by);

  std::vector<sdfg::Node> load(const std::string& grid, const std::vector<sdfg::Expr>& block, const GridPlaces& from);
  std::vector<sdfg::Node> store(const std::string& grid, const std::vector<sdfg::Expr>& block, const GridPlaces& to);
  sdfg::Node compute(const Sweep& sweep, const Margins& margins, const std::vector<sdfg::Expr>& block,
                     const sdfg::Expr& time, const GridPlaces& from, const GridPlaces& to);
  // The block's own elements, and so many around them.
  SweepBox tile(const std::vector<sdfg::Expr>& block, const Margins& margins) const;
  std::vector<sdfg::Expr> origin(const std::vector<sdfg::Expr>& block) const;

  sdfg::Sdfg& sdfg_;
  normal::Names& names_;
  const Sweeps& sweeps_;
  const sdfg::Loop& time_;
  const TileShape shape_;
  const Halo halo_;
  std::vector<std::int64_t> own_;
  std::vector<sdfg::Expr> present_;
  std::map<std::string, std::vector<SweepBox>> accessed_, written_;
  std::map<std::string, std::string> shared_;  // of the kernel that is made
};

}  // namespace sous::transforms
