#include "tuning-db/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sdfg/loop_depth.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/size_class.h"

namespace sous::tuning_db {
namespace {

using sdfg::ScalarOp;

struct Layout {
  std::string_view name;
  Scale scale;
  double weight;
};
constexpr std::array<Layout, feature_count> layout = {{
#define X(name, scale, weight) {#name, Scale::scale, weight},
    SOUS_FEATURES(X)
#undef X
}};

constexpr int levels = 4;
constexpr double line_bytes = 64;

std::optional<Feature> count_as(ScalarOp op) {
  using sdfg::OpKind;
  switch (info(op).kind) {
    case OpKind::Free:
      return std::nullopt;
    case OpKind::Constant:
      return Feature::constants;
    case OpKind::Add:
      return Feature::ops_add;
    case OpKind::Mul:
      return Feature::ops_mul;
    case OpKind::Div:
      return Feature::ops_div;
    case OpKind::MinMax:
      return Feature::ops_min_max;
    case OpKind::Compare:
      return Feature::ops_compare;
    case OpKind::Root:
      return Feature::ops_root;
    case OpKind::Exponential:
      return Feature::ops_exponential;
    case OpKind::Trigonometric:
      return Feature::ops_trigonometric;
    case OpKind::Rounding:
      return Feature::ops_rounding;
    case OpKind::Bitwise:
      return Feature::ops_bit;
    case OpKind::Cast:
      return Feature::ops_cast;
    case OpKind::Fma:
      return Feature::ops_fma;
  }
  __builtin_unreachable();
}

class Writer {
 public:
  void add(Feature feature, double value = 1) { raw_[static_cast<std::size_t>(feature)] += value; }
  void add_at(Feature first, int level, double value = 1) {
    raw_[static_cast<std::size_t>(first) + static_cast<std::size_t>(level)] += value;
  }
  FeatureVector scaled() const {
    FeatureVector result(feature_count);
    for (std::size_t i = 0; i < feature_count; ++i) {
      // Sizes come from outside: products of them may leave the range of a double.
      const double raw = std::isnan(raw_[i]) ? 0 : std::clamp(raw_[i], -1e300, 1e300);
      const double log = std::copysign(std::log2(std::abs(raw) + 1), raw);
      result[i] = static_cast<float>((layout[i].scale == Scale::Log ? log : raw) * layout[i].weight);
    }
    return result;
  }

 private:
  std::array<double, feature_count> raw_{};
};

bool uses(const sdfg::Subset& subset, const std::string& symbol) {
  return std::ranges::any_of(subset, [&](const sdfg::Expr& e) { return e.uses(symbol); });
}

bool indirect(const sdfg::Subset& subset) {
  return std::ranges::any_of(subset, [](const sdfg::Expr& e) { return !e.reads().empty(); });
}

// Enclosing loops of the statement that runs most often (the deepest of those), innermost first.
std::vector<int> main_path(const NestFacts& f) {
  const StatementFact* most = nullptr;
  for (const StatementFact& s : f.statements)
    if (!most || std::pair(s.executions, s.loops.size()) > std::pair(most->executions, most->loops.size())) most = &s;
  std::vector<int> path = most ? most->loops : std::vector<int>{};
  std::ranges::reverse(path);
  return path;
}

// The loop of a statement that stands at `level` from the innermost, if there is one.
std::optional<int> loop_at(const StatementFact& statement, int level) {
  const int at = static_cast<int>(statement.loops.size()) - 1 - level;
  return at < 0 ? std::nullopt : std::optional(statement.loops[static_cast<std::size_t>(at)]);
}

void add_operations(const NestFacts& f, Writer& w) {
  for (const StatementFact& statement : f.statements) {
    statement.code->visit([&](const sdfg::ScalarExpr& e) {
      if (const auto feature = count_as(e.op)) w.add(*feature);
    });
  }
}

void add_shape(const sdfg::Sdfg& nest, const NestFacts& f, Writer& w) {
  std::size_t depth = 0;
  for (const StatementFact& s : f.statements) depth = std::max(depth, s.loops.size());
  w.add(Feature::loops, static_cast<double>(f.loops.size()));
  w.add(Feature::depth, static_cast<double>(depth));
  w.add(Feature::statements, static_cast<double>(f.statements.size()));
  w.add(Feature::top_nodes, static_cast<double>(nest.root.nodes.size()));
  for (const LoopFact& loop : f.loops) {
    if (loop.height > 0 && loop.loop->body.nodes.size() > 1) w.add(Feature::imperfect_loops);
    if (loop.triangular) w.add(Feature::triangular_loops);
    if (!loop.loop->begin.reads().empty() || !loop.loop->end.reads().empty()) w.add(Feature::data_dependent_bounds);
    if (!loop.loop->reductions.empty()) w.add(Feature::order_declared_free);
  }
  w.add(Feature::ifs, f.ifs);
  w.add(Feature::whiles, f.whiles);
  double rank = 0;
  for (const sdfg::Container& container : nest.containers) {
    if (container.shape.empty()) w.add(Feature::scalars);
    if (!container.shape.empty()) w.add(Feature::arrays);
    if (!container.shape.empty() && container.transient) w.add(Feature::transient_arrays);
    rank = std::max(rank, static_cast<double>(container.shape.size()));
  }
  w.add(Feature::highest_rank, rank);
}

void add_accesses(const NestFacts& f, Writer& w) {
  for (const AccessFact& access : f.accesses) {
    w.add(access.write ? Feature::writes : Feature::reads);
    if (indirect(access.memlet->subset)) w.add(Feature::indirect);
    const StatementFact& statement = f.statements[static_cast<std::size_t>(access.statement)];
    for (int level = 0; level < levels; ++level) {
      const auto loop = loop_at(statement, level);
      if (!loop) continue;
      const auto stride = f.stride(access, *loop);
      const double bytes = stride ? std::abs(*stride) * info(access.container->type).bytes : INFINITY;
      if (bytes == 0)
        w.add_at(access.write ? Feature::writes_invariant_0 : Feature::reads_invariant_0, level);
      else if (stride && std::abs(*stride) == 1)
        w.add_at(access.write ? Feature::writes_unit_0 : Feature::reads_unit_0, level);
      else if (bytes < line_bytes)
        w.add_at(access.write ? Feature::writes_line_0 : Feature::reads_line_0, level);
      else
        w.add_at(access.write ? Feature::writes_far_0 : Feature::reads_far_0, level);
    }
  }
}

void add_sizes(const NestFacts& f, Writer& w) {
  const std::vector<int> path = main_path(f);
  double inside = 1;  // iterations of the loops below
  for (int level = 0; level < std::min<int>(levels, static_cast<int>(path.size())); ++level) {
    const LoopFact& loop = f.loops[static_cast<std::size_t>(path[static_cast<std::size_t>(level)])];
    inside *= std::max(1.0, loop.trips);
    const double bytes = std::max(1.0, f.footprint(loop.height + 1));
    w.add_at(Feature::trips_0, level, loop.trips);
    w.add_at(Feature::working_set_0, level, bytes);
    w.add_at(Feature::reuse_0, level, inside * static_cast<double>(f.accesses.size()) / bytes);
  }
  const double footprint = std::max(1.0, f.footprint()), work = f.work();
  w.add(Feature::footprint, footprint);
  w.add(Feature::work, work);
  w.add(Feature::work_per_byte, work / footprint);
  w.add(Feature::size_power, std::min(32.0, std::floor(std::log2(footprint) / 2)));
  w.add(Feature::sizes_known, f.sizes_known);
  double widest = 0, narrowest = 0;
  bool floating = false;
  for (const AccessFact& access : f.accesses) {
    const double bytes = info(access.container->type).bytes;
    widest = std::max(widest, bytes);
    narrowest = narrowest == 0 ? bytes : std::min(narrowest, bytes);
    floating |= is_float(access.container->type);
  }
  w.add(Feature::widest_element, widest);
  w.add(Feature::narrowest_element, narrowest);
  w.add(Feature::floating, floating);
}

void add_dependence_hints(const NestFacts& f, Writer& w) {
  std::set<std::string> read, written;
  std::map<std::string, std::set<std::string>> places;  // distinct subscripts read, per container
  for (const AccessFact& access : f.accesses) {
    (access.write ? written : read).insert(access.container->name);
    std::string text;
    for (const sdfg::Expr& dim : access.memlet->subset) text += dim.to_string() + ",";
    if (!access.write && !access.memlet->subset.empty()) places[access.container->name].insert(text);
  }
  for (const auto& [container, subscripts] : places) {
    if (written.contains(container)) w.add(Feature::read_and_written);
    if (written.contains(container) && subscripts.size() > 1) w.add(Feature::shifted_in_place);
    if (subscripts.size() > 1) w.add(Feature::stencil_points, static_cast<double>(subscripts.size()));
  }
  for (int level = 0; level < levels; ++level) {
    bool any = false, all = true;
    for (const AccessFact& access : f.accesses) {
      const auto loop =
          access.write ? loop_at(f.statements[static_cast<std::size_t>(access.statement)], level) : std::nullopt;
      if (!loop) continue;
      any = true;
      all &= uses(access.memlet->subset, f.loops[static_cast<std::size_t>(*loop)].loop->symbol);
    }
    w.add_at(Feature::in_every_write_0, level, any && all);
  }
  for (const AccessFact& write : f.accesses) {
    if (!write.write) continue;
    const bool updates = std::ranges::any_of(f.accesses, [&](const AccessFact& other) {
      return !other.write && other.statement == write.statement && other.container == write.container &&
             other.memlet->subset == write.memlet->subset;
    });
    if (!updates && !write.memlet->combine) continue;
    w.add(Feature::self_updates);
    const StatementFact& statement = f.statements[static_cast<std::size_t>(write.statement)];
    for (std::size_t at = 0; at < statement.loops.size(); ++at) {
      if (uses(write.memlet->subset, f.loops[static_cast<std::size_t>(statement.loops[at])].loop->symbol)) continue;
      w.add(at + 1 == statement.loops.size() ? Feature::reductions_innermost : Feature::reductions_outer);
    }
  }
}

class StaticEmbedding final : public Embedding {
 public:
  std::string version() const override { return "static-2"; }
  double reach() const override { return 3; }
  Result<FeatureVector> embed(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) const override {
    return features(nest, sizes);
  }
};

}  // namespace

std::string_view feature_name(Feature feature) { return layout[static_cast<std::size_t>(feature)].name; }

double feature_value(const FeatureVector& vector, Feature feature) {
  const auto at = static_cast<std::size_t>(feature);
  SOUS_ASSERT(vector.size() == feature_count);
  const double scaled = double{vector[at]} / layout[at].weight;
  return layout[at].scale == Scale::Plain ? scaled : std::copysign(std::exp2(std::abs(scaled)) - 1, scaled);
}

FeatureVector features(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts f = facts(nest, sizes);
  Writer w;
  add_operations(f, w);
  add_shape(nest, f, w);
  add_accesses(f, w);
  add_sizes(f, w);
  add_dependence_hints(f, w);
  return w.scaled();
}

std::shared_ptr<const Embedding> static_embedding() { return std::make_shared<StaticEmbedding>(); }

NestKey nest_key(const sdfg::Sdfg& nest) {
  const NestFacts f = facts(nest, {});
  NestKey key;
  std::array<int, 16> votes{};  // by type, of the written containers
  for (const AccessFact& access : f.accesses)
    if (access.write) ++votes[static_cast<std::size_t>(access.container->type)];
  const auto most = std::ranges::max_element(votes);
  if (*most > 0) key.type = static_cast<sdfg::ElementType>(most - votes.begin());
  for (const StatementFact& s : f.statements) key.depth = std::max(key.depth, static_cast<int>(s.loops.size()));
  return key;
}

bool may_have_key(const sdfg::Sdfg& lifted, const std::vector<NestKey>& keys) {
  std::set<sdfg::ElementType> types;
  for (const sdfg::Container& c : lifted.containers) types.insert(c.type);
  sdfg::visit(lifted.root, [&](const sdfg::Node& node) {
    const auto* state = std::get_if<sdfg::State>(&node.value);
    if (state == nullptr) return;
    sdfg::for_each_code(*state, [&](const sdfg::ScalarExpr& code) {
      code.visit([&](const sdfg::ScalarExpr& e) { types.insert(e.type); });
    });
  });
  const int depth = sdfg::loop_depth(lifted.root);
  return std::ranges::any_of(keys, [&](const NestKey& k) { return k.depth <= depth && types.contains(k.type); });
}

}  // namespace sous::tuning_db
