// What recipes call the loops and arrays of a nest.
#pragma once

#include <string>

#include "client/nest.h"

namespace sous::client {

// What a recipe for the unit may call a loop of the assembled nest.
std::string name_in_recipe(const Unit& unit, const std::string& loop);

// What recipes call the parts of each unit, each loop beside its line in the source, as comments; with `graphs` the
// units too. What one needs to write a recipe.
std::string names_for_recipes(const PreparedNest& nest, bool graphs = false);

// What becomes of the nest as --emit=FORM prints it: json, dot, or sdfg with those names.
std::string in_form(const PreparedNest& nest, const sdfg::Sdfg& final, const std::string& form);

}  // namespace sous::client
