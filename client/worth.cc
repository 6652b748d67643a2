#include "client/worth.h"

#include <algorithm>

#include "client/sized.h"
#include "tuning-db/greatest_sizes.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/size_class.h"

namespace sous::client {

using tuning_db::GainModel;

bool is_list_of_statements(const sdfg::Sdfg& lifted, const Sizes& known) {
  constexpr int many = 64, few_executions = 64;
  int statements = 0;
  sdfg::visit(lifted.root,
              [&](const sdfg::Node& node) { statements += std::holds_alternative<sdfg::State>(node.value); });
  if (statements < many) return false;
  Sizes sizes = tuning_db::greatest_sizes(lifted, known, largest_size);
  sizes.insert(known.begin(), known.end());
  const auto executions = tuning_db::work(lifted, sizes);
  return executions && *executions < static_cast<double>(statements) * few_executions;
}

bool worth_predicting(const sdfg::Sdfg& lifted, const Sizes& sizes, const tuning_db::Hardware& hardware,
                      tuning_db::FindGainModel find_model) {
  if (find_model == nullptr) return false;
  // Single loops are next to never sure to gain twice: not even the model is read for them, unless they compute much.
  const auto loops = tuning_db::facts(lifted, sizes).loops;
  const bool single = std::ranges::all_of(loops, [](const auto& loop) { return loop.around.empty(); });
  const bool threads = Sized(lifted, sizes, hardware, asked_threads, For::Threads).promises_threads();
  if (single && !threads) return false;
  const GainModel* model = find_model();
  if (model == nullptr) return false;
  return threads || Sized(lifted, sizes, hardware, model->machine().threads, For::Model)
                        .promising(*model, GainModel::least_potential);
}

}  // namespace sous::client
