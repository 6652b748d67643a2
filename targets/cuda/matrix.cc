#include "targets/cuda/matrix.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/trips.h"
#include "targets/cuda/line.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

// Iterations of the sum that the unit takes at a time, and those of a single access of a lane.
constexpr std::int64_t most_depth = 8, lane_depth = 4;

bool uses_any(const ScalarExpr& code, const std::vector<std::string>& symbols) {
  bool uses = false;
  code.visit([&](const ScalarExpr& e) {
    for (const std::string& symbol : symbols) uses = uses || (e.op == ScalarOp::symbolic && e.symbolic.uses(symbol));
  });
  return uses;
}

// The only node of a region.
template <class T>
const T* only(const sdfg::Region& region) {
  return region.nodes.size() == 1 ? std::get_if<T>(&region.nodes[0].value) : nullptr;
}

class Finder {
 public:
  Finder(const sdfg::Sdfg& sdfg, const Meeting& meeting, const Band& band) : sdfg_(sdfg), meeting_(meeting) {
    product_.band = band;
  }

  std::optional<MatrixProduct> find() {
    const auto trips = product_.band.trips();
    if (!trips || *trips != meeting_.threads || meeting_.threads[0] % warp_columns != 0 ||
        meeting_.threads[1] % warp_rows != 0 || meeting_.threads[2] != 1)
      return std::nullopt;
    // A further loop has one iteration: a block's own.
    for (const Loop* l : product_.band.loops) {
      if (dimension_of(*l) == 0) product_.thread_column = l;
      if (dimension_of(*l) == 1) product_.thread_row = l;
    }
    if (product_.thread_row == nullptr || product_.thread_column == nullptr) return std::nullopt;
    if (!loops() || !statement()) return std::nullopt;
    return std::move(product_);
  }

 private:
  bool moves_with_threads(const Expr& e) const {
    return e.uses(product_.thread_row->symbol) || e.uses(product_.thread_column->symbol) || !e.reads().empty();
  }

  static bool is_plain(const Loop& l) { return l.step == 1 && l.privates.empty() && l.reductions.empty(); }

  // Down to the statement.
  bool loops() {
    const sdfg::Region* inside = product_.band.body;
    const std::vector<std::string> threads{product_.thread_row->symbol, product_.thread_column->symbol};
    while (const auto* branch = only<sdfg::If>(*inside)) {
      if (!branch->else_body.nodes.empty() || !branch->condition.inputs.empty() ||
          uses_any(branch->condition.code, threads))
        return false;
      product_.conditions.push_back(branch);
      inside = &branch->then_body;
    }
    product_.sum = only<Loop>(*inside);
    const Loop* outer = product_.sum != nullptr ? only<Loop>(product_.sum->body) : nullptr;
    const Loop* inner = outer != nullptr ? only<Loop>(outer->body) : nullptr;
    if (inner == nullptr || !is_plain(*product_.sum) ||
        !std::holds_alternative<sdfg::Sequential>(product_.sum->schedule))
      return false;
    if (moves_with_threads(product_.sum->begin) || moves_with_threads(product_.sum->end)) return false;
    for (const Loop* l : {outer, inner}) {
      if (!is_plain(*l)) return false;
      const bool is_row = l->begin == Expr::symbol(product_.thread_row->symbol);
      if (!is_row && l->begin != Expr::symbol(product_.thread_column->symbol)) return false;
      const auto extent = (l->end - l->begin).constant();
      if (!extent || *extent < 1) return false;
      (is_row ? product_.row : product_.column) = l;
      (is_row ? product_.tall : product_.broad) = *extent;
    }
    return product_.row != nullptr && product_.column != nullptr && product_.broad % 2 == 0;
  }

  bool statement() {
    const Loop* inner = only<Loop>(only<Loop>(product_.sum->body)->body);
    const auto* state = only<sdfg::State>(inner->body);
    const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    if (!assignment || assignment->code.type != sdfg::ElementType::f64) return false;
    product_.inputs = assignment->inputs;
    product_.result = assignment->out.container;
    const sdfg::Container& result = *sdfg_.find(product_.result);
    const std::vector<Expr> place{Expr::symbol(product_.row->symbol) - product_.row->begin,
                                  Expr::symbol(product_.column->symbol) - product_.column->begin};
    if (!meeting_.own.contains(product_.result) || result.type != sdfg::ElementType::f64 ||
        result.shape != std::vector{Expr(product_.tall), Expr(product_.broad)} || assignment->out.subset != place)
      return false;
    if (assignment->out.combine)
      return *assignment->out.combine == sdfg::ReductionOp::sum && factors(assignment->code, false);
    const auto is_result = [&](const ScalarExpr& e) {
      if (e.op != ScalarOp::input) return false;
      const Memlet& m = product_.inputs[static_cast<std::size_t>(e.input)];
      return m.container == product_.result && m.subset == assignment->out.subset;
    };
    const ScalarExpr& code = assignment->code;
    if (code.op == ScalarOp::sub) return is_result(code.args[0]) && factors(code.args[1], true);
    if (code.op != ScalarOp::add) return false;
    const std::size_t which = is_result(code.args[0]) ? 1 : 0;
    return is_result(code.args[1 - which]) && factors(code.args[which], false);
  }

  // What compilers make one operation with a sum: a product, or one with its sign changed.
  bool factors(const ScalarExpr& e, bool minus) {
    const bool negated = e.op == ScalarOp::neg;
    const ScalarExpr& product = negated ? e.args[0] : e;
    if (product.op != ScalarOp::mul || product.type != sdfg::ElementType::f64) return false;
    product_.minus = minus != negated;
    for (const std::size_t k : {0, 1}) {
      product_.of_row = product.args[k];
      product_.of_column = product.args[1 - k];
      if (is_of(product_.of_row, {product_.thread_column->symbol, product_.column->symbol}) &&
          is_of(product_.of_column, {product_.thread_row->symbol, product_.row->symbol}))
        return true;
    }
    return false;
  }

  // Whether the value is the same whatever these symbols are, and every thread of the block may compute it: what moves
  // lies in memory that they share, which has a place for each of them even where the nest has no iteration.
  bool is_of(const ScalarExpr& factor, const std::vector<std::string>& others) const {
    bool well = !uses_any(factor, others);
    factor.visit([&](const ScalarExpr& e) {
      if (e.op != ScalarOp::input) return;
      const Memlet& m = product_.inputs[static_cast<std::size_t>(e.input)];
      const bool shared = sdfg_.find(m.container)->storage == sdfg::Storage::device_shared;
      well = well && m.container != product_.result && !meeting_.own.contains(m.container);
      for (const sdfg::Expr& d : m.subset) {
        well = well && d.reads().empty();
        for (const std::string& other : others) well = well && !d.uses(other);
        for (const Loop* l : {product_.thread_row, product_.thread_column, product_.row, product_.column, product_.sum})
          well = well && (shared || !d.uses(l->symbol));
      }
    });
    return well;
  }

  const sdfg::Sdfg& sdfg_;
  const Meeting& meeting_;
  MatrixProduct product_;
};

class ProductPrinter {
 public:
  ProductPrinter(Printer& printer, const MatrixProduct& product, const std::string& thread)
      : printer_(printer), product_(product), names_(printer.expressions.names()), thread_(thread) {
    const auto trips = (product.sum->end - product.sum->begin).constant();
    depth_ = trips && *trips % most_depth != 0 && *trips % lane_depth == 0 ? lane_depth : most_depth;
    whole_ = trips && *trips % depth_ == 0;
  }

  // `other_column`: the first column of the thread whose columns this one brings.
  void run(const std::string& other_column) {
    Lines& out = printer_.out;
    for (const sdfg::If* branch : product_.conditions)
      out.open("if (" + printer_.condition(branch->condition).text + ")");
    const std::string k = names_.of(first_), end = printer_.bound(product_.sum->end, k + "_end");
    const std::string x = names_.fresh("of_rows"), y = names_.fresh("of_columns");
    out.line("const int64_t " + names_.of(lane_) + " = " + thread_ + " % 4, " + names_.of(odd_) + " = " + thread_ +
             " / 4 % 2;");
    out.line("const int64_t " + names_.of(other_) + " = " + other_column + ";");
    if (whole_) out.line("SOUS_UNROLLED");
    const std::string depth = std::to_string(depth_), steps = std::to_string(depth_ / lane_depth);
    out.open("for (int64_t " + k + " = " + printer_.expressions.index(product_.sum->begin).text + "; " + k + " + " +
             depth + " <= " + end + "; " + k + " += " + depth + ")");
    out.line("double " + x + "[" + std::to_string(product_.tall) + "][" + steps + "], " + y + "[" +
             std::to_string(product_.broad / 2) + "][" + steps + "];");
    for (std::int64_t step = 0; step < depth_ / lane_depth; ++step) {
      const Expr at = Expr::symbol(first_) + Expr::symbol(lane_) + Expr(step * lane_depth);
      const auto place = [&](std::int64_t n) { return "[" + std::to_string(n) + "][" + std::to_string(step) + "] = "; };
      for (std::int64_t n = 0; n < product_.tall; ++n) {
        const Text value = factor(product_.of_row,
                                  {{product_.row->symbol, product_.row->begin + Expr(n)}, {product_.sum->symbol, at}});
        out.line(x + place(n) + (product_.minus ? "-" + value.in(Binding::Primary) : value.text) + ";");
      }
      for (std::int64_t n = 0; n < product_.broad / 2; ++n)
        out.line(y + place(n) +
                 factor(product_.of_column,
                        {{product_.column->symbol, Expr::symbol(other_) + Expr::symbol(odd_) + Expr(2 * n)},
                         {product_.thread_column->symbol, Expr::symbol(other_)},
                         {product_.sum->symbol, at}})
                     .text +
                 ";");
    }
    out.line("sous::gpu::multiply_add<" + std::to_string(product_.tall) + ", " + std::to_string(product_.broad) + ", " +
             depth + ">(" + printer_.expressions.use(product_.result) + ", " + x + ", " + y + ");");
    out.close();
    if (!whole_ && !planted(Fault::gpu_matrix_rest_lost)) rest();
    for ([[maybe_unused]] const sdfg::If* branch : product_.conditions) out.close();
  }

 private:
  Text factor(const ScalarExpr& code, const std::map<std::string, Expr>& at) const {
    std::vector<Text> texts;
    for (Memlet m : product_.inputs) {
      for (sdfg::Expr& d : m.subset) d = d.substitute(at);
      const bool is_read = m.container != product_.result;
      texts.push_back(is_read ? printer_.expressions.element(m) : Text{});
    }
    return printer_.expressions.scalar(code.substitute(at), texts);
  }

  // What is too short for the unit.
  void rest() {
    Loop loop = *product_.sum;
    loop.begin = loop.begin + Expr(depth_) * Expr::floor_div(Expr::max(loop.end - loop.begin, 0), depth_);
    printer_.node(sdfg::Node(loop));
  }

  Printer& printer_;
  const MatrixProduct& product_;
  Names& names_;
  const std::string thread_;
  // Symbols of what is printed alone: a name of the graph holds no dot.
  const std::string first_ = product_.sum->symbol + ".first", lane_ = product_.sum->symbol + ".lane",
                    odd_ = product_.column->symbol + ".odd", other_ = product_.thread_column->symbol + ".other";
  std::int64_t depth_ = most_depth;
  bool whole_ = false;  // there is no rest
};

}  // namespace

std::optional<MatrixProduct> matrix_product(const sdfg::Sdfg& sdfg, const Meeting& meeting, const Band& band,
                                            bool contracts) {
  return contracts ? Finder(sdfg, meeting, band).find() : std::nullopt;
}

bool has_matrix_product(const sdfg::Sdfg& sdfg, const Meeting& meeting, bool contracts) {
  bool found = false;
  for (const sdfg::Node& n : meeting.body->nodes)
    sdfg::visit(sdfg::Region{{n}}, [&](const sdfg::Node& inner) {
      const auto* loop = std::get_if<Loop>(&inner.value);
      if (loop != nullptr && is_thread(*loop))
        found = found || matrix_product(sdfg, meeting, band_of(*loop), contracts).has_value();
    });
  return found;
}

void print_matrix_product(Printer& printer, const MatrixProduct& product, const std::string& thread,
                          const std::function<std::string(const Loop&, const std::string& thread)>& place) {
  // The unit's columns are those of four threads' tiles, two of each at a time: lane l brings one for thread l / 8.
  const std::string other =
      planted(Fault::gpu_matrix_columns_confused) ? thread : thread + " / 32 * 32 + " + thread + " % 32 / 8";
  const Loop& column = *product.thread_column;
  print_each(
      printer, product.band, [&](const Loop& l) { return place(l, thread); },
      [&] {
        ProductPrinter(printer, product, thread)
            .run(printer.expressions.index(column.begin).in(Binding::Sum) + " + " + place(column, "(" + other + ")") +
                 (column.step == 1 ? "" : " * " + std::to_string(column.step)));
      },
      true);
}

}  // namespace sous::targets
