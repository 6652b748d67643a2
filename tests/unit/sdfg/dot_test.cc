#include "sdfg/dot.h"

#include <gtest/gtest.h>

#include "sdfg/text.h"
#include "tests/unit/sdfg/graphs.h"

namespace sous::sdfg {
namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST(Dot, OneAssignment) {
  const Sdfg graph = parse(
                         "sdfg 1 g symbols n array v: f64[n] argument arguments n, v "
                         "loop i = 0 .. n { s0: v[i] = v[i] * 2.0 }")
                         .value();
  EXPECT_EQ(to_dot(graph), R"dot(digraph "g" {
  compound=true; rankdir=TB; fontname="Helvetica";
  node [fontname="Helvetica", fontsize=11]; edge [fontname="Helvetica", fontsize=9];
  label="g\nv: f64[n]"; labelloc=t; labeljust=l;
  subgraph cluster_0 {
    label="loop i = 0 .. n"; labeljust=l; style=rounded; color="#2b6cb0";
    subgraph cluster_1 {
      label="s0"; labeljust=l; style="rounded,filled"; fillcolor="#f7fafc"; color="#a0aec0";
      a0_0 [label="v", shape=ellipse];
      a0_1 [label="x0 * 2.0", shape=box];
      a0_2 [label="v", shape=ellipse];
      a0_0 -> a0_1 [label="x0: v[i]"];
      a0_1 -> a0_2 [label="out: v[i]"];
    }
  }
}
)dot");
}

TEST(Dot, EveryGraphIsBalancedAndWhole) {
  for (const std::string_view text : graphs::all) {
    const std::string dot = to_dot(parse(text).value());
    EXPECT_EQ(count(dot, "{"), count(dot, "}"));
    EXPECT_EQ(count(dot, "label=\"loop "), count(std::string(text), "loop "));
  }
}

TEST(Svg, EveryElementIsClosedAndEveryLoopABox) {
  for (const std::string_view text : graphs::all) {
    const std::string svg = to_svg(parse(text).value());
    EXPECT_TRUE(svg.starts_with("<svg ")) << svg;
    EXPECT_TRUE(svg.ends_with("</svg>\n")) << svg;
    EXPECT_EQ(count(svg, "<text "), count(svg, "</text>"));
    EXPECT_EQ(count(svg, ">loop "), count(std::string(text), "loop "));
    EXPECT_EQ(count(svg, "&& "), 0u);  // escaped
  }
}

TEST(Svg, MemletsAreLabels) {
  const std::string svg = to_svg(parse(graphs::gemm).value());
  EXPECT_NE(svg.find(">x1: A[i0, i2]</text>"), svg.npos) << svg;
  EXPECT_NE(svg.find(">x0 + x1 * x2</text>"), svg.npos) << svg;
}

TEST(Svg, LabelsOfEdgesThatMeetLieAtTheirOtherEnds) {
  const std::string svg = to_svg(parse(graphs::gemm).value());
  const auto x_of = [&](const std::string& label) {
    const auto line = svg.rfind("<text x=\"", svg.find(label));
    return std::stoi(svg.substr(line + 9));
  };
  const int apart = 7 * static_cast<int>(std::string_view("x1: A[i0, i2]").size());  // 7: a character's width
  EXPECT_GE(x_of(">x1: A[i0, i2]<") - x_of(">x0: C[i0, i1]<"), apart) << svg;
  EXPECT_GE(x_of(">x2: B[i2, i1]<") - x_of(">x1: A[i0, i2]<"), apart) << svg;
}

TEST(Pictures, ALoopIsColoredByWhatRunsIt) {
  const Sdfg graph = parse(
                         "sdfg 1 g symbols n array v: f64[n] argument arguments n, v loop t = 0 .. 4 parallel { "
                         "loop i = 0 .. n simd(lanes=4) { s0: v[i] = v[i] * 2.0 } }")
                         .value();
  for (const std::string& picture : {to_dot(graph), to_svg(graph)}) {
    for (const char* color : {"#c05621", "#fffaf0", "#2f855a", "#f0fff4"}) EXPECT_NE(picture.find(color), picture.npos);
    EXPECT_EQ(picture.find("#2b6cb0"), picture.npos) << picture;
  }
}

TEST(Svg, LabelsAreDrawnOverAllEdges) {
  const std::string svg = to_svg(parse(graphs::gemm).value());
  EXPECT_LT(svg.rfind("<line "), svg.find(">x0: C[i0, i1]<")) << svg;
}

TEST(Svg, ManyStatesAreTextInLinesOfBoundedWidth) {
  std::string text = "sdfg 1 g symbols n array v: f64[n] argument arguments n, v\n";
  std::string sum = "v[0]";
  for (int k = 1; k < 40; ++k) sum += " + v[" + std::to_string(k) + "]";
  for (int k = 0; k < 12; ++k) text += "s" + std::to_string(k) + ": v[0] = " + sum + "\n";
  const std::string svg = to_svg(parse(text).value());
  EXPECT_EQ(count(svg, "<line "), 0u);
  EXPECT_EQ(count(svg, "s11: v[0] = v[0] + v[1]"), 1u) << svg;
  EXPECT_LT(std::stoi(svg.substr(svg.find("width=\"") + 7)), 900);
}

TEST(Svg, SeveralGraphsAreOnePicture) {
  const Sdfg gemm = parse(graphs::gemm).value();
  const std::string svg = to_svg(std::vector{gemm, gemm});
  EXPECT_EQ(count(svg, "<svg "), 1u);
  EXPECT_EQ(count(svg, ">x0 + x1 * x2</text>"), 2u);
}

}  // namespace
}  // namespace sous::sdfg
