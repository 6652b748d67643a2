// What queries are answered from: a database at one time. It never changes; a database that changes gets another one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tuning-db/nearest.h"
#include "tuning-db/recipe_index.h"
#include "tuning-db/store.h"

namespace sous::tuning_db {

struct View {
  // A build asks once, and reads the few rows that it needs; a server holds all of them.
  std::variant<Nearest, RecipeIndex> index;
  std::vector<NestKey> keys;
  std::string generation;  // of the store

  const Nearest* nearest() const { return std::get_if<Nearest>(&index); }
  const RecipeIndex* recipes() const { return std::get_if<RecipeIndex>(&index); }
};

Result<std::shared_ptr<const View>> read_view(Store& store, bool complete);

}  // namespace sous::tuning_db
