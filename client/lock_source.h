// The lock file: `sous.lock` beside the source pins what was used, so that a build needs neither database nor network
// and generates the same bytes.
//
//   {"version": 1, "nests": [{"hash": …, "size_class": …, "places": ["gemm.c: kernel"], "recipe": {…}, …}, …]}
//
// `places` (file and function) is there to tell who has changed since; nothing is found by it.
// Sorted by hash and size class; one entry per unit of a nest. The recipe is stored as applied: its loops are already
// those of the locked nest, whatever neighbour it came from.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transforms/source.h"

namespace sous::client {

class LockSource : public transforms::RecipeSource {
 public:
  // An empty one if there is no such file. Error: lock.corrupt.
  static Result<LockSource> open(const std::string& path);
  // What the text of a lock file holds; `save` has nowhere to write. Errors: lock.json, lock.budget, lock.field,
  // lock.corrupt; recipe.*. (`open` puts them all into a lock.corrupt.)
  static Result<LockSource> from_text(std::string_view text);
  // What the file held, written again.
  std::string text() const;

  bool may_know(const sdfg::Sdfg&) override { return !is_empty(); }
  transforms::Reach reach() override { return is_empty() ? transforms::Reach::none() : transforms::Reach{}; }
  std::optional<transforms::Match> pinned(const transforms::NestQuery& nest) override;
  // At most one match per nest.
  Result<std::vector<std::vector<transforms::Match>>> query(const std::vector<transforms::NestQuery>& nests,
                                                            int k) override;

  // `place`: "gemm.c: kernel", or nothing.
  void put(const std::string& structural_hash, const std::string& size_class, transforms::Match match,
           const std::string& place = {});
  using Key = std::pair<std::string, std::string>;  // structural hash, size class
  // What the file pins for the place.
  std::vector<Key> pinned_at(const std::string& place) const;
  // Adds what was put to what the file has by now (other compilers may run beside this one) and writes it if that
  // changes it. Errors: lock.corrupt, lock.busy, client.write.
  Result<void> save(std::chrono::milliseconds longest_wait = std::chrono::seconds(5)) const;
  const std::string& path() const { return path_; }

 private:
  bool is_empty() const { return entries_.empty() && added_.empty(); }
  struct Pinned {
    transforms::Match match;
    std::set<std::string> places = {};
  };
  using Entries = std::map<Key, Pinned>;
  static Result<Entries> read(const std::string& path);
  static Result<Entries> entries_of(std::string_view text);
  static std::string text_of(const Entries& entries);

  std::string path_;
  Entries entries_, added_;
};

}  // namespace sous::client
