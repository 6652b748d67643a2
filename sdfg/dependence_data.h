// What the dependence analysis knows of a nest, in isl's terms. Internal to sdfg/.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sdfg/dependences.h"
#include "sdfg/isl_handle.h"
#include "sdfg/isl_parts.h"
#include "sdfg/isl_read.h"
#include "sdfg/polyhedral.h"

namespace sous::sdfg {

struct Access {
  int statement = 0;
  std::string container;  // name, for reports
  std::string tuple;      // what isl calls the memory: equal tuples may be the same memory
  bool write = false;
  bool exact = false;     // touches exactly these elements (otherwise perhaps fewer)
  IslMap map;             // statement instance -> element
  IslMap there;           // of a read whose element data say: to those that the container has; null where not known
  bool own = false;       // a read of what the same instance has written before, whichever way it took
  bool update = false;    // of commuting_update's own element, as such
  std::size_t shape = 0;  // equal where domain and map are the same, but for the names of statement and memory
};

// Whether updates of one element may change places, where nothing but them sees what is between.
enum class Commutes : std::uint8_t {
  Never,    // floats round
  InParts,  // keeps_first_extremum of floats: parts may run side by side, but each, and they as combined, in order
  Always    // integers
};

// The operator if the statement is a State that does x = x op e as self_update says, but that e may read other elements
// of x's array (dynamic programs do). Such updates commute as well, as long as each of those reads keeps its place
// among all that write what it reads: it is a dependence of its own.
std::optional<Reduction> commuting_update(const Statement& statement);

struct Dependences::Data {
  explicit Data(const Budget& budget) : context(budget.operations) {}

  mutable IslContext context;  // first: everything below lives in it
  IslNames parameters;
  std::string header;                  // "[p0, p1] -> "
  std::optional<std::set<int>> among;  // the statements that are looked at; nullopt: all
  std::set<std::string> elsewhere;     // containers that others touch
  // Of containers that are no arguments, where their extents are known: all elements, as isl reads them behind a name.
  std::map<std::string, std::string> own_memory;
  std::vector<IslSet> domains;  // of statements looked at
  std::vector<Access> accesses;
  std::vector<Dependence> dependences;
  std::vector<IslMap> relations;
  std::vector<std::size_t> same_relation;         // the first with the same relation, between the same statements
  std::vector<std::optional<Reduction>> updates;  // self_update of each statement
  std::vector<Commutes> commutes;                 // of each dependence: whether its pairs may change places

  mutable std::unordered_map<std::string, IslMap> maps_read;
  // Trees that were asked about, the last one first: recipe writers come back to the same few.
  struct Asked;
  mutable std::vector<std::shared_ptr<Asked>> asked;
  // Orders that were proven or refused, from legal ones: recipes of one nest begin with the same steps.
  struct Proven {
    ScheduleTree legal, tree;
    Result<void> result;
  };
  mutable std::deque<Proven> proven = {};

  // Relations on time, by Dependences::Data::same_relation and the times of source and target, which most trees that
  // are asked about leave as they were.
  struct OnTime {
    IslMap source, target, pairs;  // the first two: as long as they are here, nothing else has their addresses
  };
  mutable std::map<std::tuple<std::size_t, const isl_map*, const isl_map*>, OnTime> on_time;

  bool known(std::size_t statement) const { return !among || among->contains(static_cast<int>(statement)); }

  // Reading takes long, and a recipe's steps leave most statements where they are: each text is read once.
  IslMap read_map(const std::string& body) const {
    IslMap& known = maps_read[body];
    if (!known) known = read_isl_map(context.get(), header + "{ " + body + " }");
    return known;
  }
  IslSet read_set(const std::string& body) const { return read_isl_set(context.get(), header + "{ " + body + " }"); }
};

// Fills the parameters, the domains and the accesses of `data`, for `among`.
void collect(Dependences::Data& data, const Scop& scop);

// The affine assumptions of an Sdfg, as constraints.
std::vector<std::string> assumed(const Scop& scop, const IslNames& names);

// Texts of isl's notation: "a, b", "p3", "[t0, t1]", "S2[o0, o1]".
std::string joined(const std::vector<std::string>& parts, const char* separator);
std::string numbered(const char* prefix, std::size_t k);
std::string tuple(const char* prefix, std::size_t count);
std::string statement_tuple(std::size_t statement, const std::vector<std::string>& dims);

inline bool empty(const IslMap& map) { return !map || isl_map_is_empty(map.get()) == isl_bool_true; }
inline IslMap subtract(const IslMap& a, const IslMap& b) { return IslMap(isl_map_subtract(a.copy(), b.copy())); }

}  // namespace sous::sdfg
