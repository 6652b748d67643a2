#include "sdfg/dot.h"

#include "sdfg/picture.h"
#include "sdfg/text_internal.h"

namespace sous::sdfg {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c >= ' ' && c <= '~' ? c : '?';
  }
  return result + '"';
}

class DotPrinter {
 public:
  std::string run(const Sdfg& sdfg) {
    line("digraph " + quoted(sdfg.name) + " {");
    ++indent_;
    line("compound=true; rankdir=TB; fontname=\"Helvetica\";");
    line("node [fontname=\"Helvetica\", fontsize=11]; edge [fontname=\"Helvetica\", fontsize=9];");
    line("label=" + quoted(declarations_text(sdfg)) + "; labelloc=t; labeljust=l;");
    context_ = &sdfg;
    region(sdfg.root);
    --indent_;
    line("}");
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += std::string(static_cast<std::size_t>(2 * indent_), ' ') + text + "\n"; }

  // Boxes follow each other: an invisible edge between a node of each keeps them in order.
  void follow(const std::string& node) {
    if (!last_.empty()) line(last_ + " -> " + node + " [style=invis];");
    last_ = node;
  }

  template <class Body>
  void cluster(const std::string& label, const std::string& style, Body&& body) {
    line("subgraph cluster_" + std::to_string(clusters_++) + " {");
    ++indent_;
    line("label=" + quoted(label) + "; labeljust=l; " + style);
    body();
    --indent_;
    line("}");
  }

  // A box needs a node to be drawn at all.
  void anchor() {
    const std::string name = "a" + std::to_string(nodes_++);
    line(name + " [shape=point, style=invis];");
    follow(name);
  }

  void boxed(const std::string& label, const std::string& color, const Region& r) {
    cluster(label, "style=rounded; color=" + color + ";", [&] {
      if (r.nodes.empty()) anchor();
      region(r);
    });
  }

  void loop(const Loop& l) {
    const LoopColors colors = colors_of(l.schedule);
    const std::string edge = quoted(std::string(colors.edge));
    if (std::holds_alternative<Sequential>(l.schedule)) return boxed(loop_text(l), edge, l.body);
    const std::string style = "style=\"rounded,filled\"; fillcolor=" + quoted(std::string(colors.fill));
    cluster(loop_text(l), style + "; color=" + edge + ";", [&] {
      if (l.body.nodes.empty()) anchor();
      region(l.body);
    });
  }

  void region(const Region& r) {
    for (const Node& n : r.nodes)
      match(
          n.value, [&](const State& s) { state(s); }, [&](const Loop& l) { loop(l); },
          [&](const If& i) {
            boxed("if " + condition_text(i.condition, *context_), "\"#b7791f\"", i.then_body);
            if (!i.else_body.nodes.empty()) boxed("else", "\"#b7791f\"", i.else_body);
          },
          [&](const While& w) {
            const std::string test = condition_text(w.condition, *context_);
            boxed(w.test_first ? "while " + test : "do while " + test, "\"#6b46c1\"", w.body);
          });
  }

  void state(const State& s) {
    cluster(s.name, "style=\"rounded,filled\"; fillcolor=\"#f7fafc\"; color=\"#a0aec0\";", [&] {
      if (s.nodes.empty()) return anchor();
      const std::string prefix = "a" + std::to_string(nodes_++) + "_";
      auto name = [&](int k) { return prefix + std::to_string(k); };
      for (int k = 0; k < static_cast<int>(s.nodes.size()); ++k) {
        const DataflowNode& n = s.nodes[static_cast<std::size_t>(k)];
        line(name(k) + " [label=" + quoted(picture_label(n)) +
             (std::holds_alternative<AccessNode>(n) ? ", shape=ellipse" : ", shape=box") + "];");
      }
      for (const Edge& e : s.edges)
        line(name(e.source) + " -> " + name(e.target) + " [label=" + quoted(picture_label(e)) + "];");
      follow(name(0));
    });
  }

  const Sdfg* context_ = nullptr;
  std::string out_, last_;
  int indent_ = 0, clusters_ = 0, nodes_ = 0;
};

}  // namespace

std::string picture_label(const DataflowNode& node) {
  const auto* access = std::get_if<AccessNode>(&node);
  if (access) return access->container;
  const std::string text = dataflow_text(node);
  // "tasklet (a: f64) a * 2.0": the code says it all.
  constexpr std::string_view head = "tasklet (";
  return text.starts_with(head) ? text.substr(text.find(") ") + 2) : text;
}

std::string picture_label(const Edge& edge) { return edge.connector + ": " + memlet_text(edge.memlet); }

LoopColors colors_of(const Schedule& schedule) {
  return match(
      schedule, [](const Sequential&) { return LoopColors{"#2b6cb0", "#ffffff"}; },
      [](const Parallel&) { return LoopColors{"#c05621", "#fffaf0"}; },
      [](const Simd&) { return LoopColors{"#2f855a", "#f0fff4"}; },
      [](const Unroll&) { return LoopColors{"#97266d", "#fff5f7"}; },
      [](const GpuGrid&) { return LoopColors{"#b83280", "#fff5f7"}; },
      [](const GpuBlock&) { return LoopColors{"#b83280", "#fff5f7"}; });
}

std::string declarations_text(const Sdfg& sdfg) {
  std::string text = sdfg.name;
  for (const Container& c : sdfg.containers) {
    text += "\n" + c.name + ": " + std::string(info(c.type).name);
    if (c.shape.empty()) continue;
    text += "[";
    for (std::size_t d = 0; d < c.shape.size(); ++d) text += (d ? ", " : "") + expr_text(c.shape[d]);
    text += "]";
  }
  return text;
}

std::string to_dot(const Sdfg& sdfg) { return DotPrinter().run(sdfg); }

}  // namespace sous::sdfg
