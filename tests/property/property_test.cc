// interp(x) == interp(step(x)) == run(cpp) == run(openmp) == run(highway), for random x and random recipes.
#include "tests/property/property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "sdfg/text.h"
#include "targets/target.h"
#include "tests/property/judges.h"
#include "tests/support/random.h"
#include "tests/support/random_nest.h"
#include "tests/support/random_recipe.h"
#include "transforms/apply.h"
#include "transforms/normal_form.h"
#include "tuning-db/tuner.h"

namespace sous::tests {
namespace {

constexpr double reassociation_tolerance = 1e-9;

std::map<std::string, int> outcomes;

Case plain_case(std::uint64_t seed) { return {random_nest(seed), {}}; }

// For the targets in turn.
Case scheduled_case(std::uint64_t seed) {
  const auto targets = targets::targets();
  transforms::Recipe recipe{.target = std::string(targets[seed % targets.size()]->name), .steps = {}};
  return {random_schedules(random_nest(seed), seed), std::move(recipe)};
}

RecipeOptions recipe_options() { return {.hardware = small_hardware(), .outcomes = &outcomes}; }

Case recipe_case(std::uint64_t seed) {
  const bool reassociate = seed % 4 == 0;
  const NestOptions options = {
      .max_depth = 3, .max_statements = 5, .smooth = reassociate, .tidy = seed % 2 == 0, .products = seed % 5 == 0};
  Case result{random_nest(seed, options), {}, reassociate ? reassociation_tolerance : 0};
  RecipeOptions recipe = recipe_options();
  recipe.reassociate = reassociate;
  result.recipe = random_recipe(result.sdfg, seed, recipe);
  return result;
}

Case favourite_case(std::uint64_t seed, std::string_view favourite, int max_statements, bool products) {
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = max_statements, .tidy = true, .products = products}),
              {}};
  RecipeOptions recipe = recipe_options();
  recipe.favourite = transforms::find_step(favourite);
  result.recipe = random_recipe(result.sdfg, seed, recipe);
  return result;
}

Case register_tile_case(std::uint64_t seed) { return favourite_case(seed, "register_tile", 3, true); }
Case pack_case(std::uint64_t seed) { return favourite_case(seed, "pack", 3, true); }
Case promote_case(std::uint64_t seed) { return favourite_case(seed, "promote", 4, seed % 3 == 0); }

Case offload_case(std::uint64_t seed) { return favourite_case(seed, "offload", 4, seed % 3 == 0); }

// What a product's recipe does on a GPU.
Case stage_case(std::uint64_t seed) {
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = 2, .tidy = true, .products = true}), {}};
  RecipeOptions recipe = recipe_options();
  std::vector<const char*> steps = {"offload", "stage"};
  if (seed % 2 == 0) steps = {"tile", "offload", "register_tile", "stage"};
  for (const char* step : steps) recipe.sequence.push_back(transforms::find_step(step));
  result.recipe = random_recipe(result.sdfg, seed, recipe);
  return result;
}

// Products whose threads are as the matrix unit wants them, in all forms in which compilers make one operation of a
// product and its sum, and of all extents.
Case matrix_case(std::uint64_t seed) {
  Random random(seed);
  const auto one_of = [&](auto... values) {
    const std::int64_t all[] = {values...};
    return std::to_string(all[random.below(sizeof...(values))]);
  };
  static constexpr const char* statements[] = {
      "C[i, j] + A[i, k] * B[k, j]",      "C[i, j] - A[k, i] * B[k, j]",      "s[] * A[i, k] * B[j, k] + C[i, j]",
      "C[i, j] + B[k, j] * A[i, k]",      "C[i, j] + (-(A[i, k] * B[k, j]))", "C[i, j] - B[j, k] * (A[i, k] + s[])",
      "C[i, j] + A[i, k] * B[k, j] * s[]"};
  const auto extent = [&](std::uint64_t most) { return std::to_string(1 + random.below(most)); };
  const bool triangle = random.percent(30);  // rows end elsewhere
  const bool several = random.percent(30);   // products, one for each of a third dimension of the grid
  std::string statement = std::string("C[i, j] = ") + statements[random.below(std::size(statements))];
  for (const char* array : {"A[", "B[", "C["})
    for (std::size_t at = 0; (at = statement.find(array, at)) != std::string::npos; at += 2)
      statement.insert(at + 2, several ? "b, " : "0, ");
  const std::string text =
      "sdfg 1 product array A: f64[2, 40, 40] argument array B: f64[2, 40, 40] argument array C: f64[2, 40, 40] "
      "argument array s: f64 argument arguments A, B, C, s " +
      std::string(several ? "loop b = 0 .. 2 { " : "") + "loop i = 0 .. " + extent(40) + " { loop j = 0 .. " +
      (triangle ? "min(i + " + extent(9) + ", " : "") + extent(24) + (triangle ? ")" : "") + " { loop k = 0 .. " +
      extent(40) + " { s0: " + statement + " } } }" + (several ? " }" : "");
  const std::string tile = "loops=[i, j], sizes=[" + one_of(1, 2, 3) + ", " + one_of(2, 4, 2, 3) + "]";
  const std::string recipe = "tile(" + tile + "); offload(loops=[" + (several ? "b, " : "") + "i_t, j_t], sizes=[" +
                             (several ? "1, " : "") + one_of(8, 16) + ", " + one_of(4, 8) + "]); register_tile(" +
                             tile + ", lanes=1, partial=padded); stage(loop=k, size=" + one_of(4, 8, 16, 3, 12) +
                             ", pad=" + one_of(0, 2, 4) + (random.percent(50) ? ", fold=yes" : "") +
                             (random.percent(50) ? ", along=yes" : "") + ", buffers=" + one_of(1, 2) + ") -> cuda";
  const auto graph = sdfg::parse(text);
  const auto steps = transforms::recipe_from_text(recipe);
  EXPECT_TRUE(graph && steps) << text << recipe;
  return {graph.value_or(sdfg::Sdfg{}), steps.value_or(transforms::Recipe{})};
}

// Blocks whose threads share out what is parallel inside, with what is private to an iteration in memory that they
// share; and threads that hold such.
Case meet_case(std::uint64_t seed) {
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = 4, .tidy = true, .in_place = seed % 2 == 0}), {}};
  RecipeOptions recipe = recipe_options();
  std::vector<const char*> steps = {"meet"};
  if (seed % 3 == 0) steps = {"tile", "promote", "meet"};
  if (seed % 6 == 1) steps = {"promote", "offload"};
  for (const char* step : steps) recipe.sequence.push_back(transforms::find_step(step));
  result.recipe = random_recipe(result.sdfg, seed, recipe);
  return result;
}

// Sums of rows or columns, one for each thread, whose operands a block copies with more threads than sum: of all
// extents.
Case sums_case(std::uint64_t seed) {
  Random random(seed);
  const auto one_of = [&](auto... values) {
    const std::int64_t all[] = {values...};
    return std::to_string(all[random.below(sizeof...(values))]);
  };
  static constexpr const char* statements[] = {
      "x[i] + A[i, k] * y[k]", "x[i] + A[k, i]", "x[i] + (A[k, i] - y[i]) * (A[k, i] - y[i])",
      "x[i] + A[k, i] * y[k] * s[]", "x[i] * s[] + (A[i, k] + B[i, k] * y[k])"};
  const auto extent = [&] { return std::to_string(1 + random.below(70)); };
  static constexpr const char* types[] = {"f64", "f32", "i32"};
  const std::string type = types[random.below(3)];
  std::string text = "sdfg 1 sums ";
  for (const char* array : {"A: T[70, 70]", "B: T[70, 70]", "x: T[70]", "y: T[70]", "s: T"}) {
    text += std::string("array ") + array + " argument ";
    text.replace(text.rfind("T"), 1, type);
  }
  text += "arguments A, B, x, y, s loop i = 0 .. " + extent() + " { loop k = " + one_of(0, 0, 2) + " .. " + extent() +
          " { s0: x[i] = " + statements[random.below(std::size(statements))] + " } }";
  const std::string recipe = "offload(loops=[i], sizes=[" + one_of(4, 8, 2, 16) +
                             "]); stage(loop=k, size=" + one_of(16, 32, 64, 24) + ", reads=all, pad=" + one_of(0, 2) +
                             (random.percent(50) ? ", along=yes" : "") + (random.percent(30) ? ", fold=yes" : "") +
                             ", buffers=" + one_of(1, 2) + ") -> cuda";
  const auto graph = sdfg::parse(text);
  const auto steps = transforms::recipe_from_text(recipe);
  EXPECT_TRUE(graph && steps) << text << recipe;
  return {graph.value_or(sdfg::Sdfg{}), steps.value_or(transforms::Recipe{})};
}

// Sweeps over grids in a loop in time: from near elements of any of them, in any order, over boxes that differ, edges
// among them.
struct SweepNest {
  std::string text;
  std::vector<std::string> loops;  // of the first sweep
};

SweepNest sweep_nest(Random& random) {
  const std::size_t dimensions = 1 + random.below(3), grids = 1 + random.below(3), sweeps = 1 + random.below(3);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const auto subscript = [&](const std::vector<std::string>& at, const std::vector<std::int64_t>& offset) {
    std::string text;
    for (std::size_t d = 0; d < at.size(); ++d) text += (d == 0 ? "" : ", ") + at[d] + " + " + number(offset[d]);
    return "[" + text + "]";
  };
  static constexpr const char* extents[] = {"n", "m", "n"};
  std::string shape, arrays, names, body;
  SweepNest result;
  for (std::size_t d = 0; d < dimensions; ++d) shape += (d == 0 ? "" : ", ") + std::string(extents[d]) + " + 6";
  for (std::size_t g = 0; g < grids; ++g) {
    arrays += " array " + std::string(1, "ABC"[g]) + ": f64[" + shape + "] argument";
    names += std::string(", ") + "ABC"[g];
  }
  for (std::size_t s = 0; s < sweeps; ++s) {
    std::vector<std::string> at;
    std::vector<std::int64_t> to(dimensions);
    std::string loops, ends;
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (s > 0 && random.percent(10)) {  // one place
        at.push_back(random.percent(50) ? "3" : std::string(extents[d]) + " + 2");
        continue;
      }
      at.push_back("i" + number(static_cast<std::int64_t>(10 * s + d)));
      to[d] = random.percent(80) ? 0 : random.between(-1, 1);
      loops += "loop " + at[d] + " = " + number(random.between(2, 4)) + " .. " + extents[d] + " + " +
               number(random.between(2, 4)) + " { ";
      ends += " }";
      if (s == 0) result.loops.push_back(at[d]);
    }
    const char grid = "ABC"[random.below(grids)];
    std::string value = "0.5";
    for (std::size_t r = 0; r < 1 + random.below(3); ++r) {
      const char from = "ABC"[random.below(grids)];
      std::vector<std::int64_t> offset = to;
      for (std::int64_t& o : offset)
        if (from != grid || random.percent(3)) o = random.between(-2, 2);
      value += std::string(random.percent(70) ? " + " : " - ") + "0.25 * " + from + subscript(at, offset);
    }
    body += loops + "s" + number(static_cast<std::int64_t>(s)) + ": " + grid + subscript(at, to) + " = " + value +
            ends + " ";
  }
  result.text = "sdfg 1 sweeps symbols n, m" + arrays + " arguments n, m" + names +
                " loop t = " + number(random.between(0, 3)) + " .. " + number(random.between(0, 12)) + " { " + body +
                "}";
  return result;
}

// "a, b": of the first `count`.
std::string listed(const std::vector<std::string>& names, std::size_t count) {
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += (k == 0 ? "" : ", ") + names[k];
  return text;
}

// The nest, and the recipe if it applies.
Case applied_case(const std::string& text, const std::string& recipe) {
  const auto graph = sdfg::parse(text);
  const auto steps = transforms::recipe_from_text(recipe);
  EXPECT_TRUE(graph && steps) << text << recipe;
  Case result{graph.value_or(sdfg::Sdfg{}), {}};
  if (steps && transforms::apply(result.sdfg, *steps, {})) result.recipe = *steps;
  return result;
}

Case overlap_case(std::uint64_t seed) {
  Random random(seed);
  const SweepNest nest = sweep_nest(random);
  const std::size_t dimensions = nest.loops.size();
  std::vector<std::string> sizes;
  for (std::size_t d = 0; d < dimensions; ++d)
    sizes.push_back(std::to_string(random.between(5, dimensions == 3 ? 9 : 15)));
  return applied_case(nest.text, "overlap(loop=t, loops=[" + listed(nest.loops, dimensions) + "], sizes=[" +
                                     listed(sizes, dimensions) + "], steps=" + std::to_string(random.between(1, 3)) +
                                     ", rows=" + std::to_string(random.between(1, 4)) + ") -> cuda");
}

// The same in tiles of time and of some dimensions, half of them with wavefronts of tiles in parallel.
Case time_tile_case(std::uint64_t seed) {
  Random random(seed);
  const SweepNest nest = sweep_nest(random);
  const std::size_t cut = 1 + random.below(nest.loops.size());
  std::vector<std::string> sizes;
  for (std::size_t d = 0; d < cut; ++d) sizes.push_back(std::to_string(random.between(1, 8)));
  std::string recipe = "time_tile(loop=t, loops=[" + listed(nest.loops, cut) + "], sizes=[" + listed(sizes, cut) +
                       "], steps=" + std::to_string(random.between(1, 5)) + ")";
  const std::string tiles = nest.loops[0] + "_t";
  if (random.percent(50))
    recipe += "; skew(loop=" + tiles + ", by=t_t, factor=" + std::to_string(random.between(1, 6)) +
              "); interchange(outer=t_t, inner=" + tiles + "); parallelize(loop=t_t)";
  return applied_case(nest.text, recipe + (random.percent(50) ? " -> cpp" : " -> openmp"));
}

// Updates by pivots: of any operations, whose rows and columns go further than pivots do, and may be stored either way.
Case pivots_case(std::uint64_t seed) {
  Random random(seed);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  static constexpr const char* types[] = {"f64", "f32", "i32", "u8"};
  const std::size_t type = random.below(4);
  const bool transposed = random.percent(30), batch = random.percent(20);
  const std::int64_t row = random.between(0, 2), column = random.between(0, 2), begin = random.between(0, 2);
  const auto element = [&](const std::string& i, const std::string& j) {
    const std::string down = i + " + " + number(row), across = j + " + " + number(column);
    return std::string("A[") + (batch ? "b, " : "") + (transposed ? across + ", " + down : down + ", " + across) + "]";
  };
  const std::string own = element("i", "j"), in_row = element("k", "j"), in_column = element("i", "k");
  std::string value = own;
  for (std::size_t r = 0; r < 1 + random.below(3); ++r) {
    const std::string& other = random.percent(50) ? in_row : in_column;
    switch (random.below(4)) {
      case 0:
        value = "(" + value + ") * " + other;
        break;
      case 1:
        value = "(" + value + ") - " + other;
        break;
      case 2:
        value = "select(" + own + " < " + in_row + " + " + in_column + ", " + value + ", " + other + ")";
        break;
      default:
        value = value + " + " + in_row + " * " + in_column;
    }
  }
  if (random.percent(20)) value = "(" + value + ") + w[i + j]";
  if (type == 3) value = "u8(" + value + ")";
  std::string body = "s0: " + own + " = " + value;
  if (random.percent(30)) body = "if (" + in_row + " < " + own + ") { " + body + " }";
  const auto loop = [&](const char* symbol, std::int64_t more) {
    return std::string("loop ") + symbol + " = " + number(begin) + " .. n + " + number(more) + " { ";
  };
  const std::string text = std::string("sdfg 1 pivots symbols n array A: ") + types[type] + (batch ? "[2, " : "[") +
                           "n + 6, n + 6] argument array w: " + types[type] + "[2*n + 9] argument arguments n, A, w " +
                           (batch ? "loop b = 0 .. 2 { " : "") + loop("k", 0) + loop("i", random.between(0, 3)) +
                           loop("j", random.between(0, 3)) + body + " } } }" + (batch ? " }" : "");
  const std::int64_t each = random.between(1, 3);
  const std::string recipe =
      "block_pivots(loop=k, size=" + number(each * random.between(2, 3)) + ", each=" + number(each) + ") -> cuda";
  const auto graph = sdfg::parse(text);
  const auto steps = transforms::recipe_from_text(recipe);
  EXPECT_TRUE(graph && steps) << text << recipe << (graph ? "" : graph.error().to_string());
  Case result{graph.value_or(sdfg::Sdfg{}), {}};
  if (steps && transforms::apply(result.sdfg, *steps, {})) result.recipe = *steps;
  return result;
}

// Sweeps in place and tables, of rows that advance together in lanes: what is read lies behind, ahead or elsewhere, by
// one statement, two or one under each side of a condition, with the largest value beside it.
Case staggered_case(std::uint64_t seed) {
  Random random(seed);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  static constexpr const char* types[] = {"f64", "f32", "i32", "i64"};
  const std::string type = types[random.below(4)];
  const bool is_float = type[0] == 'f', two = random.percent(40), largest = !is_float && random.percent(40);
  bool ahead = false;  // in the row before, a column further: two columns behind it, then
  const auto at = [](const std::string& array, std::int64_t i, std::int64_t j) {
    const auto place = [](const char* symbol, std::int64_t by) {
      return std::string(symbol) + (by < 0 ? " - " : " + ") + std::to_string(std::abs(by));
    };
    return array + "[" + place("i", i) + ", " + place("j", j) + "]";
  };
  const auto operand = [&](bool second) {
    const std::string array = two && random.percent(50) ? "B" : "A";
    switch (random.below(second && array == "A" ? 9 : 8)) {
      case 0:
        return at(array, -1, 0);
      case 1:
        return at(array, -1, -1);
      case 2:
        ahead = true;
        return at(array, -1, 1);
      case 3:
        return at(array, 0, 1);
      case 4:
        return at(array, 1, random.between(-1, 1));
      case 5:
        return at(array, 0, -2);
      case 6:
        return std::string(random.percent(50) ? "x[i]" : "y[j]");
      case 7:
        return std::string(random.percent(50) ? "W[i, j]" : "W[i + 1, 30 - j]");
      default:
        return at(array, 0, 0);  // behind its own statement
    }
  };
  const auto value = [&](bool second) {
    std::string e = at(second ? "B" : "A", 0, -1);
    for (std::size_t k = 0; k < 1 + random.below(3); ++k) {
      const std::string other = operand(second);
      switch (random.below(is_float ? 4 : 3)) {
        case 0:
          e = e + " + " + other;
          break;
        case 1:
          e = "select(" + e + " < " + other + ", " + other + ", " + e + ")";
          break;
        case 2:
          e = other + " - (" + e + ")";
          break;
        default:
          e = "(" + e + ") * 0.5" + (type == "f32" ? "f32" : "");
      }
    }
    return e;
  };
  std::string body = "s0: " + at("A", 0, 0) + " = " + value(false) + " ";
  if (random.percent(30))
    body = "if (x[i] < y[j]) { " + body + "} else { s1: " + at("A", 0, 0) + " = " + value(false) + " } ";
  if (two) body += "s2: " + at("B", 0, 0) + " = " + value(true) + " ";
  if (largest) body += "s3: m[] = max(m[], " + at("A", 0, 0) + ") ";
  std::string arrays;
  for (const char* name : {"A", "B", "W"}) arrays += "array " + std::string(name) + ": " + type + "[40, 40] argument ";
  const std::string text = "sdfg 1 rows symbols n " + arrays + "array x: " + type + "[40] argument array y: " + type +
                           "[40] argument array m: " + type + " argument arguments n, A, B, W, x, y, m loop i = 1 .. " +
                           number(random.between(3, 38)) + " { loop j = 2 .. " + number(random.between(12, 30)) +
                           " { " + body + "} }";
  const std::int64_t rows = std::int64_t{1} << random.between(1, 4), factor = ahead ? 2 : 1;
  const std::string filling = number(factor * (rows - 1));
  return applied_case(text, "skew(loop=j, by=i, factor=" + number(factor) + "); tile(loops=[i], sizes=[" +
                                number(rows) + "]); interchange(outer=i, inner=j); split(loop=j, offset=" + filling +
                                "); split(loop=j_s, offset=-" + filling +
                                "); vectorize(loop=i_s, lanes=" + number(rows) + ") -> highway");
}

// Tables of which one row is kept: in place, beside what was there before, or in two arrays of which one is copied into
// the other; the first element of each row set by itself, elements written under conditions, from either end.
Case kept_row_case(std::uint64_t seed) {
  Random random(seed);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  static constexpr const char* types[] = {"f64", "f32", "i32", "i64"};
  const std::string type = types[random.below(4)];
  const bool copied = random.percent(40), backward = random.percent(20), begun = random.percent(50);
  const auto at = [&](const std::string& array, std::int64_t by, const std::string& j = "j") {
    const std::string place = backward ? number(33 - by) + " - " + j : j + " + " + number(by);
    return array + "[" + place + "]";
  };
  const std::string own = at("R", 1), before = at("R", 0);
  const auto operand = [&] {
    switch (random.below(6)) {
      case 0:
        return before;
      case 1:
        return copied ? at("P", 0) : std::string("D[i]");
      case 2:
        return copied ? at("P", 1) : own;
      case 3:
        return std::string(random.percent(50) ? "x[i]" : "y[j]");
      case 4:
        return std::string(random.percent(50) ? "y[j + 2]" : "y[32 - j]");
      default:
        return std::string(random.percent(50) ? "W[i, j]" : "W[30 - i, j]");
    }
  };
  const auto value = [&] {
    std::string e = random.percent(70) ? before : operand();
    for (std::size_t k = 0; k < 1 + random.below(3); ++k) {
      const std::string other = operand();
      e = random.percent(40)   ? "select(" + e + " < " + other + ", " + other + ", " + e + ")"
          : random.percent(50) ? e + " + " + other
                               : other + " - (" + e + ")";
    }
    return e;
  };
  std::string body = "s0: v[] = " + (copied ? at("P", 1) : own) + " ";
  const std::string write = own + " = ";
  if (copied || random.percent(50)) {
    body += "s1: " + write + value() + " ";
  } else {
    body += "if (x[i] < y[j]) { s1: " + write + value() + " }";
    if (random.percent(70)) body += " else { if (" + before + " < v[]) { s2: " + write + value() + " } }";
    body += " ";
  }
  if (random.percent(50)) body += "s3: D[i] = v[] ";
  const std::string columns = number(random.between(12, 30));
  std::string inside = "loop j = 0 .. " + columns + " private(v) { " + body + "} ";
  if (copied) inside += "loop k = 0 .. " + columns + " + 1 { c0: " + at("P", 0, "k") + " = " + at("R", 0, "k") + " } ";
  if (begun) inside = "b0: " + at("R", 0, "0") + " = x[i] " + inside;
  std::string arrays;
  for (const char* name : {"R", "P", "D", "x", "y"})
    arrays += "array " + std::string(name) + ": " + type + "[40] argument ";
  const std::string text = "sdfg 1 row " + arrays + "array W: " + type + "[40, 40] argument array v: " + type +
                           " stack transient arguments R, P, D, x, y, W loop i = 0 .. " +
                           number(random.between(3, 30)) + " { " + inside + "}";
  const std::int64_t rows = std::int64_t{1} << random.between(1, 4), factor = random.between(2, 3);
  const std::string filling = number(factor * (rows - 1) + 2);
  return applied_case(
      text, (begun ? "sink(loop=j, what=before); " : "") + std::string(copied ? "fuse(first=j, second=k); " : "") +
                "skew(loop=j, by=i, factor=" + number(factor) + "); tile(loops=[i], sizes=[" + number(rows) +
                "]); interchange(outer=i, inner=j); split(loop=j, offset=" + filling + "); split(loop=j_s, offset=-" +
                filling + "); vectorize(loop=i_s, lanes=" + number(rows) + ") -> highway");
}

// Two rows of which each is made of the other one in turns, as those of pointers that a loop exchanges are.
Case exchanged_row_case(std::uint64_t seed) {
  Random random(seed);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  static constexpr const char* types[] = {"f64", "f32", "i32", "i64"};
  const std::string type = types[random.below(4)];
  const auto value = [&](const std::string& own, const std::string& other, const std::string& j) {
    const std::vector<std::string> all = {own + "[" + j + "]", other + "[" + j + "]", other + "[" + j + " + 1]", "x[i]",
                                          "y[" + j + "]",      "W[i, " + j + "]"};
    std::string e = random.percent(80) ? all[0] : all[random.below(all.size())];
    for (std::size_t k = 0; k < 1 + random.below(3); ++k) {
      const std::string& one = all[random.below(all.size())];
      e = random.percent(40)   ? "select(" + e + " < " + one + ", " + one + ", " + e + ")"
          : random.percent(50) ? e + " + " + one
                               : one + " - (" + e + ")";
    }
    return e;
  };
  const bool begun = random.percent(60);
  const std::string columns = number(random.between(12, 30));
  const auto half = [&](const std::string& own, const std::string& other, const std::string& j, const std::string& s) {
    const std::string write = s + ": " + own + "[" + j + " + 1] = ";
    const std::string body = random.percent(30) ? "if (x[i] < y[" + j + "]) { " + write + value(own, other, j) +
                                                      " } else { " + "u" + write + value(own, other, j) + " }"
                                                : write + value(own, other, j);
    return (begun ? "b" + s + ": " + own + "[0] = x[i] " : "") + "loop " + j + " = 0 .. " + columns + " { " + body +
           " } ";
  };
  const std::string inside = half("R", "P", "j", "s") + half("P", "R", "k", "t");
  std::string arrays;
  for (const char* name : {"R", "P", "x", "y"}) arrays += "array " + std::string(name) + ": " + type + "[40] argument ";
  const std::string text = "sdfg 1 row " + arrays + "array W: " + type + "[40, 40] argument arguments R, P, x, y, W " +
                           "loop i = 0 .. " + number(random.between(3, 30)) + " { " + inside + "}";
  const std::int64_t rows = std::int64_t{1} << random.between(1, 4);
  const std::string filling = number(3 * (rows - 1) + 3);
  return applied_case(text,
                      std::string(begun ? "sink(loop=j, what=before); sink(loop=k, what=before); " : "") +
                          "fuse(first=j, second=k, shift=1); skew(loop=j, by=i, factor=3); tile(loops=[i], sizes=[" +
                          number(rows) + "]); interchange(outer=i, inner=j); split(loop=j, offset=" + filling +
                          "); split(loop=j_s, offset=-" + filling + "); vectorize(loop=i_s, lanes=" + number(rows) +
                          ") -> highway");
}

// Rows that read what later iterations write, as far ahead as elements say, which are not negative; with another end
// for each, or a condition in the middle.
Case distance_case(std::uint64_t seed) {
  Random random(seed);
  static constexpr const char* types[] = {"i32", "i64", "u8", "f32", "f64"};
  static constexpr const char* distances[] = {"i32", "i64", "u8", "u16"};
  const std::string type = types[random.below(5)], distance = distances[random.below(4)];
  const bool down = random.percent(70), ends = random.percent(70);
  const std::string own = down ? "R[40 - j]" : "R[j]", ahead = down ? "R[40 - j - idx[i]]" : "R[j + idx[i]]";
  const std::string cast = type == "u8" ? "u8(" : "(";
  std::string body = "s0: " + own + " = " +
                     (random.percent(50) ? "select(" + own + " < " + ahead + ", " + ahead + ", " + own + ")"
                                         : cast + own + " + " + ahead + ")");
  if (random.percent(50)) body = "if (" + own + " < " + ahead + ") { " + body + " }";
  const std::string end = std::to_string(random.between(20, 38));
  const std::string text = "sdfg 1 ahead array R: " + type + "[64] argument array idx: " + distance +
                           "[20] argument const" + (distance[0] == 'i' ? " natural" : "") +
                           " arguments R, idx loop i = 0 .. " + std::to_string(random.between(1, 20)) +
                           " { loop j = 0 .. " + end + (ends ? " - idx[i]" : " - 16") + " { " + body + " } }";
  const auto graph = sdfg::parse(text);
  EXPECT_TRUE(graph) << text;
  Case result{graph.value_or(sdfg::Sdfg{}), {}};
  const auto normal = transforms::normalize(result.sdfg, {.budget = small_budget});
  EXPECT_TRUE(normal) << text;
  if (!normal) return result;
  result.sdfg = normal->sdfg;
  const auto recipe = transforms::recipe_from_text(
      "vectorize(loop=j, lanes=" + std::to_string(random.percent(50) ? 0 : 4) + ") -> highway");
  if (transforms::apply(result.sdfg, *recipe, {})) result.recipe = *recipe;
  return result;
}

using Sequence = std::vector<const transforms::StepInfo*>;

// The steps of the recipes that ship, in their order.
std::vector<Sequence> shipped_sequences() {
  std::vector<Sequence> result;
  std::ifstream file(SOUS_SOURCE_DIR "/benchmarks/recipes/polybench.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(": ");
    if (line.starts_with("#") || at == std::string::npos) continue;
    const auto recipe = transforms::recipe_from_text(line.substr(at + 2));
    EXPECT_TRUE(recipe) << line;
    Sequence steps;
    for (const transforms::StepCall& call : recipe.value_or(transforms::Recipe{}).steps)
      steps.push_back(transforms::find_step(call.step));
    if (std::ranges::find(result, steps) == result.end()) result.push_back(std::move(steps));
  }
  EXPECT_GT(result.size(), 10U);
  return result;
}

// A stretch of what ships, in half of the cases behind a step that changes statements: those behind it then look at
// dependences of statements that are not the program's.
Case sequence_case(std::uint64_t seed) {
  constexpr std::size_t longest = 7;
  static const std::vector<Sequence> shipped = shipped_sequences();
  static const std::vector<const char*> restructuring{"pack", "promote", "register_tile", "expand", "privatize"};
  Random random(seed);
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = 3, .tidy = true, .products = random.percent(70)}),
              {}};
  const Sequence& all = random.pick(shipped);
  const std::size_t from = random.percent(60) ? 0 : random.below(all.size());
  RecipeOptions recipe = recipe_options();
  if (random.percent(50)) recipe.sequence.push_back(transforms::find_step(random.pick(restructuring)));
  for (std::size_t k = from; k < std::min(all.size(), from + longest); ++k) recipe.sequence.push_back(all[k]);
  result.recipe = random_recipe(result.sdfg, seed, recipe);
  return result;
}

// pack, then what a product's recipe does, on nests that take it.
Case packed_first_case(std::uint64_t seed) {
  Case result{random_nest(seed, {.max_depth = 3, .max_statements = 3, .tidy = true, .products = true}), {}};
  RecipeOptions recipe = recipe_options();
  for (const char* step : {"pack", "tile", "interchange", "parallelize"})
    recipe.sequence.push_back(transforms::find_step(step));
  result.recipe = random_recipe(result.sdfg, seed, recipe);
  return result;
}

// A nest in normal form with what a strategy writes for it, as far as it fits.
Case strategy_case(std::uint64_t seed) {
  Random random(seed);
  const std::size_t kind = random.below(100);
  const NestOptions options{
      .max_depth = 3, .max_statements = 5, .tidy = true, .products = kind < 20, .in_place = kind >= 60};
  Case result{random_nest(seed, options), {}};
  const auto normal = transforms::normalize(result.sdfg, {.budget = small_budget});
  if (!normal) return result;
  result.sdfg = normal->sdfg;
  const transforms::ApplyOptions apply{.context = {.hardware = small_hardware()}, .budget = small_budget};
  const auto proposed = tuning_db::propose(result.sdfg, apply);
  if (!proposed) return result;
  std::vector<transforms::OpenRecipe> recipes;
  for (const auto& one : *proposed)
    if (one.recipes) std::ranges::copy(*one.recipes, std::back_inserter(recipes));
  if (recipes.empty()) return result;
  const transforms::OpenRecipe& open = random.pick(recipes);
  transforms::OpenChoice choice;
  for (const auto& [name, values] : open.open) choice[name] = random.below(values.size());
  const auto fitted = tuning_db::fitted(result.sdfg, "strategy", transforms::closed(open, choice).value(), apply);
  if (fitted) result.recipe = fitted->recipe;
  return result;
}

TEST(Property, RoundTrip) { hold({"RoundTrip", scheduled_case, judge_round_trip}, 60); }

TEST(Property, Compiled) { hold({"Compiled", scheduled_case, judge_compiled_for_target}, 40); }

// At least `percent` of the cases have a recipe with the step (of any, if it has no name).
void hold_recipes(const std::string& name, Case (*make)(std::uint64_t), std::size_t share, std::string_view step,
                  std::size_t percent) {
  hold({.name = name, .make = make, .judge = judge_recipe, .applied = {step, percent}}, share);
  for (const auto& [outcome, count] : outcomes) std::cout << outcome << ": " << count << "\n";
}

TEST(Property, Recipes) { hold_recipes("Recipes", recipe_case, 40, "", 75); }

// Few nests have the shape that this step wants, and it restructures more than others.
TEST(Property, RegisterTiles) { hold_recipes("RegisterTiles", register_tile_case, 14, "register_tile", 10); }

TEST(Property, Packs) { hold_recipes("Packs", pack_case, 18, "pack", 25); }

TEST(Property, Promotes) { hold_recipes("Promotes", promote_case, 12, "promote", 40); }

TEST(Property, Offloads) { hold_recipes("Offloads", offload_case, 30, "offload", 60); }

TEST(Property, Stages) { hold_recipes("Stages", stage_case, 10, "stage", 5); }

TEST(Property, Meets) { hold_recipes("Meets", meet_case, 15, "meet", 10); }

TEST(Property, SumsOfBlocks) { hold_recipes("SumsOfBlocks", sums_case, 1, "stage", 60); }

TEST(Property, Overlaps) { hold_recipes("Overlaps", overlap_case, 5, "overlap", 30); }

TEST(Property, TimeTiles) { hold_recipes("TimeTiles", time_tile_case, 10, "time_tile", 30); }

TEST(Property, StaggeredLanes) { hold_recipes("StaggeredLanes", staggered_case, 10, "vectorize", 50); }

TEST(Property, KeptRows) { hold_recipes("KeptRows", kept_row_case, 10, "vectorize", 40); }

TEST(Property, ExchangedRows) { hold_recipes("ExchangedRows", exchanged_row_case, 10, "vectorize", 40); }

TEST(Property, DistancesAhead) { hold_recipes("DistancesAhead", distance_case, 5, "vectorize", 90); }

TEST(Property, Pivots) { hold_recipes("Pivots", pivots_case, 4, "block_pivots", 90); }

TEST(Property, MatrixProducts) { hold_recipes("MatrixProducts", matrix_case, 1, "stage", 90); }

// Of the nests that are offloaded, the target refuses the smaller part (functions of math.h).
TEST(Property, OffloadedNestsRun) {
  int all = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Case c = offload_case(seed);
    if (c.recipe.target != "cuda") continue;
    transforms::ApplyOptions options;
    options.context.hardware = small_hardware();
    options.budget = small_budget;
    const auto nest = transforms::apply(c.sdfg, c.recipe, options);
    if (!nest) continue;
    ++all;
    refused += targets::find_target("cuda")->emit(*nest, {}) ? 0 : 1;
  }
  EXPECT_GT(all, 40);
  EXPECT_LT(refused * 2, all) << refused << " of " << all;
}

TEST(Property, Sequences) { hold_recipes("Sequences", sequence_case, 10, "", 75); }

TEST(Property, PackedFirst) { hold_recipes("PackedFirst", packed_first_case, 10, "parallelize", 50); }

TEST(Property, Strategies) { hold_recipes("Strategies", strategy_case, 18, "", 50); }

TEST(Property, NormalForm) { hold({"NormalForm", plain_case, judge_normal_form}, 50); }

// What failed once is held to everything from then on.
TEST(Property, FoundStaysFixed) {
  const std::filesystem::path folder = SOUS_SOURCE_DIR "/tests/golden/found";
  std::vector<Case> cases;
  std::vector<std::string> names;
  if (!std::filesystem::exists(folder)) return;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const auto found = from_file(text.str());
    ASSERT_TRUE(found) << path << ": " << found.error().to_string();
    cases.push_back(*found);
    names.push_back(path.filename().string());
  }
  for (const auto& judge : {judge_round_trip, judge_compiled, judge_recipe, judge_normal_form}) {
    const auto verdicts = judge(cases);
    for (std::size_t k = 0; k < cases.size(); ++k)
      EXPECT_FALSE(verdicts[k] && !verdicts[k]->refused) << names[k] << ": " << verdicts[k]->why;
  }
}

}  // namespace
}  // namespace sous::tests
