// What a thread holds: a small array of its own lies in registers, and not in memory, if every subscript is a constant
// once the loops around are written out. Compilers see that only of loops that they can count.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "targets/cpp/printer.h"

namespace sous::targets {

class Held {
 public:
  // Of a kernel: a loop over blocks, with all that is in it.
  Held(Printer& printer, const sdfg::Loop& kernel);

  // Prints the loop, to be written out, where it touches what the thread holds; otherwise nothing.
  bool print(const sdfg::Loop& loop);

 private:
  // A loop around, counted: its symbol is `base` plus a counter that is from `least` to before `end`.
  struct Counted {
    std::string symbol;
    sdfg::Expr base;
    std::int64_t least = 0, end = 0;
    std::string counter;  // its identifier, while it is printed
  };
  // A counter, if there is one, plus a constant.
  struct Offset {
    const Counted* from = nullptr;
    std::int64_t more = 0;
    std::string text() const;
  };
  struct Bounds {
    sdfg::Expr base;
    Offset begin, end;
  };

  // Adds the small arrays that are private to the loop, if all that touches them can be written out.
  void add(const sdfg::Loop& owner);
  static bool touches(const sdfg::Node& node, const std::set<std::string>& arrays);
  std::optional<Offset> offset(const sdfg::Expr& e, const sdfg::Expr& base) const;
  std::optional<Bounds> bounds(const sdfg::Loop& loop) const;
  Counted counted(const sdfg::Loop& loop, const Bounds& bounds) const;
  // How many statements the loop is, written out, at most; nullopt: it cannot be, or a subscript would remain.
  std::optional<std::int64_t> statements(const sdfg::Loop& loop, const std::set<std::string>& arrays);
  bool has_constant_subscripts(const sdfg::State& state, const std::set<std::string>& arrays) const;

  Printer& printer_;
  std::set<std::string> loops_;  // that are written out
  std::vector<Counted> around_;
};

}  // namespace sous::targets
