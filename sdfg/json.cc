// Writing. Fields that hold their default are left out, so that the form stays small; expressions are .sdfg text.
#include "sdfg/json.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sdfg/scalar_text.h"
#include "sdfg/text_internal.h"

namespace sous::sdfg {
namespace {

using Json = nlohmann::ordered_json;

std::string type_name(ElementType t) { return std::string(info(t).name); }

std::string reduction_name(ReductionOp op) {
  switch (op) {
#define X(e, ...)      \
  case ReductionOp::e: \
    return #e;
    SOUS_REDUCTION_OPS(X)
#undef X
  }
  __builtin_unreachable();
}

Json exprs(const std::vector<Expr>& list) {
  Json json = Json::array();
  for (const Expr& e : list) json.push_back(expr_text(e));
  return json;
}

Json container(const Container& c) {
  Json json = {{"name", c.name}, {"type", type_name(c.type)}, {"shape", exprs(c.shape)}};
  if (c.strides != row_major(c.shape)) json["strides"] = exprs(c.strides);
  if (c.offset != Expr(0)) json["offset"] = expr_text(c.offset);
  json["storage"] = storage_text(c.storage);
  if (c.transient) json["transient"] = true;
  if (c.constant) json["constant"] = true;
  if (c.dead) json["dead"] = true;
  if (c.natural) json["natural"] = true;
  if (c.alias_class != 0) json["alias_class"] = c.alias_class;
  return json;
}

Json scalar(const ScalarExpr& e) {
  Json json = {std::string(info(e.op).name), type_name(e.type)};
  if (e.op == ScalarOp::input) json.push_back(e.input);
  if (e.op == ScalarOp::constant) json.push_back(hex_text(e.bits));
  if (e.op == ScalarOp::symbolic) json.push_back(expr_text(e.symbolic));
  for (const ScalarExpr& arg : e.args) json.push_back(scalar(arg));
  return json;
}

Json memlet(const Memlet& m) {
  Json json = {{"container", m.container}, {"subset", exprs(m.subset)}};
  if (m.combine) json["combine"] = reduction_name(*m.combine);
  return json;
}

Json memlets(const std::vector<Memlet>& list) {
  Json json = Json::array();
  for (const Memlet& m : list) json.push_back(memlet(m));
  return json;
}

Json dataflow(const DataflowNode& node) {
  return match(
      node, [](const AccessNode& a) { return Json{{"kind", "access"}, {"container", a.container}}; },
      [](const Tasklet& t) { return Json{{"kind", "tasklet"}, {"inputs", t.inputs}, {"code", scalar(t.code)}}; });
}

Json state(const State& s) {
  Json json = {{"kind", "state"}, {"name", s.name}};
  if (const auto a = as_assignment(s)) {
    json["out"] = memlet(a->out);
    json["code"] = scalar(a->code);
    json["inputs"] = memlets(a->inputs);
    return json;
  }
  Json nodes = Json::array(), edges = Json::array();
  for (const DataflowNode& n : s.nodes) nodes.push_back(dataflow(n));
  for (const Edge& e : s.edges)
    edges.push_back(
        {{"source", e.source}, {"target", e.target}, {"connector", e.connector}, {"memlet", memlet(e.memlet)}});
  json["nodes"] = std::move(nodes);
  json["edges"] = std::move(edges);
  return json;
}

Json schedule(const Schedule& s) {
  return match(
      s, [](const Sequential&) { return Json{{"kind", "sequential"}}; },
      [](const Parallel& p) {
        Json json = {{"kind", "parallel"}, {"threads", p.threads}, {"chunk", p.chunk}};
        if (p.kind == ParallelKind::Dynamic) json["dynamic"] = true;
        return json;
      },
      [](const Simd& v) { return Json{{"kind", "simd"}, {"lanes", v.lanes}}; },
      [](const Unroll& u) { return Json{{"kind", "unroll"}, {"factor", u.factor}}; },
      [](const GpuGrid& g) { return Json{{"kind", "gpu_grid"}, {"dimension", g.dimension}}; },
      [](const GpuBlock& b) { return Json{{"kind", "gpu_block"}, {"dimension", b.dimension}}; });
}

Json region(const Region& r);

Json condition(const Condition& c) { return {{"code", scalar(c.code)}, {"inputs", memlets(c.inputs)}}; }

Json loop(const Loop& l) {
  Json json = {{"kind", "loop"}, {"symbol", l.symbol}, {"begin", expr_text(l.begin)}, {"end", expr_text(l.end)}};
  if (l.step != 1) json["step"] = l.step;
  if (l.schedule != Schedule(Sequential{})) json["schedule"] = schedule(l.schedule);
  if (!l.privates.empty()) json["privates"] = l.privates;
  if (!l.reductions.empty()) {
    Json reductions = Json::array();
    for (const Reduction& r : l.reductions)
      reductions.push_back({{"container", r.container}, {"op", reduction_name(r.op)}});
    json["reductions"] = std::move(reductions);
  }
  if (l.prefetch != 0) json["prefetch"] = l.prefetch;
  json["body"] = region(l.body);
  return json;
}

Json node(const Node& n) {
  return match(
      n.value, [](const State& s) { return state(s); }, [](const Loop& l) { return loop(l); },
      [](const If& i) {
        return Json{{"kind", "if"},
                    {"condition", condition(i.condition)},
                    {"then", region(i.then_body)},
                    {"else", region(i.else_body)}};
      },
      [](const While& w) {
        return Json{
            {"kind", w.test_first ? "while" : "do"}, {"condition", condition(w.condition)}, {"body", region(w.body)}};
      });
}

Json region(const Region& r) {
  Json json = Json::array();
  for (const Node& n : r.nodes) json.push_back(node(n));
  return json;
}

}  // namespace

int json_schema(const Sdfg& sdfg) {
  if (std::ranges::any_of(sdfg.containers, &Container::natural)) return 3;
  return std::ranges::any_of(sdfg.containers, &Container::dead) ? 2 : 1;
}

std::string to_json(const Sdfg& sdfg) {
  Json containers = Json::array(), disjoint = Json::array();
  for (const Container& c : sdfg.containers) containers.push_back(container(c));
  for (const auto& [a, b] : sdfg.disjoint) {
    Json pair = Json::array();
    pair.push_back(a);
    pair.push_back(b);
    disjoint.push_back(std::move(pair));
  }
  Json json = {{"schema", json_schema(sdfg)},     {"name", sdfg.name},
               {"symbols", sdfg.symbols},         {"containers", std::move(containers)},
               {"arguments", sdfg.arguments},     {"assumptions", exprs(sdfg.assumptions)},
               {"disjoint", std::move(disjoint)}, {"root", region(sdfg.root)}};
  // Names that are not UTF-8 are no identifiers: check refuses them, and writing them must not throw.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sous::sdfg
