// Steps: the textbook transformations that recipes are made of.
//
// A step is one file in transforms/steps/ with one struct: its parameters are members, its declaration is constexpr
// data (name, summary, pictures, parameters with their domains, defaults and relations, refusals). From that
// declaration come validation, the JSON form, the text form, `sous help`, docs/steps.md, the server's schema and the
// search space of tuners and property tests (search_space.h). Its `plan` holds all other legality, for calls that are
// as declared: it builds the new schedule tree and has it proven, or shows that new statements are `Equivalent`; the
// `Plan` made of that is the only way to change a nest, and `rewrite` cannot fail.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sdfg/dependences.h"
#include "sdfg/schedule_tree.h"
#include "transforms/declaration.h"
#include "transforms/recipe.h"

namespace sous::transforms {

// What a recipe may know of the machine and of the user's flags.
struct StepContext {
  std::map<std::string, std::int64_t> hardware;  // "l2_bytes", "simd_bits", "cores", …: names in size expressions
  bool reassociate = false;                      // floating-point reductions may be split
  // Of the nest's symbols, where they are known or expected: strategies choose by them, nothing is proven of them.
  std::map<std::string, std::int64_t> sizes = {};
};

// A nest being rewritten. `dependences` are those of `scop`; `tree` is its order now. A step that changed statements
// leaves the dependences `stale`: they are computed again before the next step looks at them. They may be those of the
// statements alone that a step concerns (apply.cc).
struct Nest {
  sdfg::Scop scop;
  sdfg::Dependences dependences;
  sdfg::ScheduleTree tree;
  bool stale = false;
  bool restructured = false;  // statements are not those of the program any more
  bool draft = false;         // nothing is proven of its order: for estimates (apply.h)
};

// A graph whose statements compute what those of a nest do, as a structure step has shown: each of these does so by the
// condition at the head of its file, and nobody else can make one.
class Equivalent {
  friend struct BlockPivots;
  friend struct Detach;
  friend struct Expand;
  friend struct HandOver;
  friend struct Join;
  friend struct Meet;
  friend struct Overlap;
  friend struct Pack;
  friend struct Preserve;
  friend struct Privatize;
  friend struct Promote;
  friend struct RegisterTile;
  friend struct Split;
  friend struct Stage;
  friend struct Uncontract;
  friend class Plan restructure(class Plan, const Equivalent&);
  explicit Equivalent(sdfg::Sdfg graph) : graph_(std::move(graph)) {}
  sdfg::Sdfg graph_;
};

// What was proven of a nest: that the instances may run in this order; of a structure step also that other statements
// compute the same in it.
class Plan {
 public:
  const sdfg::ScheduleTree& tree() const { return tree_; }

 private:
  friend Result<Plan> prove(const Nest&, sdfg::ScheduleTree, std::string_view, std::string_view);
  friend Plan restructure(Plan, const Equivalent&);
  friend Plan unchanged(const Nest&);
  friend Plan annotated(const Nest&, sdfg::ScheduleTree);
  friend struct Nest rewrite(Nest, const Plan&);
  explicit Plan(sdfg::ScheduleTree tree) : tree_(std::move(tree)) {}
  sdfg::ScheduleTree tree_;
  std::optional<sdfg::Scop> restructured_;  // of a structure step: what replaces the nest's statements
};

// Asks sdfg::respects, but of a draft. A violated order is refused with `refusal` (a code of the step's own); an
// exhausted budget stays isl.budget. `where` names the loop in question.
Result<Plan> prove(const Nest& nest, sdfg::ScheduleTree tree, std::string_view refusal, std::string_view where);
// For structure steps, which change statements too (a tile kept in registers, a packed operand): `order` is that in
// which the instances run in `result`.
Plan restructure(Plan order, const Equivalent& result);
// The order that the nest has: it needs no proof. For structure steps that leave it alone.
Plan unchanged(const Nest& nest);
// That order with other hints in the tree (ScheduleLoop::prefetch), which is the nest's otherwise.
Plan annotated(const Nest& nest, sdfg::ScheduleTree tree);
Nest rewrite(Nest nest, const Plan& plan);

// --- Declarations ---------------------------------------------------------------------------------------------------

struct LoopRef {
  std::string name;
};
struct Size {
  std::int64_t value = 0;
};

struct StepInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view before, after;  // a picture in a few lines of pseudo code
  std::string_view names;          // which loops it makes and what they are called
  std::span<const ParamInfo> params;
  std::span<const RefusalInfo> refusals;
  bool reassociates = false;  // may change the association of floating-point reductions (with leave only)
  // What it makes of a nest follows from the tree alone, if it is legal: a draft may be made of it.
  bool drafted = false;
  // Looks at `Nest::dependences`. Those of a restructured nest are costly: they are computed for the steps that do.
  bool needs_dependences = true;
  Result<Plan> (*plan)(const Nest& nest, const StepCall& call, const StepContext& context) = nullptr;
};

// All steps, sorted by name (transforms/steps/steps.list).
std::span<const StepInfo* const> steps();
const StepInfo* find_step(std::string_view name);

// The call's parameters against the declaration, as far as neither nest nor hardware is needed: recipe.unknown-step,
// recipe.parameter, and the parameter's own refusal where lists that belong together differ in length.
Result<void> validate(const StepCall& call);
// The same on this hardware, of a valid call: recipe.size (a size has no value, or one outside of its domain), or the
// parameter's refusal where a multiple is none.
Result<void> check_values(const StepInfo& step, const StepCall& call, const StepContext& context);
// And in this nest: <step>.no-loop, or the parameter's refusal where a loop does not stand as declared.
Result<void> check_loops(const StepInfo& step, const StepCall& call, const sdfg::ScheduleTree& tree);
// The loops that stand to this one as `relation` (of two loops) says, parents first.
std::vector<std::string> related(const sdfg::ScheduleTree& tree, Relation relation, const std::string& loop);
// The loops of the perfect band that begins with this one: each is the only child of the one before.
std::vector<std::string> band_from(const sdfg::ScheduleTree& tree, const std::string& loop);
// "tile(loops=[i0, i1], sizes=[32, 32])"
std::string to_text(const StepCall& call);
// All declarations as JSON (GET /v1/steps), as help text, as a page of docs/steps.md.
std::string steps_json();
std::string step_help(const StepInfo& step);
std::string steps_markdown();

// --- For the authors of steps ---------------------------------------------------------------------------------------

// Ties a declared parameter to a member of the step's struct.
template <class Step, class T>
struct Param {
  ParamInfo info;
  T Step::* member;
};

constexpr ParamType param_type(const LoopRef*) { return ParamType::Loop; }
constexpr ParamType param_type(const std::vector<LoopRef>*) { return ParamType::Loops; }
constexpr ParamType param_type(const Size*) { return ParamType::Size; }
constexpr ParamType param_type(const std::vector<Size>*) { return ParamType::Sizes; }
constexpr ParamType param_type(const std::int64_t*) { return ParamType::Integer; }
constexpr ParamType param_type(const std::string*) { return ParamType::Choice; }

template <class Step, class T>
constexpr Param<Step, T> param(T Step::* member, ParamInfo info) {
  info.type = param_type(static_cast<const T*>(nullptr));
  if (!std::holds_alternative<std::monostate>(info.default_value)) info.required = false;
  return {info, member};
}

Result<void> bind(LoopRef& member, const ParamValue& value, const StepContext& context);
Result<void> bind(std::vector<LoopRef>& member, const ParamValue& value, const StepContext& context);
Result<void> bind(Size& member, const ParamValue& value, const StepContext& context);
Result<void> bind(std::vector<Size>& member, const ParamValue& value, const StepContext& context);
Result<void> bind(std::int64_t& member, const ParamValue& value, const StepContext& context);
Result<void> bind(std::string& member, const ParamValue& value, const StepContext& context);

// What is not given has its declared default.
inline void set_default(std::int64_t& member, const ParamInfo& info) {
  if (!info.required) member = std::get<std::int64_t>(info.default_value);
}
inline void set_default(std::string& member, const ParamInfo& info) {
  if (!info.required) member = std::get<std::string_view>(info.default_value);
}
template <class T>
void set_default(T&, const ParamInfo&) {}  // of loops there is none

template <class Step>
struct Declared {
  static constexpr auto infos =
      std::apply([](const auto&... p) { return std::array<ParamInfo, sizeof...(p)>{p.info...}; }, Step::params);
  static_assert(declaration_fault(infos, Step::refusals) == "");

  static Result<Plan> plan(const Nest& nest, const StepCall& call, const StepContext& context) {
    TRY_VOID(validate(call));
    const StepInfo& info = *find_step(call.step);
    TRY_VOID(check_values(info, call, context));
    TRY_VOID(check_loops(info, call, nest.tree));
    Step step;
    Result<void> bound;
    auto one = [&](const auto& p) {
      auto it = call.params.find(std::string(p.info.name));
      if (it == call.params.end()) return set_default(step.*(p.member), p.info);
      if (bound) bound = bind(step.*(p.member), it->second, context);
    };
    std::apply([&](const auto&... p) { (one(p), ...); }, Step::params);
    if (!bound) return std::unexpected(bound.error());
    return step.plan(nest, context);
  }
};

// Steps do not but those that say so.
template <class Step>
constexpr bool reassociates() {
  if constexpr (requires { Step::reassociates; }) return Step::reassociates;
  return false;
}
// Every step does but those that say otherwise.
template <class Step>
constexpr bool needs_dependences() {
  if constexpr (requires { Step::needs_dependences; }) return Step::needs_dependences;
  return true;
}

template <class Step>
constexpr bool drafted() {
  if constexpr (requires { Step::drafted; }) return Step::drafted;
  return false;
}

template <class Step>
constexpr StepInfo declare() {
  return {.name = Step::name,
          .summary = Step::summary,
          .before = Step::before,
          .after = Step::after,
          .names = Step::names,
          .params = Declared<Step>::infos,
          .refusals = Step::refusals,
          .reassociates = reassociates<Step>(),
          .drafted = drafted<Step>(),
          .needs_dependences = needs_dependences<Step>(),
          .plan = &Declared<Step>::plan};
}

// The loop that a parameter names: `check_loops` has found it.
const sdfg::ScheduleLoop& loop_of(const Nest& nest, const LoopRef& loop);

inline bool is_sequential(const sdfg::ScheduleLoop& loop) {
  return std::holds_alternative<sdfg::Sequential>(loop.schedule);
}

// Whether this band may become a kernel of a GPU: none of its loops has a schedule, and a kernel is in no other and
// holds none. Refused with `refusal`.
Result<void> may_be_kernel(const Nest& nest, const std::vector<LoopRef>& loops, std::string_view refusal);

// The least (greatest) value of `e` while `symbol` runs from `low` to `high` (both inclusive, low <= high), as an
// expression free of `symbol`; nullopt if it is not monotonic piece by piece (a modulo or a product of it).
std::optional<sdfg::Expr> least(const sdfg::Expr& e, const std::string& symbol, const sdfg::Expr& low,
                                const sdfg::Expr& high);
std::optional<sdfg::Expr> greatest(const sdfg::Expr& e, const std::string& symbol, const sdfg::Expr& low,
                                   const sdfg::Expr& high);

// Makes the iterations of `symbol` independent where that is possible: privates for temporaries, reductions where the
// type is an integer or the context allows reassociation. What remains carried is the refusal.
struct Independence {
  std::vector<std::string> privates;
  std::vector<sdfg::Reduction> reductions;
  void add_to(sdfg::ScheduleLoop& loop) const;  // without doubling what it has
};
// Of a draft: as if nothing were carried.
Result<Independence> independent(const Nest& nest, const std::string& symbol, const StepContext& context,
                                 std::string_view refusal);

// Every step's row of the table, defined in its own file.
#define X(name) extern const StepInfo name##_step;
#include "transforms/steps/steps.list"
#undef X

}  // namespace sous::transforms
