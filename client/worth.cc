#include "client/worth.h"

#include <algorithm>

#include "client/sized.h"
#include "tuning-db/greatest_sizes.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/size_class.h"

namespace sous::client {

using tuning_db::GainModel;

bool is_list_of_statements(const frontends::LiftedNest& lifted) {
  constexpr int many = 64, few_executions = 64;
  int statements = 0;
  sdfg::visit(lifted.sdfg.root,
              [&](const sdfg::Node& node) { statements += std::holds_alternative<sdfg::State>(node.value); });
  if (statements < many) return false;
  Sizes sizes = tuning_db::greatest_sizes(lifted.sdfg, lifted.known, largest_size);
  sizes.insert(lifted.known.begin(), lifted.known.end());
  const auto executions = tuning_db::work(lifted.sdfg, sizes);
  return executions && *executions < static_cast<double>(statements) * few_executions;
}

bool worth_predicting(const frontends::LiftedNest& lifted, const tuning_db::Hardware& hardware,
                      tuning_db::FindGainModel find_model) {
  if (find_model == nullptr) return false;
  // Single loops are next to never sure to gain twice: not even the model is read for them, unless they compute much.
  const auto loops = tuning_db::facts(lifted.sdfg, lifted.known).loops;
  const bool single = std::ranges::all_of(loops, [](const auto& loop) { return loop.around.empty(); });
  const Sizes greatest = greatest_declared(lifted);
  const auto sized = [&](int threads, For who) {
    return Sized(lifted.sdfg, lifted.known, hardware, threads, who, tuning_db::Vectors::Perhaps, greatest);
  };
  const bool threads = sized(asked_threads, For::Threads).promises_threads();
  if (single && !threads) return false;
  const GainModel* model = find_model();
  if (model == nullptr) return false;
  return threads || sized(model->machine().threads, For::Model).promising(*model, GainModel::least_potential);
}

}  // namespace sous::client
