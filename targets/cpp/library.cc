#include "targets/cpp/library.h"

#include <algorithm>

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;

const Memlet* input(const sdfg::State& state, int node, std::string_view connector) {
  for (const sdfg::Edge& edge : state.edges) {
    if (edge.target == node && edge.connector == connector) return &edge.memlet;
  }
  return nullptr;
}

const Memlet& output(const sdfg::State& state, int node) {
  for (const sdfg::Edge& edge : state.edges) {
    if (edge.source == node) return edge.memlet;
  }
  panic(__FILE__, __LINE__, "a library node without output");
}

// Extents of a box, its index dimensions dropped.
std::vector<Expr> extents(const Memlet& memlet) {
  std::vector<Expr> result;
  for (const sdfg::Dim& dim : memlet.subset) {
    if (dim.end) result.push_back(Expr::ceil_div(*dim.end - dim.begin, dim.step));
  }
  return result;
}

class LibraryPrinter {
 public:
  explicit LibraryPrinter(Printer& printer) : printer_(printer) {}

  void gemm(const sdfg::GemmNode& g, const Memlet& a, const Memlet& b, const Memlet* c, const Memlet& out) {
    const Expr i = loop("row", extents(out)[0]), j = loop("column", extents(out)[1]);
    const sdfg::ElementType type = type_of(out);
    const std::string sum = local(type, "sum", "0");
    const Expr k = loop("inner", extents(a)[g.transpose_a ? 0 : 1]);
    const Text left = g.transpose_a ? element(a, {k, i}) : element(a, {i, k});
    const Text right = g.transpose_b ? element(b, {j, k}) : element(b, {k, j});
    line(sum + " = " + sum + " + " + left.in(Binding::Product) + " * " + right.text + ";");
    close(1);
    Text value{sum};
    if (g.alpha != 1) value = {constant(g.alpha, type) + " * " + sum, Binding::Product};
    if (g.beta != 0) {
      const std::string old = element(*c, {i, j}).text;
      value.text += " + " + (g.beta != 1 ? constant(g.beta, type) + " * " + old : old);
    }
    line(element(out, {i, j}).text + " = " + value.text + ";");
    close(2);
  }

  void reduce(const sdfg::ReduceNode& r, const Memlet& in, const Memlet& out) {
    std::vector<Expr> all, kept;
    const std::vector<Expr> sizes = extents(in);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      all.push_back(loop("i", sizes[d]));
      if (std::ranges::find(r.axes, static_cast<int>(d)) == r.axes.end()) kept.push_back(all.back());
    }
    const Text target = element(out, kept);
    line(target.text + " = " + printer_.expressions.combined(r.op, type_of(out), target, element(in, all)).text + ";");
    close(sizes.size());
  }

  void softmax(const Memlet& in, const Memlet& out) {
    std::vector<Expr> row;
    std::vector<Expr> sizes = extents(in);
    const Expr last = sizes.back();
    sizes.pop_back();
    for (const Expr& size : sizes) row.push_back(loop("i", size));
    const sdfg::ElementType type = type_of(out);
    const auto at = [&](const Expr& k) {
      std::vector<Expr> place = row;
      place.push_back(k);
      return place;
    };
    printer_.out.open("if (" + printer_.expressions.index(last).in(Binding::Primary) + " > 0)");
    const std::string largest = local(type, "largest", element(in, at(0)).text);
    Expr k = loop("k", last);
    line(largest + " = " +
         printer_.expressions.combined(sdfg::ReductionOp::max, type, {largest}, element(in, at(k))).text + ";");
    close(1);
    const std::string sum = local(type, "sum", "0");
    k = loop("k", last);
    line(element(out, at(k)).text + " = sous::exp(" + element(in, at(k)).text + " - " + largest + ");");
    line(sum + " = " + sum + " + " + element(out, at(k)).text + ";");
    close(1);
    k = loop("k", last);
    line(element(out, at(k)).text + " = " + element(out, at(k)).text + " / " + sum + ";");
    close(2 + row.size());
  }

  void copy(const Memlet& in, const Memlet& out) {
    std::vector<Expr> place;
    for (const Expr& size : extents(in)) place.push_back(loop("i", size));
    line(element(out, place).text + " = " + element(in, place).text + ";");
    close(place.size());
  }

 private:
  void line(const std::string& text) { printer_.out.line(text); }
  void close(std::size_t loops) {
    for (std::size_t k = 0; k < loops; ++k) printer_.out.close();
  }
  sdfg::ElementType type_of(const Memlet& memlet) { return printer_.expressions.container(memlet.container).type; }
  std::string constant(double value, sdfg::ElementType type) {
    return literal(sdfg::is_float(type) ? ScalarExpr::real(value, type)
                                        : ScalarExpr::integer(static_cast<std::int64_t>(value), type))
        .text;
  }
  std::string local(sdfg::ElementType type, std::string_view name, const std::string& value) {
    const std::string fresh = printer_.expressions.names().fresh(name);
    line(std::string(sdfg::info(type).cpp) + " " + fresh + " = " + value + ";");
    return fresh;
  }
  // Opens a loop from 0 to `size`; its variable, under a name that no symbol of the Sdfg has.
  Expr loop(std::string_view name, const Expr& size) {
    const std::string symbol = "." + std::string(name) + std::to_string(counter_++);
    const std::string variable = printer_.expressions.names().fresh(name);
    printer_.expressions.symbols[symbol] = {variable};
    const std::string end = printer_.bound(size, variable + "_end");
    printer_.out.open("for (int64_t " + variable + " = 0; " + variable + " < " + end + "; ++" + variable + ")");
    return Expr::symbol(symbol);
  }
  Text element(const Memlet& memlet, const std::vector<Expr>& place) {
    std::vector<Expr> subscript;
    std::size_t next = 0;
    for (const sdfg::Dim& dim : memlet.subset) {
      subscript.push_back(dim.end ? dim.begin + place[next++] * Expr(dim.step) : dim.begin);
    }
    return printer_.expressions.element(memlet.container, subscript);
  }

  Printer& printer_;
  int counter_ = 0;
};

}  // namespace

void print_library_node(Printer& printer, const sdfg::State& state, int node, const sdfg::LibraryNode& library) {
  LibraryPrinter print(printer);
  const Memlet& out = output(state, node);
  match(
      library,
      [&](const sdfg::GemmNode& g) {
        print.gemm(g, *input(state, node, "a"), *input(state, node, "b"), input(state, node, "c"), out);
      },
      [&](const sdfg::ReduceNode& r) { print.reduce(r, *input(state, node, "in"), out); },
      [&](const sdfg::SoftmaxNode&) { print.softmax(*input(state, node, "in"), out); },
      [&](const sdfg::CopyNode&) { print.copy(*input(state, node, "in"), out); });
}

std::optional<std::string> unsupported_library_node(const sdfg::Sdfg& sdfg) {
  std::optional<std::string> reason;
  sdfg::visit(sdfg.root, [&](const sdfg::Node& node) {
    const auto* state = std::get_if<sdfg::State>(&node.value);
    if (state == nullptr) return;
    for (const int k : sdfg::execution_order(*state)) {
      const auto* library = std::get_if<sdfg::LibraryNode>(&state->nodes[static_cast<std::size_t>(k)]);
      if (library == nullptr) continue;
      const Memlet& out = output(*state, k);
      for (const sdfg::Edge& edge : state->edges) {
        if (edge.target != k || edge.memlet.container != out.container) continue;
        const bool elementwise = edge.connector == "c" || std::holds_alternative<sdfg::SoftmaxNode>(*library);
        if (!elementwise || edge.memlet.subset != out.subset) {
          reason =
              "a library node in '" + state->name + "' reads and writes '" + out.container + "' at different places";
        }
      }
    }
  });
  return reason;
}

}  // namespace sous::targets
