#include "frontends/c/loop_bound.h"

#include <algorithm>
#include <utility>

#include "frontends/c/loop_statements.h"
#include "frontends/c/loop_tokens.h"

namespace sous::frontends::c {
namespace {

using std::string;
using std::string_view;

constexpr int deepest = 64;  // more than any nest that is looked for; also what recursion comes to

struct Body {
  bool is_macro = false;
  std::vector<string_view> parameters;  // of a macro: what they stand for is seen where it is named
  LoopPart part;
};
using Bodies = std::unordered_map<string_view, std::vector<Body>>;

struct Known {
  int depth = 0;         // of loops that may be lifted
  bool unknown = false;  // calls what is not known
  bool is_macro = false;
};

// For each name what its bodies come to, through all that they name.
class Resolver {
 public:
  explicit Resolver(Bodies bodies) : bodies_(std::move(bodies)) {}

  std::unordered_map<string_view, Known> all() {
    for (const auto& [name, list] : bodies_) {
      for (const Body& body : list) known_[name].is_macro = known_[name].is_macro || body.is_macro;
    }
    for (auto& [name, list] : bodies_)
      for (Body& body : list) keep_macros(body.part);
    // First what is unknown, which only grows, then depths, which only grow once that is settled.
    fixed_point([](Known& known, const Known& here) { return here.unknown && !std::exchange(known.unknown, true); });
    for (auto& [name, known] : known_) known.depth = 0;
    fixed_point([](Known& known, const Known& here) {
      return here.depth > std::exchange(known.depth, std::max(known.depth, here.depth));
    });
    return std::move(known_);
  }

 private:
  // `grow` puts what a body comes to now into what is known, and tells whether that is more.
  template <class Grow>
  void fixed_point(const Grow& grow) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [name, list] : bodies_) {
        Known& known = known_[name];
        for (const Body& body : list) {
          parameters_ = &body.parameters;
          changed = grow(known, value(body.part)) || changed;
        }
      }
    }
  }

  // Most words are none, and bodies are looked at several times.
  void keep_macros(LoopPart& part) const {
    std::erase_if(part.names, [&](string_view name) {
      const auto at = known_.find(name);
      return at == known_.end() || !at->second.is_macro;
    });
    for (auto& loop : part.loops) keep_macros(*loop);
  }

  Known value(const LoopPart& part) const {
    Known out{0, part.calls_unknown};
    const auto take = [&](const Known& inner) {
      out.depth = std::max(out.depth, inner.depth);
      out.unknown = out.unknown || inner.unknown;
    };
    for (const auto& loop : part.loops) take(value(*loop));
    for (const string_view name : part.names) take(known_.at(name));
    for (const string_view name : part.called) {
      if (std::ranges::find(*parameters_, name) != parameters_->end()) continue;
      if (const auto at = known_.find(name); at != known_.end()) {
        take(at->second);
      } else if (!is_no_call(name)) {
        out.unknown = true;
      }
    }
    const auto head = part.head.empty() ? known_.end() : known_.find(part.head);
    out.unknown = out.unknown || (head != known_.end() && head->second.unknown);
    const int loops = head != known_.end() ? head->second.depth : part.is_loop ? 1 : 0;
    // What is around an unknown call is not lifted, what it calls on the way may be.
    if (!out.unknown) out.depth = std::min(out.depth + loops, deepest);
    return out;
  }

  Bodies bodies_;
  std::unordered_map<string_view, Known> known_;
  const std::vector<string_view>* parameters_ = nullptr;
};

// Splits the text into functions and what stands between them.
class Functions {
 public:
  Functions(const LoopTokens& tokens, const LoopNames& loop_macros, Bodies& bodies)
      : tokens_(tokens), loop_macros_(loop_macros), bodies_(bodies) {}

  // False: there are loops in something that is not understood.
  bool read() {
    LoopPart between;
    std::size_t start = 0;
    for (std::size_t at = 0; at < tokens_.size();) {
      if (tokens_[at].is_word) between.names.push_back(tokens_[at].text);
      if (is_loop_keyword(tokens_[at])) return false;
      if (tokens_[at].is(';')) start = at + 1;
      if (!tokens_[at].is('{')) {
        ++at;
        continue;
      }
      const std::size_t end = closing(at);
      if (start == at && at > 0) start = old_style_head(at);
      const std::size_t parameters = start == at ? at : end_of_parameters(start, at);
      const bool is_function = parameters > start && tokens_[parameters - 1].is(')');
      if (is_function ? !function(start, parameters, at, end) : has_loop(at, end)) return false;
      at = end + 1;
      if (is_function) start = at;
    }
    bodies_[""].push_back({false, {}, std::move(between)});  // macros that are functions
    return true;
  }
  bool any_loop() const { return any_loop_; }

 private:
  std::size_t closing(std::size_t at) const {
    int open = 0;
    for (; at < tokens_.size(); ++at) {
      if (tokens_[at].is('{')) ++open;
      if (tokens_[at].is('}') && --open == 0) break;
    }
    return at;
  }
  // The index of the bracket that the one before `end` closes; `begin` if there is none.
  std::size_t opening(std::size_t begin, std::size_t end) const {
    int open = 0;
    while (end-- > begin) {
      if (tokens_[end].is(')')) ++open;
      if (tokens_[end].is('(') && --open == 0) return end;
    }
    return begin;
  }
  bool has_loop(std::size_t begin, std::size_t end) const {
    return std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(std::min(end, tokens_.size())), is_loop_keyword);
  }
  // int f(a, b) int a; double *b; {: where the head of such a function may begin, or `at` if that is none. Behind its
  // brackets is a word, behind those of a pointer to a function among its declarations is not.
  std::size_t old_style_head(std::size_t at) const {
    std::size_t k = at - 1;
    while (k > 0 && !tokens_[k].is('}') && !(tokens_[k - 1].is(')') && tokens_[k].is_word)) --k;
    if (k == 0 || tokens_[k].is('}')) return at;
    while (k > 0 && !tokens_[k - 1].is(';') && !tokens_[k - 1].is('}')) --k;
    return k;
  }
  // The end of what is left of a head in [start, end) without attributes and declarations behind it.
  std::size_t end_of_parameters(std::size_t start, std::size_t end) const {
    for (std::size_t k = start; k + 1 < end; ++k) {
      const bool old_style = tokens_[end - 1].is(';') && tokens_[k].is(')') && tokens_[k + 1].is_word;
      if (old_style) return k + 1;
    }
    while (end > start && tokens_[end - 1].is(')')) {
      const std::size_t open = opening(start, end);
      if (open == start || !tokens_[open - 1].text.starts_with("__attribute")) break;
      end = open - 1;
    }
    return end;
  }

  // [start, parameters) is its head, the braces stand at `begin` and `end`.
  bool function(std::size_t start, std::size_t parameters, std::size_t begin, std::size_t end) {
    auto part = read_statements(tokens_, begin + 1, std::min(end, tokens_.size()), loop_macros_, any_loop_);
    if (!part) return false;
    const std::size_t open = opening(start, parameters);
    string_view name;
    if (open > start && tokens_[open - 1].is_word) name = tokens_[open - 1].text;
    // Names that macros make, by their last part: NAME(gsl, copy)(…) {, and DEFUN(copy) {.
    const bool made = open > start && tokens_[open - 1].is(')');
    if (made || open == start + 1) {
      std::size_t last = (made ? open : parameters) - 1;
      while (last > start && !tokens_[last].is_word) --last;
      if (tokens_[last].is_word && made) name = tokens_[last].text;
      if (tokens_[last].is_word && !made) bodies_[tokens_[last].text].push_back({false, {}, {}});
    }
    bodies_[name].push_back({false, {}, std::move(*part)});
    return true;
  }

  const LoopTokens& tokens_;
  const LoopNames& loop_macros_;
  Bodies& bodies_;
  bool any_loop_ = false;
};

// Macros with a loop in them, through the macros that they name.
LoopNames loop_macros(const Bodies& macros) {
  LoopNames names;
  const auto has_loop = [&](const LoopPart& part, const auto& self) -> bool {
    const auto named = [&](string_view name) { return names.contains(name); };
    return part.is_loop || named(part.head) || std::ranges::any_of(part.names, named) ||
           std::ranges::any_of(part.loops, [&](const auto& loop) { return self(*loop, self); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [name, bodies] : macros) {
      if (names.contains(name)) continue;
      const bool any = std::ranges::any_of(bodies, [&](const Body& b) { return has_loop(b.part, has_loop); });
      if (any) changed = names.insert(name).second;
    }
  }
  return names;
}

bool names_floating_point(const LoopTokenizer& tokenizer) {
  const auto is = [](const LoopToken& t) {
    return t.text == "double" || t.text == "float" || t.text == "float_t" || t.text == "double_t";
  };
  return std::ranges::any_of(tokenizer.code(), is) || std::ranges::any_of(tokenizer.macros(), [&](const auto& macro) {
           return std::ranges::any_of(macro.second,
                                      [&](const LoopMacro& m) { return std::ranges::any_of(m.body, is); });
         });
}

// Nullopt: a macro is not understood.
std::optional<Bodies> macro_bodies(const LoopTokenizer& tokenizer, const LoopNames& heads, bool& any_loop) {
  Bodies bodies;
  for (const auto& [name, all] : tokenizer.macros()) {
    for (const LoopMacro& macro : all) {
      auto part = read_statements(macro.body, 0, macro.body.size(), heads, any_loop);
      if (!part) return std::nullopt;
      bodies[name].push_back({true, macro.parameters, std::move(*part)});
    }
  }
  return bodies;
}

std::optional<LoopBound> bound_of(const LoopTokenizer& tokenizer) {
  LoopBound bound;
  bound.floating = tokenizer.has_foreign_types() || names_floating_point(tokenizer);
  // Once more when it is known which macros are heads of loops in others.
  auto macros = macro_bodies(tokenizer, {}, bound.any_loop);
  if (!macros) return std::nullopt;
  const auto heads = loop_macros(*macros);
  if (!heads.empty()) macros = macro_bodies(tokenizer, heads, bound.any_loop);
  if (!macros) return std::nullopt;
  Bodies bodies = std::move(*macros);
  Bodies functions;
  Functions reader(tokenizer.code(), heads, functions);
  if (!reader.read()) return std::nullopt;
  bound.any_loop = bound.any_loop || reader.any_loop();
  std::vector<string_view> names;
  for (auto& [name, all] : functions) {
    names.push_back(name);
    auto& to = bodies[name];
    to.insert(to.end(), std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
  }
  // Macros count where they are named, functions all: nobody knows who calls them.
  const auto known = Resolver(std::move(bodies)).all();
  for (const string_view name : names) bound.depth = std::max(bound.depth, known.at(name).depth);
  return bound;
}

}  // namespace

std::optional<LoopBound> loop_bound(const string& path, const IncludeSearch& search) {
  LoopTokenizer tokenizer(search);
  if (!tokenizer.add_text(search.macros, ".")) return std::nullopt;
  for (const string& file : search.included) {
    if (!tokenizer.add_file(file)) return std::nullopt;
  }
  if (!tokenizer.add_file(path)) return std::nullopt;
  return bound_of(tokenizer);
}

std::optional<LoopBound> loop_bound(string_view preprocessed) {
  const IncludeSearch nothing;
  LoopTokenizer tokenizer(nothing);
  if (!tokenizer.add_text(preprocessed, ".")) return std::nullopt;
  return bound_of(tokenizer);
}

}  // namespace sous::frontends::c
