// Ahead of the normal form, and cheap: which nests are worth one.
#pragma once

#include "frontends/lifted.h"
#include "tuning-db/gain_model.h"
#include "tuning-db/hardware.h"

namespace sous::client {

// Of threads alone: how many are asked about.
constexpr int asked_threads = 2;

// Whether its statements are many, and each runs but a few times, as far as sizes and arrays say: a transform written
// out, a table in code. Such loops are none that recipes are for, and what a normal form costs grows with the square of
// the statements (thirty times the whole compile, of an encoder's filter bank).
bool is_list_of_statements(const frontends::LiftedNest& lifted);

// Whether the nest, as it was lifted, has the potential for a recipe by prediction (client/predicted.h).
bool worth_predicting(const frontends::LiftedNest& lifted, const tuning_db::Hardware& hardware,
                      tuning_db::FindGainModel find_model);

}  // namespace sous::client
