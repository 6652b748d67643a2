#include "tuning-db/view.h"

#include <utility>

namespace sous::tuning_db {

Result<std::shared_ptr<const View>> read_view(Store& store, bool complete) {
  // Embedding what has no vector is itself a change, so the generation is asked for behind it. What changes after that
  // is seen with the next view.
  TRY(auto vectors, store.vectors());
  TRY(std::string generation, store.generation());
  if (complete) {
    TRY(auto entries, store.by_id());
    TRY(auto index, RecipeIndex::build(std::move(entries), vectors));
    auto keys = index.keys();
    return std::make_shared<const View>(View{std::move(index), std::move(keys), std::move(generation)});
  }
  TRY(Nearest nearest, Nearest::build(std::move(vectors)));
  auto keys = nearest.keys();
  return std::make_shared<const View>(View{std::move(nearest), std::move(keys), std::move(generation)});
}

}  // namespace sous::tuning_db
