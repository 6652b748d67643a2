// Two passes: boxes are measured bottom up (a box is as wide as its widest child, as high as all of them together),
// then drawn top down. In a state, nodes lie in layers by their longest path from an input, edges between layers.
#include <algorithm>
#include <map>

#include "sdfg/dot.h"
#include "sdfg/picture.h"
#include "sdfg/text.h"
#include "sdfg/text_internal.h"

namespace sous::sdfg {
namespace {

constexpr int line_height = 18, padding = 10, gap = 8, layer_gap = 44, character = 7;

int text_width(const std::string& text) { return static_cast<int>(text.size()) * character; }

std::string escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c >= ' ' && c <= '~' ? c : '?';
  }
  return result;
}

// What is drawn: a box with a title over other boxes, or over the dataflow of a state.
struct Figure {
  std::vector<std::string> title;  // lines
  std::string color, fill = "#ffffff";
  std::vector<Figure> children = {};
  const State* state = nullptr;
  std::vector<std::vector<int>> layers = {};  // of the state's nodes
  int width = 0, height = 0;
};

int node_width(const State& s, int k) {
  return text_width(picture_label(s.nodes[static_cast<std::size_t>(k)])) + 2 * padding;
}

bool in_range(const State& s, const Edge& e) {
  const int count = static_cast<int>(s.nodes.size());
  return e.source >= 0 && e.target >= 0 && e.source < count && e.target < count;
}

// A cycle (a malformed state) leaves nodes on the layer that they had reached.
std::vector<std::vector<int>> layers_of(const State& s) {
  std::vector<std::size_t> layer(s.nodes.size(), 0);
  for (std::size_t round = 0; round < s.nodes.size(); ++round) {
    bool changed = false;
    for (const Edge& e : s.edges) {
      if (!in_range(s, e)) continue;
      std::size_t& target = layer[static_cast<std::size_t>(e.target)];
      const std::size_t below = layer[static_cast<std::size_t>(e.source)] + 1;
      if (target >= below || below >= s.nodes.size()) continue;
      target = below;
      changed = true;
    }
    if (!changed) break;
  }
  std::vector<std::vector<int>> result;
  for (std::size_t k = 0; k < layer.size(); ++k) {
    if (result.size() <= layer[k]) result.resize(layer[k] + 1);
    result[layer[k]].push_back(static_cast<int>(k));
  }
  return result;
}

// The text in lines of at most so many characters, broken at spaces where there are any.
std::vector<std::string> wrapped(std::string text) {
  constexpr std::size_t widest = 110;
  std::vector<std::string> lines;
  while (text.size() > widest) {
    const auto space = text.rfind(' ', widest);
    const std::size_t end = space == std::string::npos || space < widest / 2 ? widest : space;
    lines.push_back(text.substr(0, end));
    text = "    " + text.substr(text[end] == ' ' ? end + 1 : end);
  }
  lines.push_back(std::move(text));
  return lines;
}

int height_of(const std::vector<std::string>& title) { return line_height * static_cast<int>(title.size()); }
int width_of(const std::vector<std::string>& title) {
  int width = 0;
  for (const std::string& line : title) width = std::max(width, text_width(line));
  return width;
}

constexpr std::string_view state_edge = "#a0aec0", state_fill = "#f7fafc";

// A state as its text: what a picture of many has room for.
Figure text_box(const State& s, const Sdfg& context) {
  Figure box{.title = {}, .color = std::string(state_edge), .fill = std::string(state_fill)};
  const std::string text = print(Region{{Node(s)}}, context);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    for (auto& line : wrapped(text.substr(at, end - at))) box.title.push_back(std::move(line));
    at = end + 1;
  }
  box.width = width_of(box.title) + 2 * padding;
  box.height = height_of(box.title) + padding;
  return box;
}

Figure state_box(const State& s) {
  Figure box{.title = {s.name}, .color = std::string(state_edge), .fill = std::string(state_fill)};
  box.state = &s;
  box.layers = layers_of(s);
  int widest = text_width(s.name);
  for (const auto& layer : box.layers) {
    // Equal parts of the width, each with room for the node and for the labels of its edges.
    int part = 0;
    for (const int k : layer) {
      part = std::max(part, node_width(s, k));
      for (const Edge& e : s.edges)
        if (e.source == k || e.target == k) part = std::max(part, text_width(picture_label(e)));
    }
    const int width = (part + gap) * static_cast<int>(layer.size());
    widest = std::max(widest, width);
  }
  const int layers = static_cast<int>(box.layers.size());
  box.width = widest + 2 * padding;
  box.height = line_height + 2 * padding + layers * (line_height + 8) + std::max(0, layers - 1) * layer_gap;
  return box;
}

Figure stack(const std::string& title, const LoopColors& colors, std::vector<Figure> children) {
  Figure box{.title = wrapped(title), .color = std::string(colors.edge), .fill = std::string(colors.fill)};
  box.children = std::move(children);
  box.width = width_of(box.title);
  box.height = height_of(box.title) + padding;
  for (const Figure& child : box.children) {
    box.width = std::max(box.width, child.width);
    box.height += child.height + gap;
  }
  box.width += 2 * padding;
  return box;
}

// `whole`: states with their dataflow, not as text.
std::vector<Figure> boxes(const Region& r, const Sdfg& context, bool whole) {
  std::vector<Figure> result;
  const auto inside = [&](const Region& body) { return boxes(body, context, whole); };
  constexpr LoopColors branch{"#b7791f", "#ffffff"}, repeat{"#6b46c1", "#ffffff"};
  for (const Node& n : r.nodes)
    match(
        n.value, [&](const State& s) { result.push_back(whole ? state_box(s) : text_box(s, context)); },
        [&](const Loop& l) { result.push_back(stack(loop_text(l), colors_of(l.schedule), inside(l.body))); },
        [&](const If& i) {
          result.push_back(stack("if " + condition_text(i.condition, context), branch, inside(i.then_body)));
          if (!i.else_body.nodes.empty()) result.push_back(stack("else", branch, inside(i.else_body)));
        },
        [&](const While& w) {
          const std::string test = "while " + condition_text(w.condition, context);
          result.push_back(stack(w.test_first ? test : "do " + test, repeat, inside(w.body)));
        });
  return result;
}

// States in a picture that shows the dataflow of each; a nest with a recipe applied may have a hundred.
constexpr int most_whole_states = 8;

int states_of(const std::vector<Sdfg>& sdfgs) {
  int count = 0;
  for (const Sdfg& sdfg : sdfgs)
    visit(sdfg.root, [&](const Node& n) { count += std::holds_alternative<State>(n.value) ? 1 : 0; });
  return count;
}

class SvgPrinter {
 public:
  std::string run(const std::vector<Sdfg>& sdfgs) {
    int width = 0, y = 0;
    whole_ = states_of(sdfgs) <= most_whole_states;
    for (const Sdfg& sdfg : sdfgs) y = graph(sdfg, y, width);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) + "\" height=\"" +
           std::to_string(y + padding) + "\" font-family=\"monospace\" font-size=\"11\">\n" +
           "<style>text { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-opacity: 0.8 }</style>\n"
           "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
           "orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#4a5568\"/></marker></defs>\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
           std::move(out_) + "</svg>\n";
  }

 private:
  // From y down; returns where it ends, and widens the picture to what it needs.
  int graph(const Sdfg& sdfg, int y, int& width) {
    y += padding;
    const std::string head = declarations_text(sdfg);
    for (std::size_t at = 0; at <= head.size();) {
      const std::size_t end = std::min(head.find('\n', at), head.size());
      const std::string line = head.substr(at, end - at);
      text(padding, (y += line_height) - 5, line, "start");
      width = std::max(width, text_width(line) + 2 * padding);
      at = end + 1;
    }
    y += padding;
    for (const Figure& b : boxes(sdfg.root, sdfg, whole_)) {
      draw(b, padding, y, b.width);
      y += b.height + gap;
      width = std::max(width, b.width + 2 * padding);
    }
    return y;
  }

  void text(int x, int y, const std::string& content, const std::string& anchor) {
    out_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" text-anchor=\"" + anchor + "\">" +
            escape(content) + "</text>\n";
  }

  void rectangle(int x, int y, int width, int height, const std::string& stroke, const std::string& fill, int round) {
    out_ += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" + std::to_string(width) +
            "\" height=\"" + std::to_string(height) + "\" rx=\"" + std::to_string(round) + "\" stroke=\"" + stroke +
            "\" fill=\"" + fill + "\"/>\n";
  }

  void draw(const Figure& box, int x, int y, int width) {
    rectangle(x, y, width, box.height, box.color, box.fill, 5);
    for (std::size_t k = 0; k < box.title.size(); ++k) {
      const std::string& line = box.title[k];
      const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());  // SVG drops leading spaces
      text(x + padding + text_width(line.substr(0, indent)), y + line_height * static_cast<int>(k + 1) - 4,
           line.substr(indent), "start");
    }
    if (box.state) dataflow(box, x, y + line_height + padding, width);
    int below = y + height_of(box.title) + 2;
    for (const Figure& child : box.children) {
      draw(child, x + padding, below, width - 2 * padding);
      below += child.height + gap;
    }
  }

  void dataflow(const Figure& box, int x, int y, int width) {
    const State& s = *box.state;
    struct Point {
      int x = 0, y = 0;
    };
    std::vector<Point> centres(s.nodes.size());
    constexpr int node_height = line_height + 8;
    for (std::size_t l = 0; l < box.layers.size(); ++l) {
      const int count = static_cast<int>(box.layers[l].size());
      for (int k = 0; k < count; ++k)
        centres[static_cast<std::size_t>(box.layers[l][static_cast<std::size_t>(k)])] = {
            x + width * (2 * k + 1) / (2 * count),
            y + static_cast<int>(l) * (node_height + layer_gap) + node_height / 2};
    }
    std::map<std::pair<int, int>, int> drawn;  // edges between the same two nodes: one label below the other
    std::map<int, int> leaving, entering;
    for (const Edge& e : s.edges) {
      ++leaving[e.source];
      ++entering[e.target];
    }
    // All lines, then all labels on a ground of their own: no line crosses a label.
    struct Label {
      int x = 0, y = 0;
      std::string text;
    };
    std::vector<Label> labels;
    for (const Edge& e : s.edges) {
      if (!in_range(s, e)) continue;
      const Point from = centres[static_cast<std::size_t>(e.source)], to = centres[static_cast<std::size_t>(e.target)];
      const int half = node_height / 2;
      out_ += "<line x1=\"" + std::to_string(from.x) + "\" y1=\"" + std::to_string(from.y + half) + "\" x2=\"" +
              std::to_string(to.x) + "\" y2=\"" + std::to_string(to.y - half) +
              "\" stroke=\"#4a5568\" marker-end=\"url(#arrow)\"/>\n";
      // Edges that meet at one end have their labels at the other, where they are a node's width apart.
      const int fan = entering[e.target] - leaving[e.source];
      const int x = fan > 0 ? from.x : fan < 0 ? to.x : (from.x + to.x) / 2;
      const int near = fan > 0 ? from.y + half + 13 : fan < 0 ? to.y - half - 9 : (from.y + to.y) / 2 + 4;
      labels.push_back({x, near + 12 * drawn[{e.source, e.target}]++, picture_label(e)});
    }
    for (const Label& label : labels) {
      const int half = text_width(label.text) / 2;
      rectangle(label.x - half, label.y - 10, 2 * half, 13, "none", box.fill, 0);
      text(label.x, label.y, label.text, "middle");
    }
    for (std::size_t k = 0; k < s.nodes.size(); ++k) {
      const int node = node_width(s, static_cast<int>(k));
      const bool access = std::holds_alternative<AccessNode>(s.nodes[k]);
      rectangle(centres[k].x - node / 2, centres[k].y - node_height / 2, node, node_height, "#2d3748",
                access ? "#ebf8ff" : "#fffaf0", access ? node_height / 2 : 0);
      text(centres[k].x, centres[k].y + 4, picture_label(s.nodes[k]), "middle");
    }
  }

  std::string out_;
  bool whole_ = true;
};

}  // namespace

std::string to_svg(const Sdfg& sdfg) { return SvgPrinter().run({sdfg}); }
std::string to_svg(const std::vector<Sdfg>& sdfgs) { return SvgPrinter().run(sdfgs); }

}  // namespace sous::sdfg
