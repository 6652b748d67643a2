#include "tests/support/random_nest.h"

#include <algorithm>
#include <functional>
#include <set>

#include "tests/support/random.h"
#include "tests/support/random_scalar.h"

namespace sous::tests {
namespace {

using namespace sdfg;

constexpr std::int64_t smallest_symbol = 3;
constexpr std::int64_t largest_symbol = 6;
constexpr std::int64_t largest_index = 4;  // of the values in "idx" containers

struct Interval {
  std::int64_t low = 0, high = 0;
};
Interval operator+(Interval a, Interval b) { return {a.low + b.low, a.high + b.high}; }
Interval operator*(Interval a, Interval b) {
  const std::int64_t corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return {*std::ranges::min_element(corners), *std::ranges::max_element(corners)};
}

std::int64_t floor_division(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }

using Intervals = std::map<std::string, Interval>;

Interval interval_of(const Expr& e, const Intervals& symbols);

Interval interval_of(const Atom& atom, const Intervals& symbols) {
  const auto argument = [&](std::size_t k) { return interval_of(atom.args[k], symbols); };
  switch (atom.kind) {
    case AtomKind::Symbol:
      return symbols.at(atom.name);
    case AtomKind::FloorDiv: {  // by a positive constant
      const std::int64_t by = argument(1).low;
      return {floor_division(argument(0).low, by), floor_division(argument(0).high, by)};
    }
    case AtomKind::Mod:
      return {0, argument(1).high - 1};
    case AtomKind::Min:
      return {std::min(argument(0).low, argument(1).low), std::min(argument(0).high, argument(1).high)};
    case AtomKind::Max:
      return {std::max(argument(0).low, argument(1).low), std::max(argument(0).high, argument(1).high)};
    case AtomKind::Read:
      return {0, largest_index};
  }
  __builtin_unreachable();
}

Interval interval_of(const Expr& e, const Intervals& symbols) {
  Interval sum = {e.constant_term(), e.constant_term()};
  for (const Term& term : e.terms()) {
    Interval product = {term.coefficient, term.coefficient};
    for (const Atom& atom : term.atoms) product = product * interval_of(atom, symbols);
    sum = sum + product;
  }
  return sum;
}

// An array while the nest is made. Its subscripts are written as "e + <offset symbol>"; when all are known, the offset
// symbols are replaced by what brings the smallest subscript to 0, and the shape follows.
struct Draft {
  std::string name;
  ElementType type = ElementType::f64;
  std::vector<Interval> used;  // per dimension
  bool touched = false;
  bool transient = false;
  bool index = false;  // an index array: never written

  Expr offset(std::size_t d) const { return Expr::symbol(name + ".offset" + std::to_string(d)); }
  Expr extent(std::size_t d) const { return Expr::symbol(name + ".extent" + std::to_string(d)); }
};

// What a statement can see.
struct Scope {
  std::vector<std::string> loops;
  Intervals symbols;
  std::vector<std::size_t> arrays;  // transient arrays and temporaries that are written by now (indices of drafts)
};

class Maker {
 public:
  Maker(std::uint64_t seed, const NestOptions& options) : random_(seed), options_(options), main_type_(any_type()) {}

  Sdfg make(std::uint64_t seed) {
    sdfg_.name = "nest" + std::to_string(seed);
    Scope scope;
    for (const char* symbol : {"n", "m"}) {
      if (!random_.percent(75)) continue;
      sdfg_.symbols.push_back(symbol);
      scope.symbols[symbol] = {smallest_symbol, largest_symbol};
    }
    for (std::int64_t k = random_.between(2, 4); k > 0; --k) new_argument();
    const std::int64_t nests = random_.between(1, 3);
    Region root;
    for (std::int64_t k = 0; k < nests; ++k) {
      if (options_.products) {
        product(scope, root);
        continue;
      }
      if (options_.in_place) {
        in_place(scope, root);
        continue;
      }
      if (random_.percent(15)) transient_array(scope, root);
      if (random_.percent(10)) statement(scope, root);
      add_loop(scope, root, static_cast<int>(random_.between(1, options_.max_depth)));
    }
    finish(root);
    return std::move(sdfg_);
  }

 private:
  // --- Arrays -------------------------------------------------------------------------------------------------------

  std::size_t new_draft(std::string name, ElementType type, std::size_t rank) {
    Draft draft;
    draft.name = std::move(name);
    draft.type = type;
    draft.used.resize(rank);
    drafts_.push_back(std::move(draft));
    return drafts_.size() - 1;
  }

  ElementType any_type() {
    if (options_.smooth) return ElementType::f64;
    static const std::vector<ElementType> types = {
        ElementType::f64, ElementType::f64, ElementType::f64, ElementType::f64, ElementType::f64,
        ElementType::f32, ElementType::f32, ElementType::f32, ElementType::i32, ElementType::i32,
        ElementType::i32, ElementType::i64, ElementType::i64, ElementType::i16, ElementType::i8,
        ElementType::u8,  ElementType::u16, ElementType::u32, ElementType::u64, ElementType::boolean};
    return random_.pick(types);
  }

  std::size_t new_argument() {
    // Most arrays of a nest have one type, as in real programs.
    const ElementType type = random_.percent(60) ? main_type_ : any_type();
    const std::size_t rank = random_.pick(std::vector<std::size_t>{0, 1, 1, 1, 2, 2, 2, 3});
    arguments_.push_back(new_draft("A" + std::to_string(arguments_.size()), type, rank));
    return arguments_.back();
  }

  std::size_t any_array(const Scope& scope) {
    if (!scope.arrays.empty() && random_.percent(35)) return random_.pick(scope.arrays);
    if (arguments_.size() < 6 && random_.percent(8)) return new_argument();
    return random_.pick(arguments_);
  }

  std::size_t index_array(std::size_t rank) {
    for (std::size_t k = 0; k < drafts_.size(); ++k) {
      if (drafts_[k].index && drafts_[k].used.size() == rank) return k;
    }
    const std::size_t made = new_draft("idx" + std::to_string(rank), ElementType::i32, rank);
    drafts_[made].index = true;
    return made;
  }

  Memlet access(std::size_t array, const std::vector<Expr>& subscript, const Scope& scope) {
    Draft& draft = drafts_[array];
    std::vector<Expr> shifted;
    for (std::size_t d = 0; d < subscript.size(); ++d) {
      const Interval now = interval_of(subscript[d], scope.symbols);
      Interval& used = draft.used[d];
      used = draft.touched ? Interval{std::min(used.low, now.low), std::max(used.high, now.high)} : now;
      shifted.push_back(subscript[d] + draft.offset(d));
    }
    draft.touched = true;
    return Memlet{draft.name, shifted, std::nullopt};
  }

  // An affine subscript or one with a floor division, a modulo or a gather.
  Expr any_subscript(const Scope& scope, std::size_t rank, bool plain) {
    if (scope.loops.empty() || random_.percent(5)) return Expr(random_.between(0, 2));
    const auto loop = [&] { return Expr::symbol(random_.pick(scope.loops)); };
    const Expr shift(random_.between(-1, 1));
    const std::size_t form = random_.below(plain ? 70 : 100);
    if (form < 45) return loop();
    if (form < 70) return loop() + shift;
    if (form < 77) return shift - loop();
    if (form < 83 && rank < 3) return loop() * Expr(2) + shift;
    if (form < 88 && rank < 3) return loop() + loop() + shift;
    if (form < 91) return Expr::floor_div(loop() + shift, Expr(2));
    if (form < 94) return Expr::mod(loop() + shift, Expr(random_.between(2, 3)));
    if (form < 96) return Expr::min(loop(), Expr(3));
    if (form < 98 && rank < 3) return loop() - loop();
    if (!options_.gathers) return loop();
    const std::size_t index = index_array(1);
    const Memlet read = access(index, {loop()}, scope);
    return Expr::read(read.container, read.subset);
  }

  std::vector<Expr> any_subscripts(std::size_t array, const Scope& scope, bool plain = false) {
    std::vector<Expr> subscript;
    const std::size_t rank = drafts_[array].used.size();
    for (std::size_t d = 0; d < rank; ++d) subscript.push_back(any_subscript(scope, rank, plain));
    return subscript;
  }

  // --- Statements ---------------------------------------------------------------------------------------------------

  std::string new_state() { return "S" + std::to_string(statements_++); }

  // Makes a value of `type`; its reads go to `inputs`. Some are neighbours of `near` (an array and a subscript).
  struct Near {
    std::size_t array;
    std::vector<Expr> subscript;
  };
  ScalarExpr value(ElementType type, const Scope& scope, std::vector<Memlet>& inputs, const Near* near) {
    const auto leaf = [&](ElementType wanted) -> ScalarExpr {
      if (inputs.size() > 5 || random_.percent(15)) {
        if (!scope.loops.empty() && random_.percent(40)) {
          return convert_value(ScalarExpr::make_symbolic(Expr::symbol(random_.pick(scope.loops)), ElementType::i64),
                               wanted);
        }
        return any_constant(random_, wanted);
      }
      std::size_t array = any_array(scope);
      std::vector<Expr> subscript;
      if (near != nullptr && random_.percent(35)) {
        array = near->array;
        subscript = near->subscript;
        for (Expr& e : subscript) e = e + Expr(random_.between(-1, 1));
      } else {
        subscript = any_subscripts(array, scope);
      }
      inputs.push_back(access(array, subscript, scope));
      const auto read = ScalarExpr::make_input(static_cast<int>(inputs.size()) - 1, drafts_[array].type);
      return convert_value(read, wanted);
    };
    return compose(type, leaf);
  }

  ScalarExpr compose(ElementType type, const std::function<ScalarExpr(ElementType)>& leaf) {
    if (!options_.smooth) return any_value(random_, type, static_cast<int>(random_.between(1, 3)), leaf);
    ScalarExpr sum = leaf(type);
    for (std::size_t k = random_.below(3); k > 0; --k) {
      const auto scaled = ScalarExpr::binary(ScalarOp::mul, ScalarExpr::real(0.25, type), leaf(type));
      sum = ScalarExpr::binary(random_.percent(70) ? ScalarOp::add : ScalarOp::sub, sum, scaled);
    }
    return sum;
  }

  bool writable(std::size_t array) const { return !drafts_[array].index; }

  // Each array written at one place, its subscripts are loops; what is read is near, or of an array only read.
  void tidy_statement(const Scope& scope, Region& region) {
    std::vector<std::string> loops = scope.loops;
    while (loops.size() > 2 || (loops.size() > 1 && random_.percent(25))) {
      loops.erase(loops.begin() + static_cast<long>(random_.below(loops.size())));  // what is left out is reduced
    }
    if (random_.percent(25)) std::ranges::reverse(loops);
    const std::size_t target = new_draft("B" + std::to_string(drafts_.size()), main_type_, loops.size());
    Near near = {target, {}};
    for (const std::string& loop : loops) near.subscript.push_back(Expr::symbol(loop));
    std::vector<Memlet> inputs;
    const ScalarExpr code = value(main_type_, scope, inputs, random_.percent(40) ? &near : nullptr);
    Memlet out = access(target, near.subscript, scope);
    if (loops.size() < scope.loops.size() && main_type_ != ElementType::boolean) out.combine = ReductionOp::sum;
    region.nodes.emplace_back(assignment(new_state(), out, code, inputs));
    arguments_.push_back(target);
  }

  void statement(const Scope& scope, Region& region) {
    if (options_.tidy && random_.percent(85)) return tidy_statement(scope, region);
    const std::size_t form = random_.below(100);
    if (form < (options_.smooth ? 45 : 20)) return reduction(scope, region);
    if (form < 32) return two_tasklets(scope, region);
    const std::size_t target = any_array(scope);
    const Near near = {target, any_subscripts(target, scope, random_.percent(80))};
    std::vector<Memlet> inputs;
    const ScalarExpr code = value(drafts_[target].type, scope, inputs, &near);
    const Memlet out = access(target, near.subscript, scope);
    region.nodes.emplace_back(assignment(new_state(), out, code, inputs));
  }

  // x = x op e, as a combining memlet or written out; x uses only some of the loops.
  void reduction(const Scope& scope, Region& region) {
    const std::size_t target = any_array(scope);
    Scope outer = scope;
    if (!outer.loops.empty())
      outer.loops.erase(outer.loops.begin() + static_cast<long>(random_.below(outer.loops.size())));
    const std::vector<Expr> subscript = any_subscripts(target, outer, true);
    const ElementType type = drafts_[target].type;
    std::vector<Memlet> inputs;
    ScalarExpr code = value(type == ElementType::boolean ? ElementType::boolean : type, scope, inputs, nullptr);
    Memlet out = access(target, subscript, scope);
    if (type == ElementType::boolean) {
      out.combine = random_.percent(50) ? ReductionOp::bit_and : ReductionOp::bit_or;
    } else if (random_.percent(50)) {
      std::vector<ReductionOp> ops = {ReductionOp::sum, ReductionOp::sum, ReductionOp::min, ReductionOp::max};
      if (!options_.smooth) ops.push_back(ReductionOp::product);
      if (!is_float(type)) ops.insert(ops.end(), {ReductionOp::bit_and, ReductionOp::bit_or, ReductionOp::bit_xor});
      out.combine = random_.pick(ops);
    } else {
      inputs.push_back(out);
      const auto old = ScalarExpr::make_input(static_cast<int>(inputs.size()) - 1, type);
      const auto op = random_.percent(70) || options_.smooth ? ScalarOp::add
                      : random_.percent(50)                  ? ScalarOp::mul
                                                             : ScalarOp::sub;
      code = ScalarExpr::binary(op, old, code);
    }
    region.nodes.emplace_back(assignment(new_state(), out, code, inputs));
  }

  // A state of two tasklets with a transient scalar between them.
  void two_tasklets(const Scope& scope, Region& region) {
    const std::size_t target = any_array(scope);
    const std::vector<Expr> subscript = any_subscripts(target, scope, true);
    const std::size_t between = new_draft("t" + std::to_string(temporaries_++), main_type_, 0);
    drafts_[between].transient = true;
    std::vector<Memlet> inputs;
    const ScalarExpr first = value(main_type_, scope, inputs, nullptr);
    const Memlet middle = access(between, {}, scope);
    const ScalarExpr second = compose(drafts_[target].type, [&](ElementType wanted) {
      return random_.percent(70) ? convert_value(ScalarExpr::make_input(0, main_type_), wanted)
                                 : any_constant(random_, wanted);
    });
    const Memlet out = access(target, subscript, scope);
    State state = assignment(new_state(), middle, first, inputs);
    const int access_node = [&] {
      for (const Edge& edge : state.edges) {
        if (edge.connector == "out") return edge.target;
      }
      return -1;
    }();
    const int tasklet = static_cast<int>(state.nodes.size());
    state.nodes.emplace_back(Tasklet{{"x"}, second});
    state.nodes.emplace_back(AccessNode{out.container});
    state.edges.push_back({access_node, tasklet, "x", middle});
    state.edges.push_back({tasklet, tasklet + 1, "out", out});
    region.nodes.emplace_back(std::move(state));
  }

  // t = …; readable from here to the end of the region.
  void temporary(Scope& scope, Region& region) {
    const ElementType type = random_.percent(70) ? main_type_ : any_type();
    std::vector<Memlet> inputs;
    const ScalarExpr code = value(type, scope, inputs, nullptr);
    const std::size_t array = new_draft("t" + std::to_string(temporaries_++), type, 0);
    drafts_[array].transient = true;
    region.nodes.emplace_back(assignment(new_state(), access(array, {}, scope), code, inputs));
    scope.arrays.push_back(array);
  }

  // A transient array, written from end to end by a loop of its own; readable and writable from here on.
  void transient_array(Scope& scope, Region& region) {
    const std::size_t array = new_draft("T" + std::to_string(temporaries_++), main_type_, 1);
    drafts_[array].transient = true;
    Loop loop;
    loop.symbol = "l" + std::to_string(loops_++);
    loop.end = drafts_[array].extent(0);
    ScalarExpr code = convert_value(ScalarExpr::make_symbolic(Expr::symbol(loop.symbol), ElementType::i64), main_type_);
    if (main_type_ != ElementType::boolean) {
      code = ScalarExpr::binary(ScalarOp::add, code, any_constant(random_, main_type_));
    }
    // Not by `access`: this loop follows the shape, the shape does not follow it.
    const Memlet out = {drafts_[array].name, {Expr::symbol(loop.symbol)}, std::nullopt};
    loop.body.nodes.emplace_back(assignment(new_state(), out, code, {}));
    region.nodes.emplace_back(std::move(loop));
    scope.arrays.push_back(array);
  }

  // --- Products -----------------------------------------------------------------------------------------------------

  // One loop more, its body is filled by `body`.
  template <class Body>
  void product_loop(const Scope& scope, Region& region, Expr begin, Expr end, const Body& body) {
    Loop loop;
    loop.begin = std::move(begin);
    loop.end = std::move(end);
    loop.symbol = "l" + std::to_string(loops_++);
    Scope inner = scope;
    inner.loops.push_back(loop.symbol);
    const std::int64_t first = interval_of(loop.begin, scope.symbols).low;
    inner.symbols[loop.symbol] = {first, std::max(first, interval_of(loop.end, scope.symbols).high - 1)};
    body(inner, loop.body);
    region.nodes.emplace_back(std::move(loop));
  }

  void product(const Scope& scope, Region& region) {
    if (random_.percent(15)) {
      return product_loop(scope, region, Expr(0), Expr(2),
                          [&](const Scope& inner, Region& body) { product_rows(inner, body); });
    }
    product_rows(scope, region);
  }

  void product_rows(const Scope& scope, Region& region) {
    const Expr size = any_size(scope) * Expr(random_.between(1, 2));
    const std::size_t form = random_.below(100);
    product_loop(scope, region, Expr(random_.percent(80) ? 0 : 1), size, [&](const Scope& rows, Region& row) {
      const Expr i = Expr::symbol(rows.loops.back());
      Expr begin(0), end = any_size(scope) * Expr(random_.between(1, 2));
      if (form < 15) {
        end = i + Expr(random_.between(0, 1));
      } else if (form < 30) {
        begin = i + Expr(random_.between(0, 1));
        end = size;
      } else if (form < 35) {
        begin = size - Expr(1) - i;
        end = size;
      } else if (form < 40) {
        begin = Expr::max(i - Expr(2), Expr(0));
        end = Expr::min(i + Expr(5), size);
      }
      product_loop(rows, row, begin, end, [&](const Scope& columns, Region& column) {
        const Expr low(random_.percent(80) ? 0 : 1);
        product_loop(columns, column, low, any_size(scope), [&](const Scope& inner, Region& body) {
          for (std::int64_t k = random_.percent(70) ? 1 : 2; k > 0; --k) update(inner, body);
        });
      });
    });
  }

  // An element of the first two of the innermost three loops, from its old value more often than not.
  void update(const Scope& scope, Region& region) {
    const std::size_t inner = scope.loops.size() - 1;
    std::vector<Expr> subscript = {Expr::symbol(scope.loops[inner - 2]), Expr::symbol(scope.loops[inner - 1])};
    if (random_.percent(25)) std::ranges::reverse(subscript);
    if (random_.percent(15)) subscript[random_.below(2)] = Expr(3) - subscript[random_.below(2)] * Expr(2);
    if (random_.percent(10)) subscript.push_back(Expr(random_.between(0, 1)));
    const std::size_t target = new_draft("B" + std::to_string(drafts_.size()), main_type_, subscript.size());
    std::vector<Memlet> inputs;
    const Near near = {target, subscript};
    ScalarExpr code = value(main_type_, scope, inputs, random_.percent(10) ? &near : nullptr);
    const Memlet out = access(target, subscript, scope);
    if (random_.percent(80) && main_type_ != ElementType::boolean) {
      inputs.push_back(out);
      const auto old = ScalarExpr::make_input(static_cast<int>(inputs.size()) - 1, main_type_);
      code = ScalarExpr::binary(random_.percent(70) || options_.smooth ? ScalarOp::add : ScalarOp::sub, old, code);
    }
    region.nodes.emplace_back(assignment(new_state(), out, code, inputs));
    arguments_.push_back(target);  // the next statement may read it anywhere
  }

  // --- In place -----------------------------------------------------------------------------------------------------

  void in_place(const Scope& scope, Region& region) {
    const bool closure = random_.percent(60), triangle = random_.percent(20);
    const std::size_t array = new_draft("D" + std::to_string(drafts_.size()), main_type_, 2);
    product_loop(scope, region, Expr(0), any_size(scope), [&](const Scope& outer, Region& steps) {
      const Expr begin(random_.between(0, 2));
      product_loop(outer, steps, begin, any_size(scope) + begin, [&](const Scope& rows, Region& row) {
        const Expr end = triangle ? Expr::symbol(rows.loops.back()) + Expr(1) : any_size(scope) + Expr(1);
        product_loop(rows, row, Expr(random_.percent(70) ? 0 : 1), end, [&](const Scope& inner, Region& body) {
          for (std::int64_t k = random_.percent(75) ? 1 : 2; k > 0; --k) update_in_place(array, closure, inner, body);
        });
      });
    });
    arguments_.push_back(array);
  }

  void update_in_place(std::size_t array, bool closure, const Scope& scope, Region& region) {
    const std::size_t inner = scope.loops.size() - 1;
    const Expr step = Expr::symbol(scope.loops[inner - 2]), i = Expr::symbol(scope.loops[inner - 1]),
               j = Expr::symbol(scope.loops[inner]);
    const auto near = [&] { return Expr(random_.between(-1, random_.percent(70) ? 0 : 1)); };
    const Expr apart(random_.percent(70) ? 0 : random_.between(-1, 1));
    std::vector<std::vector<Expr>> subscripts = {{i + near(), j + near()}, {i + near(), j + near()}};
    if (closure) subscripts = {{i, step + apart}, {step + apart, j}};
    std::vector<Memlet> inputs;
    std::vector<ScalarExpr> read;
    subscripts.push_back({i, j});
    for (const auto& subscript : subscripts) {
      inputs.push_back(access(array, subscript, scope));
      read.push_back(ScalarExpr::make_input(static_cast<int>(inputs.size()) - 1, main_type_));
    }
    const bool is_float = sdfg::is_float(main_type_);
    const auto one_of = [&](bool sum, const ScalarExpr& a, const ScalarExpr& b) {
      const bool first = random_.percent(50);
      if (main_type_ == ElementType::boolean)
        return ScalarExpr::binary(first ? ScalarOp::logical_and : ScalarOp::logical_or, a, b);
      if (sum && is_float) return ScalarExpr::binary(ScalarOp::add, a, b);
      if (is_float) return ScalarExpr::select(ScalarExpr::binary(ScalarOp::lt, a, b), first ? a : b, first ? b : a);
      return ScalarExpr::binary(first ? ScalarOp::min : ScalarOp::max, a, b);
    };
    const ScalarExpr both = one_of(random_.percent(70), read[0], read[1]);
    const Memlet out = access(array, {i, j}, scope);
    const ScalarExpr code = random_.percent(80) ? one_of(false, read[2], both) : both;
    if (random_.percent(25)) {
      // By a temporary and under a condition, as people write it.
      const std::size_t temporary = new_draft("t" + std::to_string(drafts_.size()), main_type_, 0);
      drafts_[temporary].transient = true;
      const Memlet local = access(temporary, {}, scope);
      region.nodes.emplace_back(assignment(new_state(), local, both, {inputs[0], inputs[1]}));
      const auto test = main_type_ == ElementType::boolean
                            ? ScalarExpr::make_input(0, main_type_)
                            : ScalarExpr::binary(ScalarOp::lt, ScalarExpr::make_input(0, main_type_),
                                                 ScalarExpr::make_input(1, main_type_));
      std::vector<Memlet> asked = {local};
      if (main_type_ != ElementType::boolean) asked.push_back(inputs[2]);
      Region then_body;
      then_body.nodes.emplace_back(assignment(new_state(), out, ScalarExpr::make_input(0, main_type_), {local}));
      region.nodes.emplace_back(sdfg::If{.condition = {test, asked}, .then_body = then_body, .else_body = {}});
      return;
    }
    if (code == both) inputs.pop_back();
    region.nodes.emplace_back(assignment(new_state(), out, code, inputs));
  }

  // --- Control flow -------------------------------------------------------------------------------------------------

  Condition condition(const Scope& scope) {
    Condition result;
    if (options_.smooth || (!scope.loops.empty() && random_.percent(50))) {
      if (scope.loops.empty()) {
        result.code = ScalarExpr::integer(1, ElementType::boolean);
        return result;
      }
      const Expr loop = Expr::symbol(random_.pick(scope.loops));
      const Expr other = random_.percent(50) ? Expr::symbol(random_.pick(scope.loops)) : Expr(random_.between(0, 4));
      const auto op = random_.pick(
          std::vector<ScalarOp>{ScalarOp::lt, ScalarOp::le, ScalarOp::gt, ScalarOp::ge, ScalarOp::eq, ScalarOp::ne});
      result.code =
          ScalarExpr::binary(op, ScalarExpr::make_symbolic(loop + Expr(random_.between(-1, 1)), ElementType::i64),
                             ScalarExpr::make_symbolic(other, ElementType::i64));
      return result;
    }
    result.code = value(ElementType::boolean, scope, result.inputs, nullptr);
    return result;
  }

  void add_if(const Scope& scope, Region& region, int depth) {
    If branch;
    branch.condition = condition(scope);
    fill(scope, branch.then_body, depth);
    if (random_.percent(35)) fill(scope, branch.else_body, depth);
    region.nodes.emplace_back(std::move(branch));
  }

  // A While that counts a transient to 2 or 3, or to what an index array has at a loop's place, and may end before.
  void add_while(const Scope& scope, Region& region) {
    const std::size_t counter = new_draft("t" + std::to_string(temporaries_++), ElementType::i32, 0);
    drafts_[counter].transient = true;
    const Memlet at = access(counter, {}, scope);
    const auto constant = [](std::int64_t v) { return ScalarExpr::integer(v, ElementType::i32); };
    const auto count = ScalarExpr::make_input(0, ElementType::i32);
    region.nodes.emplace_back(assignment(new_state(), at, constant(0), {}));
    While loop;
    loop.test_first = random_.percent(50);
    loop.condition = {ScalarExpr::binary(ScalarOp::lt, count, constant(random_.between(2, 3))), {at}};
    if (options_.gathers && !scope.loops.empty() && random_.percent(50)) {
      const std::size_t index = index_array(1);
      loop.condition.inputs.push_back(access(index, {Expr::symbol(scope.loops.back())}, scope));
      loop.condition.code.args[1] = ScalarExpr::cast(ScalarExpr::make_input(1, drafts_[index].type), ElementType::i32);
    }
    statement(scope, loop.body);
    if (random_.percent(30)) {
      If early{.condition = condition(scope), .then_body = {}, .else_body = {}};
      early.then_body.nodes.emplace_back(assignment(new_state(), at, constant(9), {}));
      loop.body.nodes.emplace_back(std::move(early));
    }
    loop.body.nodes.emplace_back(
        assignment(new_state(), at, ScalarExpr::binary(ScalarOp::add, count, constant(1)), {at}));
    region.nodes.emplace_back(std::move(loop));
  }

  Expr any_size(const Scope& scope) {
    // Tidy nests share one size, so that neighbours can be fused.
    if (options_.tidy && random_.percent(80)) {
      return scope.symbols.contains("n") ? Expr::symbol("n") : Expr(4);
    }
    std::vector<Expr> sizes = {Expr(random_.between(3, 5))};
    for (const char* symbol : {"n", "m"}) {
      if (scope.symbols.contains(symbol)) sizes.insert(sizes.end(), 3, Expr::symbol(symbol));
    }
    return random_.pick(sizes);
  }

  void bounds(const Scope& scope, Loop& loop) {
    const Expr size = any_size(scope);
    const std::size_t form = options_.tidy && random_.percent(85) ? 0 : random_.below(100);
    loop.begin = Expr(0);
    loop.end = size;
    const bool nested = !scope.loops.empty();
    const Expr outer = nested ? Expr::symbol(random_.pick(scope.loops)) : Expr(0);
    if (form < 45) return;
    if (form < 52) {
      loop.begin = Expr(1);
      loop.end = size - Expr(1);
    } else if (form < 58) {
      loop.step = random_.between(2, 3);
    } else if (form < 66) {
      loop.begin = size - Expr(1);
      loop.end = Expr(-1);
      loop.step = random_.percent(70) ? -1 : -2;
    } else if (form < 72 && nested) {
      loop.end = outer + Expr(1);
    } else if (form < 77 && nested) {
      loop.begin = outer;
    } else if (form < 81 && nested) {
      loop.begin = outer + Expr(1);
    } else if (form < 85 && nested) {
      loop.begin = outer;
      loop.end = Expr::min(outer + Expr(3), size);
    } else if (form < 88 && nested) {
      loop.begin = Expr::max(outer - Expr(2), Expr(0));
    } else if (form < 91) {
      loop.end = Expr::floor_div(size + Expr(1), Expr(2));
    } else if (form < 93) {
      loop.begin = Expr(random_.between(3, 5));
      loop.end = Expr(random_.between(0, 3));
    } else if (form < 95 && options_.gathers) {
      const Memlet count = access(index_array(0), {}, scope);
      loop.end = Expr::read(count.container, {});
    } else if (form < 97 && nested) {
      loop.begin = outer;
      loop.end = Expr(-1);
      loop.step = -1;
    }
  }

  void add_loop(const Scope& scope, Region& region, int depth) {
    Loop loop;
    bounds(scope, loop);
    loop.symbol = "l" + std::to_string(loops_++);
    Scope inner = scope;
    inner.loops.push_back(loop.symbol);
    const Interval begin = interval_of(loop.begin, scope.symbols);
    const Interval end = interval_of(loop.end, scope.symbols);
    Interval value = loop.step > 0 ? Interval{begin.low, end.high - 1} : Interval{end.low + 1, begin.high};
    if (value.high < value.low) value.high = value.low;  // never runs: any subscript is in bounds
    inner.symbols[loop.symbol] = value;
    fill(inner, loop.body, depth - 1);
    region.nodes.emplace_back(std::move(loop));
  }

  // `depth`: the loops that may still be nested in here.
  void fill(Scope scope, Region& region, int depth) {
    if (options_.tidy && random_.percent(85)) {
      if (depth > 0) return add_loop(scope, region, depth);
      for (std::int64_t k = random_.between(1, 2); k > 0; --k) statement(scope, region);
      return;
    }
    // Mostly one nest straight down to its depth, with statements around it.
    const std::int64_t nodes = random_.between(1, depth > 0 ? 2 : 3);
    bool nested = false;
    for (std::int64_t k = 0; k < nodes; ++k) {
      if (statements_ >= options_.max_statements && !region.nodes.empty()) return;
      const std::size_t form = random_.below(100);
      if (depth > 0 && (!nested || random_.percent(30)) && form < 60 && loops_ < 8) {
        add_loop(scope, region, depth);
        nested = true;
      } else if (form < 70 && depth >= 0) {
        add_if(scope, region, depth - 1);
      } else if (form < 80) {
        temporary(scope, region);
        statement(scope, region);
      } else if (form < 83 && depth > 0 && loops_ < 7) {
        transient_array(scope, region);
        statement(scope, region);
      } else if (form < 85 && options_.whiles) {
        add_while(scope, region);
      } else {
        statement(scope, region);
      }
    }
    if (depth > 0 && !nested && loops_ < 8 && statements_ < options_.max_statements) add_loop(scope, region, depth);
  }

  // --- Shapes -------------------------------------------------------------------------------------------------------

  void finish(const Region& root) {
    std::map<std::string, Expr> with;
    std::set<std::string> written = touched(root).written;
    for (const Draft& draft : drafts_) {
      if (!draft.touched && !written.contains(draft.name)) continue;
      Container container;
      container.name = draft.name;
      container.type = draft.type;
      container.transient = draft.transient;
      container.storage = draft.transient ? Storage::stack : Storage::argument;
      container.constant = draft.index || (!draft.transient && !written.contains(draft.name) && random_.percent(50));
      for (std::size_t d = 0; d < draft.used.size(); ++d) {
        const std::int64_t extent = draft.used[d].high - draft.used[d].low + 1;
        const bool symbolic = !sdfg_.symbols.empty() && random_.percent(50);
        container.shape.push_back(symbolic ? Expr::symbol(random_.pick(sdfg_.symbols)) + Expr(extent - smallest_symbol)
                                           : Expr(extent));
        with[draft.name + ".offset" + std::to_string(d)] = Expr(-draft.used[d].low);
        with[draft.name + ".extent" + std::to_string(d)] = container.shape.back();
      }
      container.strides = strides(container.shape);
      if (!draft.transient) sdfg_.arguments.push_back(draft.name);
      sdfg_.containers.push_back(std::move(container));
    }
    sdfg_.arguments.insert(sdfg_.arguments.end(), sdfg_.symbols.begin(), sdfg_.symbols.end());
    for (std::size_t k = sdfg_.arguments.size(); k > 1; --k) {
      std::swap(sdfg_.arguments[k - 1], sdfg_.arguments[random_.below(k)]);
    }
    for (const std::string& symbol : sdfg_.symbols) {
      sdfg_.assumptions.push_back(Expr::symbol(symbol) - Expr(smallest_symbol));
      sdfg_.assumptions.push_back(Expr(largest_symbol) - Expr::symbol(symbol));
    }
    sdfg_.root = substitute(root, with);
    for (Container& container : sdfg_.containers)
      container.dead =
          !container.transient && !container.constant && written.contains(container.name) && random_.percent(20);
  }

  // Row-major; sometimes with padding, sometimes column-major.
  std::vector<Expr> strides(const std::vector<Expr>& shape) {
    if (shape.size() < 2 || random_.percent(80)) return row_major(shape);
    if (random_.percent(50)) {
      std::vector<Expr> padded = shape;
      padded.back() = padded.back() + Expr(random_.between(1, 3));
      return row_major(padded);
    }
    const std::vector<Expr> reversed(shape.rbegin(), shape.rend());
    std::vector<Expr> result = row_major(reversed);
    std::ranges::reverse(result);
    return result;
  }

  Random random_;
  NestOptions options_;
  Sdfg sdfg_;
  ElementType main_type_;
  std::vector<Draft> drafts_;
  std::vector<std::size_t> arguments_;  // drafts that statements use; index arrays apart
  int statements_ = 0, loops_ = 0, temporaries_ = 0;
};

}  // namespace

sdfg::Sdfg random_nest(std::uint64_t seed, const NestOptions& options) { return Maker(seed, options).make(seed); }

namespace {

// The rest of `memory`: the arguments, in the sizes that its symbols give them.
sdfg::Memory with_arguments(Memory memory, const sdfg::Sdfg& sdfg, Random& random) {
  for (const Container& container : sdfg.containers) {
    if (container.transient) continue;
    const std::int64_t elements = store_size(sdfg, container.name, memory.symbols).value_or(0);
    Buffer& buffer = memory.buffers[container.name];
    buffer.type = container.type;
    const auto size = static_cast<std::size_t>(info(container.type).bytes);
    buffer.bytes.resize(static_cast<std::size_t>(elements) * size);
    for (std::size_t k = 0; k < static_cast<std::size_t>(elements); ++k) {
      const bool index = container.name.starts_with("idx") || container.natural;
      const ScalarExpr value = index ? ScalarExpr::integer(random.between(0, largest_index), container.type)
                                     : any_constant(random, container.type);
      for (std::size_t b = 0; b < size; ++b) buffer.bytes[k * size + b] = static_cast<std::byte>(value.bits >> (8 * b));
    }
  }
  return memory;
}

}  // namespace

sdfg::Memory random_memory(const sdfg::Sdfg& sdfg, std::uint64_t seed) {
  Random random(seed);
  Memory memory;
  for (const std::string& symbol : sdfg.symbols) {
    memory.symbols[symbol] = random.between(smallest_symbol, largest_symbol);
  }
  return with_arguments(std::move(memory), sdfg, random);
}

sdfg::Memory random_memory(const sdfg::Sdfg& sdfg, std::uint64_t seed,
                           const std::map<std::string, std::int64_t>& symbols) {
  Random random(seed);
  Memory memory;
  memory.symbols = {symbols.begin(), symbols.end()};
  return with_arguments(std::move(memory), sdfg, random);
}

}  // namespace sous::tests
