// The same tests on each kind of store: a file of SQLite, and a database of a PostgreSQL that the program starts when
// the first test asks for one.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/postgres_server.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::tuning_db::stores {

inline support::PostgresServer& postgres() {
  static support::PostgresServer server;
  return server;
}

enum class Kind { sqlite, postgres };

class OnEach : public ::testing::TestWithParam<Kind> {
 protected:
  nests::Folder folder;
  // Of a store in which there is nothing.
  std::filesystem::path new_place(const char* file = "t.db") {
    if (GetParam() == Kind::postgres) return postgres().new_database();
    return folder / file;
  }
  const std::filesystem::path place = new_place();
};

}  // namespace sous::tuning_db::stores

#define SOUS_ON_EACH_STORE(fixture)                                                                      \
  INSTANTIATE_TEST_SUITE_P(Sqlite, fixture, ::testing::Values(::sous::tuning_db::stores::Kind::sqlite)); \
  INSTANTIATE_TEST_SUITE_P(Postgres, fixture, ::testing::Values(::sous::tuning_db::stores::Kind::postgres))
