// What steps call the loops over pieces of another one: its name and an ending, and a number if that is taken. Recipes
// speak of loops by name, so that whoever reads one knows from here what a step has made.
#pragma once

#include <string>
#include <string_view>

namespace sous::transforms {

inline constexpr std::string_view over_tiles = "_t";           // tile
inline constexpr std::string_view over_register_tiles = "_r";  // register_tile

// The loop of the nest that one was made of: "i0" of "i0_t2".
inline std::string loop_of_nest(std::string_view loop) { return std::string(loop.substr(0, loop.find('_'))); }

// Is an iteration of the loop a tile? So it is of "i0_t", "i0_t2" and "i0_r", and of what was made of these ("i0_t_d").
inline bool runs_over_tiles(std::string_view loop) {
  for (auto at = loop.find('_'); at != loop.npos; at = loop.find('_', at + 1)) {
    std::string_view ending = loop.substr(at, loop.find('_', at + 1) - at);
    ending = ending.substr(0, ending.find_first_of("0123456789"));
    if (ending == over_tiles || ending == over_register_tiles) return true;
  }
  return false;
}

}  // namespace sous::transforms
