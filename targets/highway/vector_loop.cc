#include "targets/highway/vector_loop.h"

#include <algorithm>
#include <bit>

#include "sdfg/planted_fault.h"
#include "targets/openmp/parallel.h"

namespace sous::targets {

using sdfg::ElementType;
using sdfg::Expr;

VectorLoop::VectorLoop(Printer& printer, const sdfg::Loop& loop, std::optional<ElementType> widest,
                       const sdfg::Loop* columns)
    : printer_(printer),
      expressions_(printer.expressions),
      names_(printer.expressions.names()),
      loop_(loop),
      columns_(columns),
      widest_(widest),
      lane_(names_.fresh("lane")),
      index_(names_.of(loop.symbol)),
      first_{index_},
      inner_{loop.symbol},
      written_(sdfg::touched(loop.body).written) {
  if (columns != nullptr) inner_.insert(columns->symbol);
  for (const sdfg::Reduction& r : loop.reductions) reductions_.emplace(r.container, r.op);
  sdfg::visit(loop.body, [&](const sdfg::Node& node) {
    if (const auto* l = std::get_if<sdfg::Loop>(&node.value)) inner_.insert(l->symbol);
  });
}

void VectorLoop::fail(const std::string& reason) {
  if (!failure) failure = reason;
}

bool VectorLoop::is_written(const std::string& container) const {
  const sdfg::Container& c = expressions_.container(container);
  return std::ranges::any_of(written_, [&](const std::string& w) {
    return sdfg::may_overlap(expressions_.sdfg(), c, expressions_.container(w));
  });
}

bool VectorLoop::differs(const Expr& e) const {
  if (e.uses(loop_.symbol)) return true;
  return std::ranges::any_of(e.reads(), [&](const std::string& read) { return variables_.contains(read); });
}

bool VectorLoop::is_invariant(const Expr& e) const {
  return std::ranges::none_of(e.symbols(), [&](const std::string& s) { return inner_.contains(s); }) &&
         std::ranges::none_of(e.reads(), [&](const std::string& read) { return is_written(read); });
}

std::string VectorLoop::tag(ElementType type) {
  if (type == ElementType::boolean) {
    type = ElementType::u8;
    need(Vectors::All);
  }
  types.insert(type);
  const auto found = tag_names_.find(type);
  if (found != tag_names_.end()) return found->second;
  return tag_names_.emplace(type, names_.fresh("d_" + std::string(sdfg::info(type).name))).first->second;
}

std::string VectorLoop::mask_tag() { return widest_ ? tag(*widest_) : "d"; }

// Declarations of the tags that the body uses: the widest type fills a register, the others have as many lanes.
std::vector<std::string> VectorLoop::tags() const {
  const int lanes = std::get<sdfg::Simd>(loop_.schedule).lanes;
  const std::string& widest = tag_names_.at(*widest_);
  const std::string cpp(sdfg::info(*widest_).cpp);
  const std::string full =
      lanes > 0 ? "CappedTag<" + cpp + ", " + std::to_string(std::bit_floor(static_cast<unsigned>(lanes))) + "> "
                : "ScalableTag<" + cpp + "> ";
  std::vector<std::string> lines = {"const hn::" + full + widest + ";"};
  for (const auto& [type, name] : tag_names_) {
    if (type == *widest_) continue;
    lines.push_back("const hn::Rebind<" + std::string(sdfg::info(type).cpp) + ", decltype(" + widest + ")> " + name +
                    ";");
  }
  return lines;
}

void VectorLoop::print() {
  Lines& out = printer_.out;
  const Lines saved = out;
  const int depth = saved.depth() + (whole_tile() ? 2 : 1);
  const auto outer_instead = printer_.body_instead;
  printer_.body_instead = [this](const sdfg::Loop& inner) {
    ++nesting_;
    body(inner);
    --nesting_;
  };
  expressions_.enter(loop_);

  before_ = out.elsewhere(depth);
  Parts parts;
  parts.end = names_.fresh(index_ + "_end");
  parts.at = names_.fresh(index_ + "_at");
  parts.lanes = names_.fresh("lanes");
  if (widest_) tag(*widest_);
  if (widest_ && sdfg::info(*widest_).bytes < 4) need(Vectors::All);
  parts.accumulators = printed(depth, [&] { prepare_accumulators(); });
  // The passes are blocks of their own: they use the same names.
  const Names common = names_;
  const auto block = [&](const std::function<void()>& print) {
    names_ = common;
    for (const auto& [text, name] : hoisted_) names_.reserve(name);
    return printed(depth + 1, print);
  };
  if (is_straight() && !accumulators_.empty()) {
    parts.wide = block([&] { wide_pass(parts.lanes); });
    parts.join = printed(depth, [&] { join_accumulators(); });
  }
  parts.main = block([&] { pass(); });
  parts.masked = block([&] {
    parts.rest = mask_ = names_.fresh("rest");
    in_rest_ = true;
    pass();
    in_rest_ = false;
    mask_.clear();
  });
  parts.finish = printed(depth, [&] { finish_accumulators(); });

  out = saved;
  if (!failure && widest_) print_parts(parts);
  expressions_.leave(loop_);
  printer_.body_instead = outer_instead;
}

std::string VectorLoop::printed(int depth, const std::function<void()>& print) {
  printer_.out = printer_.out.elsewhere(depth);
  print();
  return printer_.out.text();
}

void VectorLoop::print_parts(const Parts& parts) {
  const auto whole = whole_tile();
  if (!whole) return print_loops(parts, known_trips());
  if (is_edge(*whole)) return print_edge(parts, *whole);
  Lines& out = printer_.out;
  const std::string whole_end = expressions_.index(loop_.begin + *whole).text;
  const std::string end = planted(Fault::whole_tile_unchecked) ? whole_end : expressions_.index(loop_.end).text;
  out.open("if (" + end + " == " + whole_end + ")");
  print_loops(parts, whole);
  out.otherwise();
  print_loops(parts, std::nullopt);
  out.close();
}

// The number of iterations, where it is a constant above 0. It is then what the loops count, so that compilers see how
// many vectors there are, and keep what the lanes hold in registers: i < n with i = b and n = b + 24 says nothing to
// them where sums may wrap.
std::optional<std::int64_t> VectorLoop::known_trips() const {
  const auto trips =
      loop_.step == 1 && loop_.begin.reads().empty() ? (loop_.end - loop_.begin).constant() : std::nullopt;
  return trips && *trips > 0 ? trips : std::nullopt;
}

// Of a loop over a tile, [b, min(b + 64, n)), the size: most tiles are whole, and a whole one has no loop any more.
std::optional<std::int64_t> VectorLoop::whole_tile() const {
  constexpr std::int64_t most_bytes = 512;  // eight vectors of the widest registers
  if (loop_.step != 1 || !loop_.begin.reads().empty() || !loop_.end.reads().empty() || !is_straight() ||
      known_trips() || !reductions_.empty())
    return std::nullopt;
  std::optional<std::int64_t> size;
  for (const Expr& piece : sdfg::min_pieces(loop_.end))
    if (const auto trips = (piece - loop_.begin).constant(); trips && (!size || *trips < *size)) size = trips;
  if (!size || *size < 1 || *size * sdfg::info(mask_type()).bytes > most_bytes) return std::nullopt;
  return size;
}

// Whether the loop, of so many iterations at most, works on what registers hold, which has room for all of them: of a
// tile that the end of its loops cuts off.
bool VectorLoop::is_edge(std::int64_t size) const {
  bool any = false, all = true;
  for (const sdfg::Node& node : loop_.body.nodes)
    for (const sdfg::Edge& edge : std::get<sdfg::State>(node.value).edges) {
      if (expressions_.container(edge.memlet.container).storage != sdfg::Storage::registers) continue;
      any = true;
      all = all && room(edge.memlet).value_or(0) >= size;
    }
  return any && all;
}

// As many vectors as a whole tile has, each under a mask, so that compilers see how many there are: what the lanes hold
// stays in registers.
void VectorLoop::print_edge(const Parts& parts, std::int64_t size) {
  Lines& out = printer_.out;
  const std::string begin = expressions_.index(loop_.begin).text;
  const std::string end = expressions_.index(loop_.end).text;
  out.open(needs_guard_ ? "if (" + begin + " < " + end + ")" : "");
  for (const std::string& tag : tags()) out.line(tag);
  out.line("const int64_t " + parts.lanes + " = static_cast<int64_t>(hn::Lanes(" + mask_tag() + "));");
  out.line("const int64_t " + parts.end + " = " + end + ";");
  out.append(before_.text());
  out.open("for (int64_t " + parts.at + " = 0; " + parts.at + " < " + std::to_string(size) + "; " + parts.at +
           " += " + parts.lanes + ")");
  out.line("[[maybe_unused]] const int64_t " + index_ + " = " + begin + " + " + parts.at + ";");
  const std::string beyond = planted(Fault::vector_remainder_short) ? " - 1" : "";
  out.line("const auto " + parts.rest + " = hn::FirstN(" + mask_tag() + ", static_cast<size_t>(" + index_ + " < " +
           parts.end + beyond + " ? " + parts.end + beyond + " - " + index_ + " : 0));");
  out.append(parts.masked);
  out.close();
  out.close();
}

void VectorLoop::print_loops(const Parts& parts, std::optional<std::int64_t> trips) {
  Lines& out = printer_.out;
  const std::string begin = expressions_.index(loop_.begin).text;
  const std::string end = expressions_.index(loop_.end).text;
  const std::int64_t step = loop_.step, size = std::abs(step);
  const std::string forward = step > 0 ? " + " : " - ", compare = step > 0 ? " < " : " > ";
  const std::string assign = step > 0 ? " += " : " -= ";
  const bool counted = trips.has_value();
  const std::string at = counted ? parts.at : index_;
  // Whatever was loaded ahead of the loop is loaded only if the loop runs.
  out.open(needs_guard_ && !counted ? "if (" + begin + compare + end + ")" : "");
  for (const std::string& tag : tags()) out.line(tag);
  out.line("const int64_t " + parts.lanes + " = static_cast<int64_t>(hn::Lanes(" + mask_tag() + "));");
  out.line("const int64_t " + parts.end + " = " + (counted ? std::to_string(*trips) : end) + ";");
  out.append(before_.text());
  out.append(parts.accumulators);
  out.line("int64_t " + at + " = " + (counted ? "0" : begin) + ";");
  const auto set_index = [&] {
    if (counted) out.line("[[maybe_unused]] const int64_t " + index_ + " = " + begin + " + " + at + ";");
  };
  // Loops over `vectors` full vectors at a time.
  const auto loop = [&](const std::string& vectors, const std::string& body) {
    const std::string count = vectors.empty() ? parts.lanes : vectors + " * " + parts.lanes;
    const std::string scaled = size == 1 ? count : count + " * " + std::to_string(size);
    const std::string last = step == 1   ? count + " - 1"
                             : size == 1 ? "(" + count + " - 1)"
                                         : "(" + count + " - 1) * " + std::to_string(size);
    const std::string beyond = planted(Fault::vector_runs_past_end) ? " - 1" : "";
    out.open("for (; " + at + forward + last + beyond + compare + parts.end + "; " + at + assign +
             (planted(Fault::vector_step_short) ? count : scaled) + ")");
    set_index();
    out.append(body);
    out.close();
  };
  if (!parts.wide.empty()) loop(std::to_string(wide_copies), parts.wide);
  out.append(parts.join);
  loop("", parts.main);
  // Whether a known number of iterations leaves any is known when the lanes are: no compiler need look at what never
  // runs.
  out.open(counted ? "if constexpr (" + std::to_string(*trips) + " % hn::MaxLanes(" + mask_tag() + ") != 0)"
                   : "if (" + at + compare + parts.end + ")");
  set_index();
  std::string left = step > 0 ? parts.end + " - " + at : at + " - " + parts.end;
  if (size != 1) left = "(" + left + " + " + std::to_string(size - 1) + ") / " + std::to_string(size);
  if (planted(Fault::vector_remainder_short)) left += " - 1";
  out.line("const auto " + parts.rest + " = hn::FirstN(" + mask_tag() + ", static_cast<size_t>(" + left + "));");
  out.append(parts.masked);
  out.close();
  out.append(parts.finish);
  out.close();
}

void VectorLoop::pass() {
  set_first({index_});
  expressions_.ask_again();
  const auto outside = variables_;
  body(loop_);
  variables_ = outside;
}

// Several copies of the body, each with partial results of its own: one addition need not wait for the one before.
void VectorLoop::wide_pass(const std::string& lanes) {
  const auto outside = variables_;
  for (int copy = 0; copy < wide_copies && !failure; ++copy) {
    const std::int64_t vectors = copy * std::abs(loop_.step);
    if (copy > 0) {
      set_first(
          {index_ + (loop_.step > 0 ? " + " : " - ") + (vectors > 1 ? std::to_string(vectors) + " * " : "") + lanes,
           Binding::Sum});
    }
    for (const Accumulator& a : accumulators_) {
      variables_[a.place.container].name = a.names[static_cast<std::size_t>(copy)];
    }
    printer_.out.open("");
    expressions_.ask_again();
    body(loop_);
    printer_.out.close();
  }
  variables_ = outside;
  set_first({index_});
}

void VectorLoop::set_first(const Text& first) {
  first_ = first;
  if (first.text == index_) {
    expressions_.symbols.erase(loop_.symbol);
  } else {
    expressions_.symbols[loop_.symbol] = first;
  }
}

Text VectorLoop::lane_index() const {
  const std::int64_t size = std::abs(loop_.step);
  const std::string offset = size == 1 ? lane_ : lane_ + " * " + std::to_string(size);
  return {first_.text + (loop_.step > 0 ? " + " : " - ") + offset, Binding::Sum};
}

// Only statements: copies of it are short.
bool VectorLoop::is_straight() const {
  return std::ranges::all_of(loop_.body.nodes,
                             [](const sdfg::Node& node) { return std::holds_alternative<sdfg::State>(node.value); });
}

std::optional<std::string> print_vector_loop(Printer& printer, const sdfg::Loop& loop) {
  return print_vectors(printer, loop, nullptr);
}

std::optional<std::string> print_vectors(Printer& printer, const sdfg::Loop& loop, const sdfg::Loop* columns) {
  const auto print = [&](VectorLoop& vectors) { columns != nullptr ? vectors.print_staggered() : vectors.print(); };
  if (std::get<sdfg::Simd>(loop.schedule).lanes == 1) return "one lane";
  // First for the types that it needs, then for good: names come out the same as if there had been one pass.
  const Names names = printer.expressions.names();
  const Lines out = printer.out;
  const std::set<std::string> used = printer.expressions.used();
  VectorLoop first(printer, loop, std::nullopt, columns);
  print(first);
  printer.expressions.names() = names;
  printer.expressions.used() = used;
  printer.out = out;
  if (first.failure) return first.failure;
  if (first.types.empty()) return "nothing in it differs from lane to lane";
  ElementType widest = *first.types.begin();
  for (const ElementType type : first.types) {
    if (sdfg::info(type).bytes >= sdfg::info(widest).bytes) widest = type;
  }
  VectorLoop second(printer, loop, widest, columns);
  print(second);
  // Its names live in its own block: the next loop may have them again.
  printer.expressions.names() = names;
  if (second.failure) {
    printer.out = out;
    printer.expressions.used() = used;
  } else {
    printer.vectors = std::max(printer.vectors, second.vectors);
  }
  return second.failure;
}

}  // namespace sous::targets
