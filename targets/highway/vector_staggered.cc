// Rows that advance together, each behind the one before (sdfg/carried_columns.h): what columns have made stays in
// vectors, a square of as many columns as there are rows is turned in registers and stored by rows.
#include <algorithm>
#include <ranges>

#include "sdfg/planted_fault.h"
#include "targets/highway/vector_loop.h"
#include "targets/openmp/reductions.h"

namespace sous::targets {

// What the rows before have made; the first one's is that of the row before all others.
std::string VectorLoop::row_before(const std::string& vector, const sdfg::Memlet& read) {
  const sdfg::ElementType type = expressions_.container(read.container).type;
  const std::string d = tag(type);
  const std::string first = mask_.empty() ? "hn::Set(" + d + ", " + expressions_.element(read).text + ")"
                                          : "sous::load(" + d + ", hn::And(hn::FirstN(" + d + ", 1), " + active(type) +
                                                "), " + pointer(read, true) + ")";
  return "sous::one_lane_on(" + d + ", " + vector + ", " + first + ")";
}

// What a column before this one made, out of its vector, or what this one has by now.
std::optional<Value> VectorLoop::carried(const sdfg::Memlet& read) {
  const sdfg::ElementType type = expressions_.container(read.container).type;
  for (const CarriedVectors& c : passed_reads_)
    if (c.made && c.of.place == read) return vector_value(c.names[0], type);
  const auto found = carried_.find(read.container);
  if (found == carried_.end()) return std::nullopt;
  const auto& [of, names, tile, made] = found->second;
  if (made && read.subset == of.place.subset) return vector_value(names[0], type);
  const auto from = sdfg::behind(of.place, read, loop_.symbol, columns_->symbol);
  if (!from) return std::nullopt;
  const std::string& vector = names[static_cast<std::size_t>(from->columns)];
  if (from->rows == 0 || planted(Fault::lanes_read_their_own)) return vector_value(vector, type);
  const std::string name = names_.fresh(names_.of(read.container) + "_v");
  printer_.out.line("const auto " + name + " = " + row_before(vector, read) + ";");
  return vector_value(name, type);
}

bool VectorLoop::is_passed(const sdfg::Memlet& read) const {
  return std::ranges::any_of(passed_reads_, [&](const CarriedVectors& c) { return c.of.place == read; });
}

bool VectorLoop::is_ahead(const sdfg::Memlet& read) const {
  const auto found = carried_.find(read.container);
  return found != carried_.end() && !sdfg::behind(found->second.of.place, read, loop_.symbol, columns_->symbol);
}

// What the iterations of a column have before they write it.
void VectorLoop::begin_column(CarriedVectors& c) {
  using Kind = sdfg::CarriedElement::Kind;
  const std::string d = tag(expressions_.container(c.of.place.container).type);
  const std::string before = c.of.kind == Kind::Own   ? "hn::Zero(" + d + ")"
                             : c.of.kind == Kind::Row ? c.names[1]
                                                      : row_before(c.names.back(), c.of.place);
  printer_.out.line("auto " + c.names[0] + " = " + before + ";");
  c.made = c.of.kind != Kind::Own;
}

// What they have written: of what is handed on from row to row, memory gets the last row's.
void VectorLoop::end_column(const CarriedVectors& c, const std::string& at, const std::string& lanes) {
  using Kind = sdfg::CarriedElement::Kind;
  Lines& out = printer_.out;
  const std::string d = tag(expressions_.container(c.of.place.container).type);
  const bool changes = carried_.contains(c.of.place.container);
  if (c.of.kind == Kind::Passed && changes && !planted(Fault::last_row_lost)) {
    const std::string to = pointer(c.of.place, false) + " + (" + lanes + " - 1) * (" +
                           expressions_.index(access(c.of.place).stride).text + ")";
    const std::string last = "sous::last_lane(" + d + ", " + c.names[0] + ")";
    out.line(c.of.always ? "*(" + to + ") = " + last + ";" : "sous::store_changed(" + to + ", " + last + ");");
  }
  for (auto k = static_cast<std::size_t>(c.of.columns); k > 0; --k) out.line(c.names[k] + " = " + c.names[k - 1] + ";");
  if (c.of.kind == Kind::Own)
    out.line(c.tile + "[" + in_tile(c.of.place, columns_->symbol, at) + "] = " + c.names[0] + ";");
}

// Behind the last square, of what is handed on: the columns before `block` may still be looked at.
void VectorLoop::fill_memory(const std::string& block) {
  for (const auto& [container, c] : carried_) {
    if (c.of.kind == sdfg::CarriedElement::Kind::Own) continue;
    const std::string d = tag(expressions_.container(container).type);
    for (int k = c.of.columns; k > 0; --k) {
      expressions_.symbols[columns_->symbol] = {block + " - " + std::to_string(k), Binding::Sum};
      printer_.out.line(std::string(c.of.always ? "sous::store_strided(" : "sous::store_changed(") + d + ", " +
                        c.names[static_cast<std::size_t>(k)] + ", " + pointer(c.of.place, false) + ", " +
                        expressions_.index(access(c.of.place).stride).text + ");");
    }
  }
  expressions_.symbols.erase(columns_->symbol);
}

// One square: its iterations, then what they wrote.
void VectorLoop::print_square(const std::string& column, const std::string& first, const std::string& lanes) {
  Lines& out = printer_.out;
  const auto tag_of = [&](const CarriedVectors& c) { return tag(expressions_.container(c.of.place.container).type); };
  const auto is_own = [](const auto& entry) { return entry.second.of.kind == sdfg::CarriedElement::Kind::Own; };
  for (const auto& [container, c] : carried_ | std::views::filter(is_own))
    out.line("hn::Vec<decltype(" + tag_of(c) + ")> " + c.tile + "[hn::MaxLanes(" + mask_tag() + ")];");
  const std::string at = names_.fresh(column + "_at");
  const auto outside = transposed_;
  load_transposed(transposable(loop_.body, columns_->symbol), columns_->symbol, first, at);
  out.open("for (int64_t " + at + " = 0; " + at + " < " + lanes + "; ++" + at + ")");
  out.line("[[maybe_unused]] const int64_t " + column + " = " + first + " + " + at + ";");
  for (auto& entry : carried_) begin_column(entry.second);
  for (CarriedVectors& read : passed_reads_) begin_column(read);
  pass();
  for (const auto& entry : carried_) end_column(entry.second, at, lanes);
  for (CarriedVectors& read : passed_reads_) {
    end_column(read, at, lanes);
    read.made = false;
  }
  out.close();
  transposed_ = outside;
  for (const auto& [container, c] : carried_ | std::views::filter(is_own)) {
    expressions_.symbols[columns_->symbol] = first_in_tile(c.of.place, columns_->symbol, first);
    out.line("sous::store_transposed(" + tag_of(c) + ", " + c.tile + ", " + pointer(c.of.place, false) + ", " +
             expressions_.index(access(c.of.place).stride).text + ");");
  }
  expressions_.symbols.erase(columns_->symbol);
}

VectorLoop::CarriedVectors VectorLoop::vectors_of(const sdfg::CarriedElement& of) {
  CarriedVectors c{.of = of, .names = {}, .tile = {}};
  const std::string name = names_.of(of.place.container);
  for (int k = 0; k <= of.columns; ++k) c.names.push_back(names_.fresh(name + (k == 0 ? "_now" : "_before")));
  if (of.kind == sdfg::CarriedElement::Kind::Own) c.tile = names_.fresh(name + "_tile");
  return c;
}

// What the columns before `block` have left in memory.
void VectorLoop::load_history(const CarriedVectors& c, const std::string& block) {
  const std::string d = tag(expressions_.container(c.of.place.container).type);
  for (int k = 1; k <= c.of.columns; ++k) {
    expressions_.symbols[columns_->symbol] = {block + " - " + std::to_string(k), Binding::Sum};
    printer_.out.line("auto " + c.names[static_cast<std::size_t>(k)] + " = sous::load_strided(" + d + ", " +
                      pointer(c.of.place, true) + ", " + expressions_.index(access(c.of.place).stride).text + ");");
  }
}

void VectorLoop::print_staggered() {
  const auto carried = sdfg::carried_columns(expressions_.sdfg(), *columns_);
  if (!carried) return fail("memory would have to change from column to column");
  Lines& out = printer_.out;
  const Lines saved = out;
  const std::string column = names_.of(columns_->symbol);
  const std::string block = names_.fresh(column + "_block");
  const std::string end = names_.fresh(column + "_end"), until = names_.fresh(column + "_until"),
                    lanes = names_.fresh("lanes"), together = names_.fresh("together");
  expressions_.enter(*columns_);
  if (widest_) tag(*widest_);
  int filled = 0;  // iterations after which memory has all that vectors must hold
  for (const auto& [container, of] : *carried) {
    carried_.emplace(container, vectors_of(of));
    filled = std::max(filled, of.columns);
  }
  for (const sdfg::CarriedElement& of : sdfg::passed_reads(expressions_.sdfg(), *columns_)) {
    if (expressions_.container(of.place.container).type == sdfg::ElementType::boolean) continue;
    if (of.kind == sdfg::CarriedElement::Kind::Passed && access(of.place).kind != Access::Kind::Strided) continue;
    passed_reads_.push_back(vectors_of(of));
    filled = std::max(filled, of.columns);
  }
  const int depth = saved.depth() + 3;
  before_ = out.elsewhere(depth);
  out = out.elsewhere(depth);
  const Names common = names_;
  const auto plain = printed(depth, [&] { printer_.plain_loop(loop_); });
  names_ = common;
  expressions_.enter(loop_);
  const std::string start = printed(depth, [&] { prepare_accumulators(); });
  const std::string square = printed(depth + 1, [&] { print_square(column, block, lanes); });
  const std::string finish = printed(depth, [&] {
    fill_memory(block);
    finish_accumulators();
  });
  const std::string history = printed(depth, [&] {
    for (const auto& entry : carried_) load_history(entry.second, block);
    for (const CarriedVectors& read : passed_reads_) load_history(read, block);
    expressions_.symbols.erase(columns_->symbol);
  });
  expressions_.leave(loop_);
  out = saved;
  if (!failure && widest_) {
    out.open("");
    for (const std::string& tag : tags()) out.line(tag);
    out.line("const int64_t " + lanes + " = static_cast<int64_t>(hn::Lanes(" + mask_tag() + "));");
    out.line("const int64_t " + end + " = " + expressions_.index(columns_->end).text + ";");
    out.line("int64_t " + block + " = " + expressions_.index(columns_->begin).text + ";");
    out.line(
        "// Squares of as many rows as there are lanes; the first iterations and the last ones go through memory.");
    out.line("const bool " + together + " = " + expressions_.index(loop_.end - loop_.begin).text + " == " + lanes +
             " && " + end + " - " + block + " >= " + lanes + " + " + std::to_string(filled) + ";");
    out.open("for (int64_t " + until + " = " + together + " ? " + block + " + " + std::to_string(filled) + " : " + end +
             ";; " + until + " = " + end + ")");
    out.open("for (; " + block + " < " + until + "; ++" + block + ")");
    out.line("const int64_t " + column + " = " + block + ";");
    out.append(plain);
    out.close();
    out.line("if (" + block + " >= " + end + ") break;");
    out.open("");
    out.line("const int64_t " + index_ + " = " + expressions_.index(loop_.begin).text + ";");
    out.append(before_.text());
    out.append(start);
    out.append(history);
    out.open("for (; " + block + " + " + lanes + " <= " + end + "; " + block + " += " + lanes + ")");
    out.append(square);
    out.close();
    out.append(finish);
    out.close();
    out.close();
    out.close();
  }
  expressions_.leave(*columns_);
}

bool print_staggered_loop(Printer& printer, const sdfg::Loop& columns) {
  const sdfg::Loop* rows = sdfg::lanes_in(columns);
  return rows != nullptr && !print_vectors(printer, *rows, &columns);
}

}  // namespace sous::targets
