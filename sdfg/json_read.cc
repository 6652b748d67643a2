// Reading. Nothing here trusts the text: kinds, ranges, nesting and sizes are all checked, and the library is used
// without exceptions.
#include <algorithm>
#include <bit>

#include "sdfg/json.h"
#include "sdfg/json_internal.h"
#include "sdfg/scalar_text.h"
#include "sdfg/text_internal.h"

namespace sous::sdfg {
namespace {

constexpr std::size_t max_bytes = std::size_t{16} << 20;
constexpr int max_nesting = 200;
// A region takes three levels of JSON (array, node, its condition or body), an expression one.
constexpr int max_brackets = 3 * max_nesting + max_nesting + 16;

std::unexpected<Error> too_deep(const JsonPlace& where) {
  return fail("sdfg.json.depth", "nested more than " + std::to_string(max_nesting) + " deep", where.pointer);
}

// The enumerator that a word names, or an error that lists none: the documentation does.
template <class Enum, std::size_t n>
Result<Enum> enumerator(const Json& json, const JsonPlace& where, const std::pair<std::string_view, Enum> (&words)[n]) {
  TRY(const std::string word, json_text(json, where));
  for (const auto& [name, value] : words)
    if (name == word) return value;
  return json_error("unknown word '" + word.substr(0, 64) + "'", where);
}

Result<ElementType> type(const Json& json, const JsonPlace& where) {
#define X(e, text, ...) {text, ElementType::e},
  return enumerator<ElementType>(json, where, {SOUS_ELEMENT_TYPES(X)});
#undef X
}
Result<Storage> storage(const Json& json, const JsonPlace& where) {
#define X(e, text) {text, Storage::e},
  return enumerator<Storage>(json, where, {SOUS_STORAGES(X)});
#undef X
}
Result<ReductionOp> reduction_op(const Json& json, const JsonPlace& where) {
#define X(e, ...) {#e, ReductionOp::e},
  return enumerator<ReductionOp>(json, where, {SOUS_REDUCTION_OPS(X)});
#undef X
}
Result<ScalarOp> scalar_op(const Json& json, const JsonPlace& where) {
#define X(e, ...) {#e, ScalarOp::e},
  return enumerator<ScalarOp>(json, where, {SOUS_SCALAR_OPS(X)});
#undef X
}

Result<Expr> expr(const Json& json, const JsonPlace& where) {
  TRY(const std::string text, json_text(json, where));
  auto result = parse_expr(text, *where.work);
  if (!result) return json_error(result.error().why, where);
  return result;
}

Result<std::vector<Expr>> exprs(const Json& json, const JsonPlace& where) { return json_list<Expr>(json, where, expr); }

Result<std::vector<std::string>> texts(const Json& json, const JsonPlace& where) {
  return json_list<std::string>(json, where, json_text);
}

Result<std::uint64_t> bits(const Json& json, const JsonPlace& where) {
  TRY(const std::string text, json_text(json, where));
  const auto value = text.starts_with("0x") ? parse_unsigned(text) : std::nullopt;
  if (!value) return json_error("expected bits: \"0x…\"", where);
  return *value;
}

Result<Container> container(const Json& json, const JsonPlace& where) {
  TRY(const JsonObject o,
      JsonObject::open(json, where, {"name", "type", "shape", "storage"},
                       {"strides", "offset", "transient", "constant", "dead", "natural", "alias_class"}));
  Container c;
  TRY(c.name, o.text("name"));
  TRY(c.type, type(o.at("type"), o.place("type")));
  TRY(c.shape, exprs(o.at("shape"), o.place("shape")));
  c.strides = row_major(c.shape);
  if (const Json* strides = o.find("strides")) {
    TRY(c.strides, exprs(*strides, o.place("strides")));
  }
  if (const Json* offset = o.find("offset")) {
    TRY(c.offset, expr(*offset, o.place("offset")));
  }
  TRY(c.storage, storage(o.at("storage"), o.place("storage")));
  TRY(c.transient, o.boolean("transient", false));
  TRY(c.constant, o.boolean("constant", false));
  TRY(c.dead, o.boolean("dead", false));
  TRY(c.natural, o.boolean("natural", false));
  TRY(c.alias_class, o.small("alias_class", 0));
  return c;
}

// ["add", "f64", left, right]
Result<ScalarExpr> scalar(const Json& json, const JsonPlace& where, int depth = 1) {
  if (depth > max_nesting) return too_deep(where);
  if (!json.is_array() || json.size() < 2) return json_error("expected [operator, type, …]", where);
  ScalarExpr e;
  TRY(e.op, scalar_op(json[0], where + "/0"));
  TRY(e.type, type(json[1], where + "/1"));
  const bool leaf = info(e.op).form == OpForm::Leaf;
  if (json.size() != 2 + static_cast<std::size_t>(leaf ? 1 : info(e.op).arity))
    return json_error("wrong number of arguments", where);
  const JsonPlace last = where + "/2";
  if (e.op == ScalarOp::input) {
    TRY(const std::int64_t index, json_integer(json[2], last));
    if (index < std::numeric_limits<int>::min() || index > std::numeric_limits<int>::max())
      return json_error("not an input", last);
    e.input = static_cast<int>(index);
  } else if (e.op == ScalarOp::constant) {
    TRY(e.bits, bits(json[2], last));
  } else if (e.op == ScalarOp::symbolic) {
    TRY(e.symbolic, expr(json[2], last));
  } else {
    for (std::size_t k = 2; k < json.size(); ++k) {
      TRY(ScalarExpr arg, scalar(json[k], where + ("/" + std::to_string(k)), depth + 1));
      e.args.push_back(std::move(arg));
    }
  }
  return e;
}

Result<Memlet> memlet(const Json& json, const JsonPlace& where) {
  TRY(const JsonObject o, JsonObject::open(json, where, {"container", "subset"}, {"combine"}));
  Memlet m;
  TRY(m.container, o.text("container"));
  TRY(m.subset, json_list<Expr>(o.at("subset"), o.place("subset"), expr));
  if (const Json* combine = o.find("combine")) {
    TRY(m.combine, reduction_op(*combine, o.place("combine")));
  }
  return m;
}

Result<std::vector<Memlet>> memlets(const Json& json, const JsonPlace& where) {
  return json_list<Memlet>(json, where, memlet);
}

// What an object says about its kind.
Result<std::string> kind_of(const Json& json, const JsonPlace& where) {
  if (!json.is_object() || !json.contains("kind")) return json_error("expected an object with a kind", where);
  return json_text(json["kind"], where + "/kind");
}

Result<DataflowNode> dataflow(const Json& json, const JsonPlace& where) {
  TRY(const std::string kind, kind_of(json, where));
  if (kind == "access") {
    TRY(const JsonObject o, JsonObject::open(json, where, {"kind", "container"}));
    AccessNode access;
    TRY(access.container, o.text("container"));
    return access;
  }
  if (kind == "tasklet") {
    TRY(const JsonObject o, JsonObject::open(json, where, {"kind", "inputs", "code"}));
    Tasklet t;
    TRY(t.inputs, texts(o.at("inputs"), o.place("inputs")));
    TRY(t.code, scalar(o.at("code"), o.place("code")));
    return t;
  }
  return json_error("unknown kind of dataflow node", where + "/kind");
}

Result<Edge> edge(const Json& json, const JsonPlace& where) {
  TRY(const JsonObject o, JsonObject::open(json, where, {"source", "target", "connector", "memlet"}));
  Edge e;
  TRY(e.source, o.small("source", 0));
  TRY(e.target, o.small("target", 0));
  TRY(e.connector, o.text("connector"));
  TRY(e.memlet, memlet(o.at("memlet"), o.place("memlet")));
  return e;
}

Result<Node> state(const Json& json, const JsonPlace& where) {
  if (json.contains("out")) {
    TRY(const JsonObject o, JsonObject::open(json, where, {"kind", "name", "out", "code", "inputs"}));
    TRY(std::string name, o.text("name"));
    TRY(Memlet out, memlet(o.at("out"), o.place("out")));
    TRY(ScalarExpr code, scalar(o.at("code"), o.place("code")));
    TRY(std::vector<Memlet> inputs, memlets(o.at("inputs"), o.place("inputs")));
    return Node(assignment(std::move(name), std::move(out), std::move(code), std::move(inputs)));
  }
  TRY(const JsonObject o, JsonObject::open(json, where, {"kind", "name", "nodes", "edges"}));
  State s;
  TRY(s.name, o.text("name"));
  TRY(s.nodes, json_list<DataflowNode>(o.at("nodes"), o.place("nodes"), dataflow));
  TRY(s.edges, json_list<Edge>(o.at("edges"), o.place("edges"), edge));
  return Node(std::move(s));
}

Result<Schedule> schedule(const Json& json, const JsonPlace& where) {
  TRY(const std::string kind, kind_of(json, where));
  auto open = [&](std::initializer_list<std::string_view> optional) {
    return JsonObject::open(json, where, {"kind"}, optional);
  };
  if (kind == "sequential") {
    TRY([[maybe_unused]] const JsonObject o, open({}));
    return Sequential{};
  }
  if (kind == "parallel") {
    TRY(const JsonObject o, open({"threads", "chunk", "dynamic"}));
    Parallel p;
    TRY(p.threads, o.small("threads", p.threads));
    TRY(p.chunk, o.small("chunk", p.chunk));
    TRY(const bool dynamic, o.boolean("dynamic", false));
    p.kind = dynamic ? ParallelKind::Dynamic : ParallelKind::Static;
    return p;
  }
  if (kind == "simd") {
    TRY(const JsonObject o, open({"lanes"}));
    TRY(const int lanes, o.small("lanes", Simd{}.lanes));
    return Simd{lanes};
  }
  if (kind == "unroll") {
    TRY(const JsonObject o, open({"factor"}));
    TRY(const int factor, o.small("factor", Unroll{}.factor));
    return Unroll{factor};
  }
  if (kind == "gpu_grid" || kind == "gpu_block") {
    TRY(const JsonObject o, open({"dimension"}));
    TRY(const int dimension, o.small("dimension", 0));
    if (kind == "gpu_grid") return GpuGrid{dimension};
    return GpuBlock{dimension};
  }
  return json_error("unknown schedule", where + "/kind");
}

Result<Region> region(const Json& json, const JsonPlace& where, int depth);

Result<Condition> condition(const Json& json, const JsonPlace& where) {
  TRY(const JsonObject o, JsonObject::open(json, where, {"code", "inputs"}));
  Condition c;
  TRY(c.code, scalar(o.at("code"), o.place("code")));
  TRY(c.inputs, memlets(o.at("inputs"), o.place("inputs")));
  return c;
}

Result<Reduction> reduction(const Json& json, const JsonPlace& where) {
  TRY(const JsonObject o, JsonObject::open(json, where, {"container", "op"}));
  Reduction r;
  TRY(r.container, o.text("container"));
  TRY(r.op, reduction_op(o.at("op"), o.place("op")));
  return r;
}

Result<Node> loop(const Json& json, const JsonPlace& where, int depth) {
  TRY(const JsonObject o, JsonObject::open(json, where, {"kind", "symbol", "begin", "end", "body"},
                                           {"step", "schedule", "privates", "reductions", "prefetch"}));
  Loop l;
  TRY(l.symbol, o.text("symbol"));
  TRY(l.begin, expr(o.at("begin"), o.place("begin")));
  TRY(l.end, expr(o.at("end"), o.place("end")));
  TRY(l.step, o.integer("step", 1));
  if (const Json* s = o.find("schedule")) {
    TRY(l.schedule, schedule(*s, o.place("schedule")));
  }
  if (const Json* privates = o.find("privates")) {
    TRY(l.privates, texts(*privates, o.place("privates")));
  }
  if (const Json* reductions = o.find("reductions")) {
    TRY(l.reductions, json_list<Reduction>(*reductions, o.place("reductions"), reduction));
  }
  TRY(l.prefetch, o.integer("prefetch", 0));
  TRY(l.body, region(o.at("body"), o.place("body"), depth + 1));
  return Node(std::move(l));
}

Result<Node> node(const Json& json, const JsonPlace& where, int depth) {
  TRY(const std::string kind, kind_of(json, where));
  if (kind == "state") return state(json, where);
  if (kind == "loop") return loop(json, where, depth);
  if (kind == "if") {
    TRY(const JsonObject o, JsonObject::open(json, where, {"kind", "condition", "then", "else"}));
    If i;
    TRY(i.condition, condition(o.at("condition"), o.place("condition")));
    TRY(i.then_body, region(o.at("then"), o.place("then"), depth + 1));
    TRY(i.else_body, region(o.at("else"), o.place("else"), depth + 1));
    return Node(std::move(i));
  }
  if (kind == "while" || kind == "do") {
    TRY(const JsonObject o, JsonObject::open(json, where, {"kind", "condition", "body"}));
    While w;
    w.test_first = kind == "while";
    TRY(w.condition, condition(o.at("condition"), o.place("condition")));
    TRY(w.body, region(o.at("body"), o.place("body"), depth + 1));
    return Node(std::move(w));
  }
  return json_error("unknown kind of node", where + "/kind");
}

Result<Region> region(const Json& json, const JsonPlace& where, int depth) {
  if (depth > max_nesting) return too_deep(where);
  Region r;
  TRY(r.nodes, json_list<Node>(json, where, [&](const Json& n, const JsonPlace& at) { return node(n, at, depth); }));
  return r;
}

Result<std::pair<std::string, std::string>> pair(const Json& json, const JsonPlace& where) {
  TRY(const std::vector<std::string> both, texts(json, where));
  if (both.size() != 2) return json_error("expected two names", where);
  return std::pair(both[0], both[1]);
}

}  // namespace

Result<Sdfg> from_json(std::string_view text) {
  if (text.size() > max_bytes) return fail("sdfg.json.size", "more than " + std::to_string(max_bytes) + " bytes");
  if (bracket_depth(text) > max_brackets) return too_deep({});
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail("sdfg.json.syntax", "not JSON");
  if (!json.is_object() || !json.contains("schema") || !json["schema"].is_number_integer() || json["schema"] < 1 ||
      json["schema"] > last_json_schema)
    return fail("sdfg.json.schema", "expected an object with \"schema\": 1 to " + std::to_string(last_json_schema),
                "/schema");
  std::size_t work = 0;
  TRY(const JsonObject o,
      JsonObject::open(json, {.pointer = "", .work = &work},
                       {"schema", "name", "symbols", "containers", "arguments", "assumptions", "disjoint", "root"}));
  Sdfg sdfg;
  TRY(sdfg.name, o.text("name"));
  TRY(sdfg.symbols, texts(o.at("symbols"), o.place("symbols")));
  TRY(sdfg.containers, json_list<Container>(o.at("containers"), o.place("containers"), container));
  if (const int needed = json_schema(sdfg); json["schema"] != needed)  // one graph, one text
    return fail("sdfg.json.schema", "what this graph's containers say takes schema " + std::to_string(needed),
                "/schema");
  TRY(sdfg.arguments, texts(o.at("arguments"), o.place("arguments")));
  TRY(sdfg.assumptions, exprs(o.at("assumptions"), o.place("assumptions")));
  TRY(sdfg.disjoint, (json_list<std::pair<std::string, std::string>>(o.at("disjoint"), o.place("disjoint"), pair)));
  TRY(sdfg.root, region(o.at("root"), o.place("root"), 0));
  return sdfg;
}

}  // namespace sous::sdfg
