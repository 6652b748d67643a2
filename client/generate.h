// The code of a nest with what was chosen for it.
#pragma once

#include <string>
#include <vector>

#include "client/choose.h"
#include "client/pipeline.h"
#include "targets/target.h"

namespace sous::client {

struct Generated {
  targets::Function code;  // and that of what runs for other shapes
  std::vector<targets::Unfollowed> unfollowed;
  std::vector<std::vector<sdfg::Expr>> shapes = {};  // Replacement::shapes
  std::string other_shapes = {};                     // what is in it of Chosen::otherwise, in words; "": nothing
  std::vector<std::string> residences;               // arrays that may stay on a device: EmitOptions::residences
};

// The target of the one function that the choices' units become; `wanted`: instead, or "". Error: target.mixed.
Result<const targets::Target*> target_of(const std::vector<Choice>& choices, const std::string& wanted);

// `applied`: the nest with the choices. `function`: the name of the entry. `target`: instead of the recipes' own, or
// "". `residences`: arrays that may stay on a device, if the target has one. `values`: EmitOptions::values.
// `asked_first`: EmitOptions::asked_first, where that can be had (Function::asking). Errors:
// target.* (recipes for targets that go into no one function; what the target cannot express), sdfg.* (never expected).
Result<Generated> generate(const PreparedNest& nest, const Chosen& chosen, const sdfg::Sdfg& applied,
                           const std::string& target, const std::string& function,
                           const targets::Residences& residences = {}, const std::vector<std::string>& values = {},
                           bool asked_first = false);

}  // namespace sous::client
