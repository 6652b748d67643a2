#include "targets/cpp/inspection.h"

#include <algorithm>

#include "sdfg/planted_fault.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Reach;
using sdfg::Visits;

std::string key(const Visits& visits) {
  std::string result = visits.value.to_string();
  for (const Visits::Loop& loop : visits.loops)
    result += "; " + loop.symbol + " " + loop.begin.to_string() + " " + loop.end.to_string() +
              (loop.unless_negative ? " unless negative" : "");
  return result;
}

}  // namespace

std::string Inspection::hull(const Visits& visits) {
  const auto known = visited_.find(key(visits));
  if (known != visited_.end()) return known->second;
  const auto index = [&](const Expr& e) { return expressions_.index_ahead(e).text; };
  const std::string result = fresh("at");
  Lines out;
  out.line("sous::Hull " + result + ";");
  // Loops that are gone through stand in the text as loops, the first one as a function for threads; of the others the
  // first and the last iteration count, where there is one.
  std::string into = result;
  std::vector<std::string> closing;
  std::vector<std::pair<std::string, std::string>> ends;  // symbols, and hulls of their values
  Expr rest = visits.value;
  for (const Visits::Loop& loop : visits.loops) {
    const std::string& symbol = expressions_.names().of(loop.symbol);
    const std::string bounds = index(loop.begin) + ", " + index(loop.end) + ", " + std::to_string(loop.step);
    if (loop.unless_negative) {
      out.open("if (" + index(loop.begin) + " >= 0)");
      closing.emplace_back();
    }
    if (!loop.through) {
      const std::string values = fresh(symbol + "_values");
      out.open("if (const sous::Hull " + values + " = sous::Hull::of_loop(" + bounds + "); !" + values + ".empty())");
      closing.emplace_back();
      const Expr factor = coefficient_of(visits.value, loop.symbol).value();
      rest = rest - factor * Expr::symbol(loop.symbol);
      ends.emplace_back(index(factor), values);
    } else if (into == result) {
      into = fresh("own");
      out.open(result + " = sous::iterations(" + threads_ + ", " + bounds + ", [&]([[maybe_unused]] int64_t " + symbol +
               ", sous::Hull& " + into + ")");
      closing.emplace_back(");");
    } else {
      out.open("for (int64_t " + symbol + " = " + index(loop.begin) + "; " + symbol + (loop.step > 0 ? " < " : " > ") +
               index(loop.end) + "; " + symbol + " += " + std::to_string(loop.step) + ")");
      closing.emplace_back();
    }
  }
  std::string sum = "sous::Hull(" + index(rest) + ")";
  for (const auto& [factor, values] : ends) sum += ".plus(" + values + ", " + factor + ")";
  if (closing.empty()) {
    lines_.push_back("const sous::Hull " + result + " = " + sum + ";");
    return visited_.emplace(key(visits), result).first->second;
  }
  out.line(into + ".add(" + sum + ");");
  for (; !closing.empty(); closing.pop_back()) out.close(closing.back());
  std::string_view text = out.text();
  for (std::size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    lines_.emplace_back(text.substr(0, end));
  return visited_.emplace(key(visits), result).first->second;
}

std::string Inspection::values(const std::string& container, const std::vector<const Visits*>& places) {
  // Those of all of them are looked at in one go: they overlap more often than not.
  std::vector<std::string> hulls;
  std::string key = container;
  for (const Visits* visits : places) {
    const std::string one = hull(*visits);
    if (std::ranges::find(hulls, one) != hulls.end()) continue;
    hulls.push_back(one);
    key += " " + one;
  }
  const auto known = read_.find(key);
  if (known != read_.end()) return known->second;
  std::string all = hulls.front();
  if (hulls.size() > 1) {
    all = fresh("at");
    std::string text = "sous::Hull " + all + ";";
    for (const std::string& one : hulls) text += " " + all + ".add(" + one + ");";
    lines_.push_back(text);
  }
  const std::string result = fresh(expressions_.names().of(container) + "_values");
  lines_.push_back("const sous::Hull " + result + " = sous::values(" + threads_ + ", " + expressions_.use(container) +
                   ", " + all + ");");
  return read_.emplace(key, result).first->second;
}

std::string Inspection::hull(const std::vector<Reach>& reaches) {
  std::map<std::string, std::vector<const Visits*>> places;
  for (const Reach& reach : reaches)
    for (const Reach::Element& element : reach.elements) places[element.container].push_back(&element.place);
  std::vector<std::string> sums;
  for (const Reach& reach : reaches) {
    std::string sum = hull(reach.fixed);
    for (const Reach::Element& element : reach.elements)
      sum += ".plus(" + values(element.container, places.at(element.container)) + ", " +
             expressions_.index_ahead(element.factor).text + ")";
    if (std::ranges::find(sums, sum) == sums.end()) sums.push_back(sum);
  }
  const std::string result = fresh("reach");
  std::string text = "sous::Hull " + result + ";";
  for (const std::string& sum : sums) text += " " + result + ".add(" + sum + ");";
  lines_.push_back(text);
  return result;
}

}  // namespace sous::targets
