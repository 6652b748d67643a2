#include "client/generate.h"

#include <algorithm>
#include <set>

#include "client/partly.h"
#include "client/process.h"
#include "targets/cpp/transients.h"
#include "tuning-db/shape.h"

namespace sous::client {
namespace {

using std::string;

targets::SourceLines source_lines(const frontends::LiftedNest& lifted, const sdfg::Sdfg& applied) {
  targets::SourceLines lines{lifted.file, lifted.line, {}};
  sdfg::visit(applied.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    const auto line = loop == nullptr ? std::nullopt : line_of_loop(lifted, loop->symbol);
    if (line) lines.loops[loop->symbol] = *line;
  });
  return lines;
}

// "matmul.c:12, multiply" and the recipes, a line each.
string comment_of(const PreparedNest& nest, const Chosen& chosen) {
  const frontends::LiftedNest& lifted = *nest.lifted;
  string text = name_of(lifted.file) + ":" + std::to_string(lifted.line) + ", " + lifted.function;
  for (const auto& choice : chosen.choices)
    text += "\n" + nest.unit(choice.unit).label + ": " + transforms::to_text(choice.match.recipe);
  return text;
}

// With numbers for symbols that have one value: a compiler that sees who calls the function knows them, too, and its
// code for the nest would have them.
sdfg::Sdfg specialized(sdfg::Sdfg sdfg, const std::map<string, std::int64_t>& known) {
  std::map<string, sdfg::Expr> with;
  for (const auto& [symbol, value] : known) with.emplace(symbol, value);
  const auto in_all = [&](std::vector<sdfg::Expr>& expressions) {
    for (auto& e : expressions) e = e.substitute(with);
  };
  for (auto& container : sdfg.containers) {
    in_all(container.shape);
    in_all(container.strides);
    container.offset = container.offset.substitute(with);
  }
  in_all(sdfg.assumptions);
  sdfg.root = substitute(sdfg.root, with);
  return sdfg;
}

// `options`: how the function is called.
Result<Generated> one(const PreparedNest& nest, const Chosen& chosen, const sdfg::Sdfg& applied,
                      const targets::Target& target, targets::EmitOptions options) {
  options.guards = chosen.guards;
  if (chosen.least_saved > 0) options.partly = {chosen.least_saved, others_than(chosen, nest)};
  options.least_threads = chosen.least_threads;
  for (const auto& choice : chosen.choices)
    options.cache = tuning_db::strictest(options.cache, tuning_db::cache_for(choice.match.evidence, nest.hardware));
  if (nest.meaning.user_lines) options.lines = source_lines(*nest.lifted, applied);
  options.comment = comment_of(nest, chosen);
  options.symbol_types = frontends::symbol_types(*nest.lifted);
  options.known = nest.lifted->known;
  options.tables = nest.lifted->tables;
  options.members = nest.lifted->members;
  options.original = &nest.normal;
  options.in_program = &nest.lifted->sdfg;
  options.offer = chosen.offer ? &*chosen.offer : nullptr;
  Generated result;
  options.unfollowed = &result.unfollowed;
  TRY(result.code, target.emit(specialized(applied, nest.lifted->known), options));
  return result;
}

void add_shapes(Generated& generated, const targets::Function& code) {
  generated.shapes.insert(generated.shapes.end(), code.needs.begin(), code.needs.end());
  if (code.needs.empty()) generated.shapes.emplace_back();  // it takes all
}

// Its code has arrays of its own on the heap.
bool takes_memory(const sdfg::Sdfg& sdfg) {
  const auto transients = targets::plan_transients(sdfg, false);
  return !transients || std::ranges::any_of(*transients, &targets::Transient::heap);
}

// What is passed as a pointer to what is not constant.
std::set<string> written_arguments(const sdfg::Sdfg& applied) {
  std::set<string> written = sdfg::touched(applied.root).written;
  std::erase_if(written, [&](const string& name) {
    return std::ranges::find(applied.arguments, name) == applied.arguments.end();
  });
  return written;
}

// Nullopt: it cannot be called as the first is, or is for another target.
std::optional<targets::Function> for_other_shapes(const PreparedNest& nest, const Chosen& chosen,
                                                  const sdfg::Sdfg& first, const targets::Target& target,
                                                  const string& wanted, targets::EmitOptions options) {
  const auto own = target_of(chosen.choices, wanted);
  const auto applied = assemble(nest, chosen);
  if (!own || *own != &target || !applied) return std::nullopt;
  if (frontends::arguments_for(*nest.lifted, *applied) != frontends::arguments_for(*nest.lifted, first) ||
      written_arguments(*applied) != written_arguments(first))
    return std::nullopt;
  options.local = true;
  const auto code = one(nest, chosen, *applied, target, std::move(options));
  if (!code) return std::nullopt;
  const bool one_thread = std::ranges::any_of(code->unfollowed, [](const auto& item) { return item.threads; });
  return one_thread ? std::nullopt : std::optional(code->code);
}

}  // namespace

Result<const targets::Target*> target_of(const std::vector<Choice>& choices, const string& wanted) {
  const targets::Target* target = targets::find_target(wanted.empty() ? choices.front().match.recipe.target : wanted);
  SOUS_ASSERT(target != nullptr);  // `fitted` and the recipe reader let no other through
  if (!wanted.empty()) return target;
  for (const auto& choice : choices) {
    const auto& name = choice.match.recipe.target;
    const auto* common = targets::common_target(*target, *targets::find_target(name));
    if (common == nullptr) {
      return fail("target.mixed",
                  "its recipes are for " + string(target->name) + " and " + name + ", which go into no one function");
    }
    target = common;
  }
  return target;
}

Result<Generated> generate(const PreparedNest& nest, const Chosen& chosen, const sdfg::Sdfg& applied,
                           const string& target, const string& function, const targets::Residences& residences,
                           const std::vector<string>& values, bool asked_first) {
  TRY(const targets::Target* found, target_of(chosen.choices, target));
  targets::EmitOptions options = emit_options(nest.meaning);
  const sdfg::Sdfg as_written = specialized(nest.lifted->sdfg, nest.lifted->known);
  targets::EmitOptions::AskedFirst asked{.as_written = &as_written};
  if (asked_first && values.empty() && !found->has_gpu() && !takes_memory(as_written)) options.asked_first = &asked;
  std::vector<targets::Function> others;  // from the last that is asked on
  string in_words;
  for (std::size_t k = chosen.otherwise.size(); k-- > 0;) {
    const Chosen& shapes = chosen.otherwise[k];
    options.function = function + "_otherwise" + (k == 0 ? "" : std::to_string(k + 1));
    asked.variant = static_cast<int>(k) + 2;
    auto code = for_other_shapes(nest, shapes, applied, *found, target, options);
    if (!code) continue;
    options.otherwise = options.function;
    options.otherwise_on_one_thread = shapes.threads == 1;
    asked.otherwise = code->asking.value_or(targets::Asking{});
    others.push_back(std::move(*code));
    in_words = shapes.why + (in_words.empty() ? "" : "; then " + in_words);
  }
  options.function = function;
  asked.variant = 1;
  // What runs for other shapes knows of no residences.
  if (others.empty() && found->has_gpu()) options.residences = residences;
  options.values = values;
  TRY(Generated result, one(nest, chosen, applied, *found, options));
  result.residences = options.residences.arguments;
  // Beside an offer to a GPU, others are asked.
  if (chosen.offer == std::nullopt && !found->has_gpu()) add_shapes(result, result.code);
  string before;
  for (const auto& other : others) {
    if (!result.shapes.empty()) add_shapes(result, other);
    before += other.code + "\n";
    result.code.vectors = std::max(result.code.vectors, other.vectors);
  }
  result.other_shapes = in_words;
  result.code.code = before + result.code.code;
  return result;
}

}  // namespace sous::client
