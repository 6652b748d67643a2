// Rows that advance together, each behind the one before (sdfg/carried_columns.h): what columns have made stays in
// vectors, a square of as many columns as there are rows is turned in registers and stored by rows.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "targets/highway/vector_loop.h"
#include "targets/openmp/reductions.h"

namespace sous::targets {

// What a column before this one made, out of its vector; the first lane's may be of the row before all others.
std::optional<Value> VectorLoop::carried(const sdfg::Memlet& read) {
  const auto found = carried_.find(read.container);
  if (found == carried_.end()) return std::nullopt;
  const auto& [of, names, tile, made] = found->second;
  const sdfg::ElementType type = expressions_.container(read.container).type;
  if (made && read.subset == of.place.subset) return vector_value(names[0], type);
  const auto from = sdfg::behind(of.place, read, loop_.symbol, columns_->symbol);
  if (!from) return std::nullopt;
  const std::string& vector = names[static_cast<std::size_t>(from->columns)];
  if (from->rows == 0 || planted(Fault::lanes_read_their_own)) return vector_value(vector, type);
  const std::string d = tag(type);
  const std::string first = mask_.empty() ? "hn::Set(" + d + ", " + expressions_.element(read).text + ")"
                                          : "sous::load(" + d + ", hn::And(hn::FirstN(" + d + ", 1), " + active(type) +
                                                "), " + pointer(read, true) + ")";
  const std::string name = names_.fresh(names_.of(read.container) + "_v");
  printer_.out.line("const auto " + name + " = sous::one_lane_on(" + d + ", " + vector + ", " + first + ");");
  return vector_value(name, type);
}

bool VectorLoop::is_ahead(const sdfg::Memlet& read) const {
  const auto found = carried_.find(read.container);
  return found != carried_.end() && !sdfg::behind(found->second.of.place, read, loop_.symbol, columns_->symbol);
}

// One square: its iterations, then what they wrote.
void VectorLoop::print_square(const std::string& column, const std::string& first, const std::string& lanes) {
  Lines& out = printer_.out;
  const auto tag_of = [&](const CarriedVectors& c) { return tag(expressions_.container(c.of.place.container).type); };
  for (const auto& [container, c] : carried_)
    out.line("hn::Vec<decltype(" + tag_of(c) + ")> " + c.tile + "[hn::MaxLanes(" + mask_tag() + ")];");
  const std::string at = names_.fresh(column + "_at");
  const auto outside = transposed_;
  load_transposed(transposable(loop_.body, columns_->symbol), columns_->symbol, first, at);
  out.open("for (int64_t " + at + " = 0; " + at + " < " + lanes + "; ++" + at + ")");
  out.line("[[maybe_unused]] const int64_t " + column + " = " + first + " + " + at + ";");
  for (auto& [container, c] : carried_) {
    out.line("auto " + c.names[0] + " = hn::Zero(" + tag_of(c) + ");");
    c.made = false;
  }
  pass();
  for (const auto& [container, c] : carried_) {
    for (auto k = static_cast<std::size_t>(c.of.columns); k > 0; --k)
      out.line(c.names[k] + " = " + c.names[k - 1] + ";");
    out.line(c.tile + "[" + in_tile(c.of.place, columns_->symbol, at) + "] = " + c.names[0] + ";");
  }
  out.close();
  transposed_ = outside;
  for (const auto& [container, c] : carried_) {
    expressions_.symbols[columns_->symbol] = first_in_tile(c.of.place, columns_->symbol, first);
    out.line("sous::store_transposed(" + tag_of(c) + ", " + c.tile + ", " + pointer(c.of.place, false) + ", " +
             expressions_.index(access(c.of.place).stride).text + ");");
  }
  expressions_.symbols.erase(columns_->symbol);
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
    CarriedVectors& c = carried_[container];
    c.of = of;
    const std::string name = names_.of(container);
    for (int k = 0; k <= c.of.columns; ++k) c.names.push_back(names_.fresh(name + (k == 0 ? "_now" : "_before")));
    c.tile = names_.fresh(name + "_tile");
    filled = std::max(filled, c.of.columns);
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
  const std::string finish = printed(depth, [&] { finish_accumulators(); });
  const std::string history = printed(depth, [&] {
    for (const auto& [container, c] : carried_)
      for (int k = 1; k <= c.of.columns; ++k) {
        expressions_.symbols[columns_->symbol] = {block + " - " + std::to_string(k), Binding::Sum};
        const std::string d = tag(expressions_.container(container).type);
        printer_.out.line("auto " + c.names[static_cast<std::size_t>(k)] + " = sous::load_strided(" + d + ", " +
                          pointer(c.of.place, true) + ", " + expressions_.index(access(c.of.place).stride).text + ");");
      }
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
