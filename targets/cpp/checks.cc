#include "targets/cpp/checks.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "targets/cpp/caller.h"
#include "targets/cpp/extents.h"
#include "targets/cpp/parameters.h"
#include "targets/cpp/work.h"

namespace sous::targets {
namespace {

sdfg::Expr covered(const sdfg::Expr& extent) { return planted(Fault::overlap_check_short) ? extent - 1 : extent; }

std::string number(double value) { return literal(sdfg::ScalarExpr::real(value, sdfg::ElementType::f64)).text; }

}  // namespace

std::string Checks::footprint(const sdfg::Container& c) {
  const auto known = footprints_.find(c.name);
  if (known != footprints_.end()) return known->second;
  Names& names = expressions_.names();
  const std::string name = names.fresh(names.of(c.name) + "_footprint");
  std::string text = "sous::Footprint " + name + "(" + expressions_.use(c.name) + ", " +
                     expressions_.index_ahead(c.offset).text + ");";
  for (std::size_t d = 0; d < c.shape.size(); ++d) {
    text += " " + name + ".dimension(" + expressions_.index_ahead(covered(c.shape[d])).text + ", " +
            expressions_.index_ahead(c.strides[d]).text + ");";
  }
  lines_.push_back(text);
  return footprints_.emplace(c.name, name).first->second;
}

std::string Checks::guards() {
  std::string gains;
  for (const Guard& guard : options_.guards) {
    Shape shape = targets::shape(guard, expressions_);
    needs_.insert(needs_.end(), shape.needs.begin(), shape.needs.end());
    if (!shape.too_small.empty()) lines_.push_back("if (" + shape.too_small + ") " + other_shapes());
    if (planted(Fault::transformed_work_counted)) shape.work = work(sdfg_.root, expressions_);
    std::string total = shape.work.text;
    if (!shape.work.constant && guard.gain > 0) {
      total = expressions_.names().fresh("work");
      lines_.push_back("const double " + total + " = " + shape.work.text + ";");
    }
    if (guard.least_work > 0 && shape.work.constant.value_or(0) < guard.least_work)
      lines_.push_back("if (" + total + " < " + number(guard.least_work) + ") " + other_shapes());
    if (guard.gain > 0) gains += (gains.empty() ? "" : " + ") + total + " * " + number(guard.gain);
  }
  cache_sets();
  return gains;
}

// Distances that are known at build time were held against the cache then.
void Checks::cache_sets() {
  sdfg::Region original;
  for (const Guard& guard : options_.guards)
    original.nodes.insert(original.nodes.end(), guard.original.nodes.begin(), guard.original.nodes.end());
  if (options_.guards.empty()) return;
  const sdfg::CacheSets& cache = options_.cache;
  for (const sdfg::Window& window : sdfg::windows(sdfg_, original, cache)) {
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

void Checks::disjoint() {
  for (const auto& [first, second] : sdfg_.disjoint) {
    const sdfg::Container &a = expressions_.container(first), &b = expressions_.container(second);
    if (passed_by_value(a, written_) || passed_by_value(b, written_) || planted(Fault::overlap_unchecked)) continue;
    const std::string left = footprint(a), right = footprint(b);
    const std::string gaps = on_device_ ? "" : " && !" + left + ".interleaved(" + right + ")";
    lines_.push_back("if (!" + left + ".disjoint(" + right + ")" + gaps + ") return 0;");
  }
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
