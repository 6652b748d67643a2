// Iterations of loops over the threads of a block: one for each thread, or shared out among all threads in a line.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "targets/cpp/printer.h"
#include "targets/cuda/block.h"

namespace sous::targets {

// The iteration whose place in each loop `place` says. `whole`: every loop is known to have all of its iterations.
void print_each(Printer& printer, const Band& band, const std::function<std::string(const sdfg::Loop&)>& place,
                const std::function<void()>& inside, bool whole = false);

// Whether the loop has as many iterations as it has at most.
bool has_all(const sdfg::Loop& loop);
bool uses_any(const sdfg::Expr& e, const Band& band);
// Which thread of the block this is, in a line.
std::string own_place(const Meeting& meeting);

// Registers of 4 bytes that a thread has beside what it keeps, and some to compute with.
std::int64_t free_registers(const sdfg::Sdfg& sdfg, const Meeting& meeting);

// How many such blocks a multiprocessor is to hold at a time, as many as there are registers for: compilers would take
// a few more registers for each thread, and one block less would fit. 0: threads keep little, and nothing is asked for.
std::int64_t blocks_held(const sdfg::Sdfg& sdfg, const Meeting& meeting);

// Whether the band only moves elements of the device's memory into what threads share: copies that the device makes
// while its threads do something else.
bool copies_alone(const sdfg::Sdfg& sdfg, const Meeting& meeting, const Band& band);

// All threads of the block in a line, dimension 0 first; each takes every so many iterations. As these are
// independent, a thread may compute what it assigns in several of them before it stores any: its loads are on their
// way at the same time.
//
// Where the band is an assignment that each thread makes a few times, the two halves can also be printed apart: `load`,
// then other code, then `store`.
class Line {
 public:
  // What is assigned passes through registers of the threads, or the device copies it by itself.
  enum class Through : std::uint8_t { Registers, Nothing };
  // `trips`: of the band.
  Line(Printer& printer, const Meeting& meeting, Band band, const Threads& trips, Through through = Through::Registers,
       std::int64_t together = 1);

  void all();
  // The same where `copies_alone`: the copies are under way when what follows is printed.
  void copies() const;

  // Whether each thread has all of its values at once, computed of what is no thread's own, and stores them into what
  // threads share; and what registers of 4 bytes these take.
  bool can_part() const;
  std::int64_t registers() const;
  void load();
  void store();

 private:
  // An assignment whose every iteration is there, so that minima in its subscripts do nothing.
  struct Whole {
    std::string condition;             // the same in all threads; empty: always
    std::vector<sdfg::Memlet> inputs;  // without those minima
  };
  std::optional<Whole> whole() const;
  // `positive`: gets what must be so for that.
  sdfg::Expr without_minima(const sdfg::Expr& e, std::vector<sdfg::Expr>& positive) const;
  std::optional<sdfg::Expr> at_last(sdfg::Expr e) const;

  void passes(const std::function<void(bool whole)>& print) const;
  std::string place(const sdfg::Loop& loop) const;
  std::string access_of(const sdfg::Loop& loop) const;
  // Where some iterations are not there: what is read in the last one that is in place of those, and what must be so
  // for there to be one.
  struct Clamped {
    std::string condition;
    sdfg::Memlet from;
  };
  std::optional<Clamped> clamped(sdfg::Memlet from) const;
  // How far apart the elements are that a thread takes in two turns, one after the other, where that is the same for
  // all turns and threads.
  std::optional<sdfg::Expr> between_turns(const sdfg::Memlet& m) const;
  void turns(bool whole, const std::function<void()>& inside) const;
  void copies(const sdfg::Memlet& from, bool whole) const;
  void all_copies() const;
  std::string at_first(sdfg::Memlet m, const std::map<std::string, sdfg::Expr>& first) const;
  // The same copies by as many elements as one access moves, of those that lie side by side on both sides; and the
  // condition, the same in all threads, for every one of them to begin where accesses may.
  std::optional<std::pair<Line, std::string>> by_accesses() const;
  Text computed(const std::vector<sdfg::Memlet>& inputs, const std::optional<Text>& loaded) const;
  std::string type() const;  // of what is loaded
  void loads(bool whole) const;
  void stores(bool whole) const;
  void either(const std::function<void(bool whole)>& print) const;

  Printer& printer_;
  const Meeting& meeting_;
  const Band band_;
  const Threads trips_;  // of accesses
  std::optional<sdfg::Assignment> assignment_;
  std::optional<Whole> whole_;
  // The input that alone differs between iterations: it is what is loaded, and the rest is computed when it is stored.
  std::optional<std::size_t> moving_;
  std::int64_t count_ = 1, work_ = 1;  // threads; iterations
  std::int64_t turns_ = 1, once_ = 1;  // of a thread: iterations; with values in registers at a time
  std::int64_t together_ = 1;          // neighbouring iterations of dimension 0 that one access copies
  std::string turn_, at_, first_, value_, is_whole_;
};

}  // namespace sous::targets
