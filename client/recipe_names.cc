#include "client/recipe_names.h"

#include "client/process.h"
#include "sdfg/dot.h"
#include "sdfg/json.h"
#include "sdfg/text.h"

namespace sous::client {

using std::string;

string name_in_recipe(const Unit& unit, const string& loop) {
  for (const auto& [canonical, original] : unit.to_original.symbols) {
    if (original == loop) return canonical;
  }
  return loop;
}

string names_for_recipes(const PreparedNest& nest, bool graphs) {
  const auto& lifted = *nest.lifted;
  string out = "# " + name_of(lifted.file) + ":" + std::to_string(lifted.line) + ": " + lifted.function + "\n";
  for (const Unit& unit : nest.units) {
    out += "# " + unit.label + ", --unit " + std::to_string(unit.index) + "\n";
    sdfg::visit(unit.nest.root, [&](const sdfg::Node& node) {
      const auto* loop = std::get_if<sdfg::Loop>(&node.value);
      if (loop == nullptr) return;
      const auto original = unit.to_original.symbols.find(loop->symbol);
      const string& name = original == unit.to_original.symbols.end() ? loop->symbol : original->second;
      const auto line = line_of_loop(lifted, name);
      out += "#   loop " + loop->symbol + " is " + name + (line ? ", line " + std::to_string(*line) : "") + "\n";
    });
    for (const auto& container : unit.nest.containers) {
      const auto original = unit.to_original.containers.find(container.name);
      if (original != unit.to_original.containers.end()) {
        out += "#   array " + container.name + " is " + original->second + "\n";
      }
    }
    if (graphs) out += sdfg::print(unit.nest);
  }
  return out;
}

string in_form(const PreparedNest& nest, const sdfg::Sdfg& final, const string& form) {
  if (form == "json") return sdfg::to_json(final) + "\n";
  if (form == "dot") return sdfg::to_dot(final);
  return sdfg::print(final) + names_for_recipes(nest);
}

}  // namespace sous::client
