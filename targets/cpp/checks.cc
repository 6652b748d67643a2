#include "targets/cpp/checks.h"

#include <algorithm>
#include <iterator>

#include "sdfg/inspection.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"
#include "targets/cpp/caller.h"
#include "targets/cpp/inspection.h"
#include "targets/cpp/parameters.h"
#include "targets/cpp/work.h"

namespace sous::targets {
namespace {

sdfg::Expr covered(const sdfg::Expr& extent) { return planted(Fault::overlap_check_short) ? extent - 1 : extent; }

std::string number(double value) { return literal(sdfg::ScalarExpr::real(value, sdfg::ElementType::f64)).text; }

// Without what stands beside the nests whose recipes run.
sdfg::Sdfg with_recipes(sdfg::Sdfg sdfg) {
  for (sdfg::Node& node : sdfg.root.nodes)
    if (auto* branch = std::get_if<sdfg::If>(&node.value)) branch->else_body.nodes.clear();
  return sdfg;
}

// What is read before anything in the region writes it, as the text goes.
std::set<std::string> read_first(const sdfg::Region& region) {
  std::set<std::string> read, written;
  sdfg::visit(region, [&](const sdfg::Node& node) {
    const sdfg::Touched here =
        std::holds_alternative<sdfg::State>(node.value) ? sdfg::touched(node) : sdfg::touched_itself(node);
    std::ranges::set_difference(here.read, written, std::inserter(read, read.end()));
    written.insert(here.written.begin(), here.written.end());
  });
  return read;
}

// Whether data say how far containers are accessed that must not overlap others.
bool compares_by_data(const sdfg::Sdfg& sdfg) {
  return std::ranges::any_of(sdfg.disjoint, [&](const auto& pair) {
    return sdfg::ends_by_data(*sdfg.find(pair.first)) || sdfg::ends_by_data(*sdfg.find(pair.second));
  });
}

const sdfg::Sdfg& in_program(const sdfg::Sdfg& sdfg, const EmitOptions& options) {
  return options.in_program != nullptr ? *options.in_program : sdfg;
}

}  // namespace

std::string Checks::footprint(const sdfg::Container& c) {
  const auto known = footprints_.find(c.name);
  return known != footprints_.end() ? known->second : new_footprint(c, 0);
}

std::string Checks::new_footprint(const sdfg::Container& c, std::size_t from) {
  Names& names = expressions_.names();
  const std::string name = names.fresh(names.of(c.name) + "_footprint");
  std::string text = "sous::Footprint " + name + "(" + expressions_.use(c.name) + ", " +
                     expressions_.index_ahead(c.offset).text + ");";
  for (std::size_t d = from; d < c.shape.size(); ++d) {
    text += " " + name + ".dimension(" + expressions_.index_ahead(covered(c.shape[d])).text + ", " +
            expressions_.index_ahead(c.strides[d]).text + ");";
  }
  lines_.push_back(text);
  return footprints_.emplace(c.name, name).first->second;
}

std::string Checks::guards() {
  if (options_.guards.empty()) return "";
  std::string gains = options_.partly ? some_guards(*options_.partly) : all_guards();
  cache_sets();
  return gains;
}

Shape Checks::shape_of(const Guard& guard) {
  Shape shape = targets::shape(guard, expressions_);
  if (planted(Fault::transformed_work_counted)) shape.work = work(sdfg_.root, expressions_);
  // Where an assumption does not hold, what the nest says that it reads is not what the program reads.
  if (shape.looks_at_data) assumptions(sdfg_);
  looks_at_data_ = looks_at_data_ || shape.looks_at_data;
  return shape;
}

std::string Checks::work_of(const Shape& shape, bool named) {
  if (shape.work.constant || !named) return shape.work.text;
  const std::string name = expressions_.names().fresh("work");
  lines_.push_back("const double " + name + " = " + shape.work.text + ";");
  return name;
}

std::string Checks::all_guards() {
  std::string gains;
  needs_.emplace_back();
  for (const Guard& guard : options_.guards) {
    const Shape shape = shape_of(guard);
    needs_.back().insert(needs_.back().end(), shape.needs.begin(), shape.needs.end());
    if (!shape.too_small.empty()) lines_.push_back("if (" + shape.too_small + ") " + other_shapes());
    const std::string total = work_of(shape, guard.gain > 0);
    if (guard.least_work > 0 && shape.work.constant.value_or(0) < guard.least_work)
      lines_.push_back("if (" + total + " < " + number(guard.least_work) + ") " + other_shapes());
    if (guard.gain > 0) gains += (gains.empty() ? "" : " + ") + total + " * " + number(guard.gain);
  }
  return gains;
}

// What all of them gain was looked at when they were chosen; what some gain is looked at here, by their shares of the
// work (Amdahl).
std::string Checks::some_guards(const Partly& partly) {
  std::string all_hold, saved, total, gains;
  const auto add = [](std::string& text, const std::string& by, const std::string& more) {
    text += (text.empty() ? "" : by) + more;
  };
  for (const Guard& guard : options_.guards) {
    const Shape shape = shape_of(guard);
    needs_.push_back(shape.needs);
    const std::string work = work_of(shape, true), holds = expressions_.names().fresh("holds");
    std::string conditions = shape.too_small.empty() ? "" : "!(" + shape.too_small + ")";
    if (guard.least_work > 0 && shape.work.constant.value_or(0) < guard.least_work)
      add(conditions, " && ", work + " >= " + number(guard.least_work));
    lines_.push_back("const bool " + holds + " = " + (conditions.empty() ? "true" : conditions) + ";");
    add(all_hold, " && ", holds);
    add(saved, " + ", "(" + holds + " ? " + work + " * " + number(guard.saves) + " : 0.0)");
    add(total, " + ", work);
    if (guard.gain > 0) add(gains, " + ", "(" + holds + " ? " + work + " * " + number(guard.gain) + " : 0.0)");
  }
  const Work others = targets::shape(Guard{.original = partly.others}, expressions_).work;
  if (others.constant != 0.0) add(total, " + ", others.text);
  lines_.push_back("if (!(" + all_hold + ") && " + saved + " <= (" + total + ") * " + number(partly.least_saved) +
                   ") " + other_shapes());
  return gains;
}

// Distances that are known at build time were held against the cache then.
void Checks::cache_sets() {
  sdfg::Region original;
  for (const Guard& guard : options_.guards)
    original.nodes.insert(original.nodes.end(), guard.original.nodes.begin(), guard.original.nodes.end());
  const sdfg::CacheSets& cache = options_.cache;
  for (const sdfg::Window& window : sdfg::windows(options_.partly ? with_recipes(sdfg_) : sdfg_, original, cache)) {
    if (sdfg::is_constant(window)) continue;
    std::string sets = "sous::CacheSets<" + std::to_string(cache.sets) + ">()";
    for (const sdfg::Walk& walk : window.walks) {
      std::vector<std::string> strides;
      for (const sdfg::Stride& stride : walk)
        strides.push_back(expressions_.index_ahead(stride.bytes).text + ", " + std::to_string(stride.count));
      sets += ".walk(" + join(strides) + ")";
    }
    lines_.push_back("if (" + sets + ".holds_more_than(" + std::to_string(cache.ways) + ")) " + other_shapes());
  }
}

void Checks::assumptions(const sdfg::Sdfg& of) {
  for (const sdfg::Expr& assumption : of.assumptions) {
    if (assumption.constant().value_or(-1) >= 0 || planted(Fault::assumption_unchecked)) continue;
    const std::string line = "if (!(" + expressions_.index_ahead(assumption).text + " >= 0)) return 0;";
    if (std::ranges::find(lines_, line) == lines_.end()) lines_.push_back(line);
  }
}

void Checks::keep_apart(const sdfg::Container& a, const sdfg::Container& b, const std::string& otherwise) {
  if (passed_by_value(a, written_) || passed_by_value(b, written_) || planted(Fault::overlap_unchecked)) return;
  const std::string left = footprint(a), right = footprint(b);
  const bool by_data = sdfg::ends_by_data(a) || sdfg::ends_by_data(b);
  const std::string gaps = on_device_ || by_data ? "" : " && !" + left + ".interleaved(" + right + ")";
  lines_.push_back("if (!" + left + ".disjoint(" + right + ")" + gaps + ") return " + otherwise + ";");
}

void Checks::disjoint() {
  for (const auto& [first, second] : sdfg_.disjoint) {
    const sdfg::Container &a = expressions_.container(first), &b = expressions_.container(second);
    if (!sdfg::ends_by_data(a) && !sdfg::ends_by_data(b)) keep_apart(a, b, "0");
  }
}

void Checks::by_data(int threads) {
  if (!looks_at_data(sdfg_)) return;
  Inspection inspection(expressions_, threads, lines_);
  disjoint_by_data(inspection);
  for (const sdfg::Container& c : sdfg_.containers) {
    if (!c.natural || planted(Fault::signs_unchecked)) continue;
    const auto values = sdfg::values_read(in_program(sdfg_, options_), c.name);
    SOUS_ASSERT(values);  // print_function looked
    lines_.push_back("if (" + inspection.hull(*values) + ".negative()) return 0;");
  }
}

void Checks::disjoint_by_data(Inspection& inspection) {
  if (!compares_by_data(sdfg_)) return;
  // Arrays that overlap once (a method that works in place) are likely to do so again.
  Names& names = expressions_.names();
  const std::string overlapped = names.fresh("overlapped"), these = names.fresh("these");
  std::vector<std::string> pointers;
  for (const sdfg::Container& c : sdfg_.containers) {
    const bool compared = std::ranges::any_of(
        sdfg_.disjoint, [&](const auto& pair) { return c.name == pair.first || c.name == pair.second; });
    if (compared && !passed_by_value(c, written_)) pointers.push_back(expressions_.use(c.name));
  }
  lines_.push_back("static uint64_t " + overlapped + " = 0;");
  lines_.push_back("const uint64_t " + these + " = sous::addresses(" + join(pointers) + ");");
  lines_.push_back("if (sous::overlapped_before(" + overlapped + ", " + these + ")) return 0;");
  const auto inspect = [&](const sdfg::Container& c) {
    if (!sdfg::ends_by_data(c) || footprints_.contains(c.name)) return;
    const auto reaches = sdfg::reaches(in_program(sdfg_, options_), c.name);
    SOUS_ASSERT(reaches);  // print_function looked
    const std::string hull = inspection.hull(*reaches), name = new_footprint(c, 1);
    lines_.push_back(name + ".reach(" + hull + ", " + expressions_.index_ahead(c.strides[0]).text + ");");
  };
  for (const auto& [first, second] : sdfg_.disjoint) {
    const sdfg::Container &a = expressions_.container(first), &b = expressions_.container(second);
    if (!sdfg::ends_by_data(a) && !sdfg::ends_by_data(b)) continue;
    inspect(a);
    inspect(b);
    keep_apart(a, b, "sous::overlaps(" + overlapped + ", " + these + ")");
  }
}

void Checks::first_touch(std::string& gain, const std::string& otherwise) {
  if (gain.empty()) return;
  const std::set<std::string> read = read_first(sdfg_.root);
  std::string footprints;
  for (const std::string& argument : sdfg_.arguments) {
    const sdfg::Container* c = sdfg_.find(argument);
    if (c != nullptr && !c->shape.empty() && !sdfg::ends_by_data(*c) && read.contains(argument) &&
        written_.contains(argument))
      footprints += ", " + footprint(*c);
  }
  if (footprints.empty()) return;
  Names& names = expressions_.names();
  const std::string seconds = names.fresh("gain"), asked = names.fresh("asked");
  lines_.push_back("const double " + seconds + " = " + gain + ";");
  lines_.push_back("static uint64_t " + asked + " = 0;");
  lines_.push_back("if (sous::first_touch_outweighs(&" + asked + ", " + seconds + footprints + ")) " + otherwise);
  gain = seconds;
}

bool looks_at_data(const sdfg::Sdfg& sdfg) {
  return compares_by_data(sdfg) || std::ranges::any_of(sdfg.containers, &sdfg::Container::natural);
}

std::string out_of_reach(const sdfg::Sdfg& sdfg, const EmitOptions& options, bool on_device) {
  if (!looks_at_data(sdfg)) return "";
  if (on_device) return "what data say has to be looked at ahead of it";
  const sdfg::Sdfg& program = in_program(sdfg, options);
  if (!std::ranges::includes(std::set<std::string>(sdfg.arguments.begin(), sdfg.arguments.end()),
                             std::set<std::string>(program.arguments.begin(), program.arguments.end())))
    return "it does not have the program's arguments";
  for (const auto& pair : sdfg.disjoint)
    for (const std::string& name : {pair.first, pair.second})
      if (sdfg::ends_by_data(*sdfg.find(name)) && !sdfg::reaches(program, name))
        return "how far '" + name + "' is accessed cannot be looked at ahead of the nest";
  for (const sdfg::Container& c : sdfg.containers)
    if (c.natural && !sdfg::values_read(program, c.name))
      return "the values of '" + c.name + "' cannot be looked at ahead of the nest";
  return "";
}

std::string Checks::other_shapes() const {
  if (options_.otherwise.empty()) return "return 0;";
  const Asking* asked = options_.asked_first == nullptr ? nullptr : &options_.asked_first->otherwise;
  std::vector<std::string> passed;
  for (const std::string& argument : asked == nullptr ? sdfg_.arguments : asked->arguments)
    passed.push_back(expressions_.use(argument));
  return "return " + (asked == nullptr ? options_.otherwise : asked->function) + "(" + join(passed) + ");";
}

}  // namespace sous::targets
