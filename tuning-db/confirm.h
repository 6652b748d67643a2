// When what a client sent serves others than those of its token.
//
// A measurement is believed, and anyone may send one that was never made: the program stays right, but may become slow.
// So an entry that came by a token serves whoever shows a token of that name, and everyone else from when a second
// party measured as much: another name, or who has the file. The second measurement has a recipe and a structural hash
// in common with the first, and a size class; and the first says no more than it, as far as it is believed on the first
// one's machine (tuning-db/belief.h):
//
//   a gain     at most twice the other's; on no fewer threads; each size at least half of the other's; thresholds
//              (Entry::least_extents) only those of the other
//   no gain    the other has none either, on the same class of machine: it hides what others found there
//
// The same entry sent twice is one measurement: it then serves both senders, and nobody else, and is no witness for
// what either of them sends.
#pragma once

#include <string>

#include "sdfg/result.h"
#include "tuning-db/connection.h"

namespace sous::tuning_db {

// Inside a transaction: the entry confirms what others sent, and, if it was sent itself, by `sender`, is confirmed by
// what is there. An empty sender: it is the file's own.
Result<void> confirm(Connection& db, const std::string& id, const std::string& sender);

}  // namespace sous::tuning_db
