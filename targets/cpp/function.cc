// The function around the nest: a kernel with restrict parameters, and the entry that checks what it may rely on.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "targets/cpp/caller.h"
#include "targets/cpp/extents.h"
#include "targets/cpp/offer.h"
#include "targets/cpp/parameters.h"
#include "targets/cpp/printer.h"
#include "targets/cpp/work.h"
#include "targets/cpp/written_out.h"

namespace sous::targets {
namespace {

using sdfg::Container;

// The threads of the largest team that the region starts; 0: as many as there are.
int team_size(const sdfg::Region& region) {
  int largest = 0;
  bool all = false;
  sdfg::visit(region, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    const auto* parallel = loop ? std::get_if<sdfg::Parallel>(&loop->schedule) : nullptr;
    if (parallel == nullptr) return;
    all = all || parallel->threads <= 0;
    largest = std::max(largest, static_cast<int>(parallel->threads));
  });
  return all ? 0 : largest;
}

class FunctionPrinter {
 public:
  FunctionPrinter(const sdfg::Sdfg& sdfg, const EmitOptions& options, const Dialect& dialect,
                  const std::vector<Transient>& transients)
      : sdfg_(sdfg),
        options_(options),
        dialect_(dialect),
        transients_(transients),
        written_(sdfg::touched(sdfg.root).written) {
    if (on_device()) device_arrays_ = dialect.device_arrays(sdfg, options);
    kernel_ = names_.fresh(options.function + "_nest");
    names_.fresh(options.function);
    if (!options.otherwise.empty()) names_.fresh(options.otherwise);
    // Arguments first: they keep their names whatever comes later.
    for (const std::string& argument : sdfg.arguments) names_.of(argument);
  }

  Function print() {
    Printer body(sdfg_, options_, dialect_, transients_, names_);
    body.out.source_line = options_.lines.line;
    if (on_device()) {
      body.run = run_ = names_.fresh("run");
      for (const Transient& t : transients_)
        if (t.heap && sdfg_.find(t.container)->shape.empty()) body.expressions.point_to(t.container);
    }
    body.out.set_depth(1);
    for (const std::string& argument : sdfg_.arguments)
      if (const Container* c = sdfg_.find(argument); c != nullptr && !by_value(*c))
        body.pointers[names_.of(argument)] = parameter(argument, true);
    body.members = members();
    for (const Transient& t : transients_)
      if (t.heap) body.pointers[heap_all(t)] = heap_parameter(t);
    body.declare("");
    root(body);

    Lines out;
    out.source_line = options_.lines.line;
    if (out.source_line > 0) out.append(line_directive(options_.lines.file, options_.lines.line));
    if (options_.timed) out.line("extern \"C\" { void sous_clock_stop(void); void sous_clock_start(void); }");
    out.lines(comment_lines(options_.comment));
    out.append(body.kernels);
    out.open(parameter_list("static void " + kernel_, kernel_parameters(body.expressions.used(), body.starts_team)));
    out.append(body.out.text());
    out.close();
    out.line("");
    entry(out, body);
    return {&dialect_.target, out.text(), body.vectors, needs_};
  }

 private:
  void root(Printer& body) const {
    if (!options_.timed) return body.region(sdfg_.root);
    const auto& nodes = sdfg_.root.nodes;
    const Part& part = *options_.timed;
    const auto run = [&](std::size_t first, std::size_t last, bool timed) {
      if (first >= last) return;
      const std::string waited = on_device() ? run_ + ".wait(); " : "";
      if (!timed) body.out.line(waited + "sous_clock_stop();");
      sdfg::Region some;
      for (std::size_t k = first; k < last; ++k) some.nodes.push_back(nodes[k]);
      body.region(some);
      if (!timed) body.out.line(waited + "sous_clock_start();");
    };
    run(0, part.first, false);
    run(part.first, part.last, true);
    run(part.last, nodes.size(), false);
  }

  std::string type(const Container& c) const {
    return (written_.contains(c.name) ? "" : "const ") + std::string(sdfg::info(c.type).cpp);
  }
  bool by_value(const Container& c) const { return passed_by_value(c, written_); }
  bool on_device() const { return dialect_.device_arrays != nullptr; }

  std::map<std::string, MemberPointer> members() {
    std::map<std::string, MemberPointer> result;
    for (const auto& [argument, place] : options_.members)
      if (const Container* c = sdfg_.find(argument); c != nullptr && !by_value(*c))
        result[names_.of(argument)] = {type(*c) + "*", place.first, place.second};
    return result;
  }

  // No other argument's elements are written through, or read while these are written.
  bool is_restrict(const Container& c) const {
    if (!options_.restrict_arguments) return false;
    for (const Container& other : sdfg_.containers) {
      if (other.transient || other.name == c.name || by_value(other)) continue;
      if (c.alias_class == 0 || c.alias_class != other.alias_class) continue;
      if (!written_.contains(c.name) && !written_.contains(other.name)) continue;
      const bool checked = std::ranges::any_of(sdfg_.disjoint, [&](const auto& pair) {
        return pair == std::pair(c.name, other.name) || pair == std::pair(other.name, c.name);
      });
      if (!checked) return false;
    }
    return true;
  }

  std::string parameter(const std::string& argument, bool with_restrict) {
    const Container* c = sdfg_.find(argument);
    const std::string& name = names_.of(argument);
    if (c == nullptr) return "int64_t " + name;
    if (by_value(*c)) return std::string(sdfg::info(c->type).cpp) + " " + name;
    return type(*c) + "* " + (with_restrict && is_restrict(*c) ? "__restrict " : "") + name;
  }

  // Names of what the heap temporaries add to the kernel's parameters, and how the entry calls them.
  std::string heap_all(const Transient& t) { return names_.of(t.per_thread ? t.container + ".all" : t.container); }
  std::string heap_size(const Transient& t) { return names_.of(t.container + ".size"); }

  std::string heap_parameter(const Transient& t) {
    return std::string(sdfg::info(sdfg_.find(t.container)->type).cpp) + "* __restrict " + heap_all(t);
  }

  // `starts_team`: threads reach members of structures by one of them (SideBySide), which is then no restrict pointer
  // beside the others.
  std::vector<std::string> kernel_parameters(const std::set<std::string>& used, bool starts_team) {
    std::vector<std::string> result;
    const auto members = this->members();
    const auto reached_by_another = [&](const std::string& name) {
      const auto own = members.find(name);
      return starts_team && own != members.end() &&
             std::ranges::count(members, own->second.record, [](const auto& member) { return member.second.record; }) >
                 1;
    };
    const auto add = [&](const std::string& name, const std::string& text) {
      // Members of structures may be reached by others of theirs.
      const bool is_named = used.contains(name) && !members.contains(name);
      result.push_back((is_named ? "" : "[[maybe_unused]] ") + text);
    };
    for (const std::string& argument : sdfg_.arguments)
      add(names_.of(argument), parameter(argument, !reached_by_another(names_.of(argument))));
    for (const Transient& t : transients_) {
      if (!t.heap) continue;
      add(heap_all(t), heap_parameter(t));
      if (t.per_thread) add(heap_size(t), "int64_t " + heap_size(t));
    }
    if (on_device()) add(run_, "sous::gpu::Run& " + run_);
    return result;
  }

  static sdfg::Expr covered(const sdfg::Expr& extent) {
    return planted(Fault::overlap_check_short) ? extent - 1 : extent;
  }

  // The variable with the bytes that the argument covers; declared by the first check that uses it.
  std::string footprint(const Expressions& expressions, const Container& c, std::vector<std::string>& checks) {
    const auto known = footprints_.find(c.name);
    if (known != footprints_.end()) return known->second;
    const std::string name = names_.fresh(names_.of(c.name) + "_footprint");
    std::string text =
        "sous::Footprint " + name + "(" + names_.of(c.name) + ", " + expressions.index(c.offset).text + ");";
    for (std::size_t d = 0; d < c.shape.size(); ++d) {
      text += " " + name + ".dimension(" + expressions.index(covered(c.shape[d])).text + ", " +
              expressions.index(c.strides[d]).text + ");";
    }
    checks.push_back(text);
    return footprints_.emplace(c.name, name).first->second;
  }

  static std::string number(double value) {
    return literal(sdfg::ScalarExpr::real(value, sdfg::ElementType::f64)).text;
  }

  // First, for calls that are too small are to cost nothing. Returns the seconds that the call gains; empty: not known.
  std::string guards(const Expressions& expressions, std::vector<std::string>& checks) {
    std::string gains;
    for (const Guard& guard : options_.guards) {
      Shape shape = targets::shape(guard, expressions);
      needs_.insert(needs_.end(), shape.needs.begin(), shape.needs.end());
      if (!shape.too_small.empty()) checks.push_back("if (" + shape.too_small + ") " + other_shapes());
      if (planted(Fault::transformed_work_counted)) shape.work = work(sdfg_.root, expressions);
      std::string total = shape.work.text;
      if (!shape.work.constant && guard.gain > 0) {
        total = names_.fresh("work");
        checks.push_back("const double " + total + " = " + shape.work.text + ";");
      }
      if (guard.least_work > 0 && shape.work.constant.value_or(0) < guard.least_work)
        checks.push_back("if (" + total + " < " + number(guard.least_work) + ") " + other_shapes());
      if (guard.gain > 0) gains += (gains.empty() ? "" : " + ") + total + " * " + number(guard.gain);
    }
    cache_sets(expressions, checks);
    return gains;
  }

  // Distances that are known at build time were held against the cache then.
  void cache_sets(const Expressions& expressions, std::vector<std::string>& checks) {
    sdfg::Region original;
    for (const Guard& guard : options_.guards)
      original.nodes.insert(original.nodes.end(), guard.original.nodes.begin(), guard.original.nodes.end());
    if (options_.guards.empty()) return;
    const sdfg::CacheSets& cache = options_.cache;
    for (const sdfg::Window& window : sdfg::windows(sdfg_, original, cache)) {
      if (sdfg::is_constant(window)) continue;
      std::string sets = "sous::CacheSets<" + std::to_string(cache.sets) + ">()";
      for (const sdfg::Walk& walk : window.walks) {
        std::vector<std::string> strides;
        for (const sdfg::Stride& stride : walk)
          strides.push_back(expressions.index(stride.bytes).text + ", " + std::to_string(stride.count));
        sets += ".walk(" + join(strides) + ")";
      }
      checks.push_back("if (" + sets + ".holds_more_than(" + std::to_string(cache.ways) + ")) " + other_shapes());
    }
  }

  std::string size_of(const Transient& t, const Expressions& expressions, const std::string& element) {
    return "const int64_t " + heap_size(t) + " = sous::padded<" + element + ">(" + expressions.index(t.elements).text +
           ");";
  }

  // What the nest is called with: the arguments and memory for its temporaries.
  std::vector<std::string> allocated(const Expressions& expressions, std::vector<std::string>& checks) {
    std::vector<std::string> passed;
    const auto members = this->members();
    SideBySide side_by_side(members);
    for (const std::string& argument : sdfg_.arguments) passed.push_back(side_by_side(names_.of(argument)));
    std::string missing;
    for (const Transient& t : transients_) {
      if (!t.heap) continue;
      const std::string element(sdfg::info(sdfg_.find(t.container)->type).cpp);
      const std::string memory = names_.fresh(names_.of(t.container) + "_memory");
      checks.push_back(size_of(t, expressions, element));
      checks.push_back("const sous::Temporary<" + element + "> " + memory + "(" + heap_size(t) + ", " +
                       (t.per_thread ? "sous::threads(" + std::to_string(t.threads) + ")" : "1") + ");");
      missing += (missing.empty() ? "" : " || ") + memory + ".get() == nullptr";
      passed.push_back(memory + ".get()");
      if (t.per_thread) passed.push_back(heap_size(t));
    }
    if (!missing.empty()) checks.push_back("if (" + missing + ") return 0;");
    return passed;
  }

  std::string residence(const std::string& argument) {
    const auto& [arguments, interleaved] = options_.residences;
    if (std::ranges::find(arguments, argument) == arguments.end()) return "";
    const bool alone = !interleaved.contains(argument) || planted(Fault::gaps_taken_for_own);
    return std::string(alone ? "" : " | sous::gpu::interleaved") + ", " + names_.of(argument + ".residence");
  }

  // The same of a device: its own arrays.
  std::vector<std::string> moved(const Printer& body, std::vector<std::string>& checks) {
    const std::string arrays = names_.fresh("arrays");
    std::vector<std::string> passed, moves, offered;
    std::size_t count = 0;
    for (const std::string& argument : sdfg_.arguments) {
      const Container* c = sdfg_.find(argument);
      const auto use = device_arrays_.find(argument);
      if (c == nullptr || by_value(*c)) {
        passed.push_back(names_.of(argument));
      } else if (use == device_arrays_.end()) {
        passed.emplace_back("nullptr");
      } else {
        const std::string covered = footprint(body.expressions, *c, checks);
        passed.push_back(names_.fresh(names_.of(argument) + "_device"));
        const std::string moved = covered + ", " + use->second + residence(argument) + ");";
        moves.push_back(type(*c) + "* const " + passed.back() + " = " + run_ + ".array(" + names_.of(argument) + ", " +
                        moved);
        offered.push_back(".array(" + moved);
        ++count;
      }
    }
    for (const Transient& t : transients_) {
      if (!t.heap) continue;
      const std::string element(sdfg::info(sdfg_.find(t.container)->type).cpp);
      checks.push_back(size_of(t, body.expressions, element));
      passed.push_back(names_.fresh(names_.of(t.container) + "_memory"));
      moves.push_back(element + "* const " + passed.back() + " = " + run_ + ".temporary<" + element + ">(" +
                      heap_size(t) + ");");
      ++count;
    }
    const std::string copies = names_.fresh("copies"),
                      room = "[" + std::to_string(std::max<std::size_t>(1, count)) + "];";
    if (options_.offer != nullptr) {
      for (const std::string& array : offered) checks.push_back(offer_ + array);
      const std::string ran = names_.fresh("ran");
      checks.push_back("static volatile bool " + ran + " = false; if (!" + offer_ + ".taken(" + ran + ")) return 0;");
    }
    checks.push_back("sous::gpu::Array " + arrays + room + " sous::gpu::Copy " + copies + room);
    checks.push_back("sous::gpu::Run " + run_ + "(\"" + options_.function + "\", " + arrays + ", " + copies +
                     body.run_with + ");");
    checks.insert(checks.end(), moves.begin(), moves.end());
    checks.push_back("if (!" + run_ + ".ready()) return 0;");
    passed.push_back(run_);
    return passed;
  }

  void entry(Lines& out, const Printer& body) {
    const Expressions& expressions = body.expressions;
    std::vector<std::string> checks;
    const std::string gain = guards(expressions, checks);
    if (options_.offer != nullptr) {
      offer_ = names_.fresh("offer");
      checks.push_back(offer_text(*options_.offer, sdfg_.root, expressions, offer_));
      checks.push_back("if (" + offer_ + ".hopeless()) return 0;");
    }
    for (const sdfg::Expr& assumption : sdfg_.assumptions) {
      if (assumption.constant().value_or(-1) >= 0 || planted(Fault::assumption_unchecked)) continue;
      checks.push_back("if (!(" + expressions.index(assumption).text + " >= 0)) return 0;");
    }
    for (const auto& [first, second] : sdfg_.disjoint) {
      const Container &a = expressions.container(first), &b = expressions.container(second);
      if (by_value(a) || by_value(b) || planted(Fault::overlap_unchecked)) continue;
      const std::string left = footprint(expressions, a, checks), right = footprint(expressions, b, checks);
      // A device has a copy of all that lies between an array's first and last element.
      const std::string gaps = on_device() ? "" : " && !" + left + ".interleaved(" + right + ")";
      checks.push_back("if (!" + left + ".disjoint(" + right + ")" + gaps + ") return 0;");
    }
    // Ahead of the temporaries, which ask the runtime how many threads there are.
    if (body.starts_team) {
      const std::string team = names_.fresh("team");
      std::string conditions = std::to_string(team_size(sdfg_.root));
      if (options_.least_threads > 1 || !gain.empty()) conditions += ", " + std::to_string(options_.least_threads);
      if (!gain.empty()) conditions += ", " + gain;
      checks.push_back("const sous::Threads " + team + "(" + conditions + ");");
      checks.push_back("if (!" + team + ".usable()) " +
                       (options_.otherwise_on_one_thread ? other_shapes() : "return 0;"));
    }
    const std::vector<std::string> passed = on_device() ? moved(body, checks) : allocated(expressions, checks);
    std::vector<std::string> parameters, widened;
    for (const std::string& argument : sdfg_.arguments) {
      const Container* c = sdfg_.find(argument);
      if (const auto type = options_.symbol_types.find(argument);
          type != options_.symbol_types.end() && !options_.local) {
        const std::string passed = names_.fresh(names_.of(argument) + "_passed");
        parameters.push_back(std::string(sdfg::info(type->second).cpp) + " " + passed);
        widened.push_back("const int64_t " + names_.of(argument) + " = " + passed + ";");
        continue;
      }
      const bool stays = on_device() && c != nullptr && !by_value(*c) && !device_arrays_.contains(argument);
      parameters.push_back((stays ? "[[maybe_unused]] " : "") + parameter(argument, false));
    }
    for (const std::string& argument : options_.residences.arguments)
      parameters.push_back("[[maybe_unused]] uint64_t* " + names_.of(argument + ".residence"));
    const bool by_memory = !options_.values.empty();
    const std::string name = by_memory ? names_.fresh(options_.function + "_by_memory") : options_.function;
    const std::string linkage =
        options_.local || by_memory ? "static int " : "extern \"C\" __attribute__((visibility(\"hidden\"))) int ";
    out.open(parameter_list(linkage + name, parameters));
    for (const std::string& line : widened) out.line(line);
    for (const std::string& check : checks) out.line(check);
    out.line(kernel_ + "(" + join(passed) + ");");
    out.line(on_device() ? "return " + run_ + ".finish();" : "return 1;");
    out.close();
    if (by_memory) print_entry_by_value(out, sdfg_, options_, names_, name, parameters);
  }

  // What is done for shapes that the function is not for.
  std::string other_shapes() {
    if (options_.otherwise.empty()) return "return 0;";
    std::vector<std::string> arguments;
    for (const std::string& argument : sdfg_.arguments) arguments.push_back(names_.of(argument));
    return "return " + options_.otherwise + "(" + join(arguments) + ");";
  }

  const sdfg::Sdfg& sdfg_;
  const EmitOptions& options_;
  const Dialect& dialect_;
  const std::vector<Transient>& transients_;
  const std::set<std::string> written_;
  Names names_;
  std::string kernel_, run_, offer_;
  std::vector<sdfg::Expr> needs_;  // Function::needs
  std::map<std::string, std::string> footprints_;
  std::map<std::string, std::string> device_arrays_;  // Dialect::device_arrays
};

}  // namespace

Result<Function> print_function(const sdfg::Sdfg& sdfg, const EmitOptions& options, const Dialect& dialect) {
  if (const double statements = written_out(sdfg.root); statements > most_written_out)
    return fail("target.unsupported",
                "unrolled as it is, the code would have " + std::to_string(statements) + " statements");
  TRY(const std::vector<Transient> transients,
      dialect.transients ? dialect.transients(sdfg) : plan_transients(sdfg, dialect.target.has_threads()));
  return FunctionPrinter(sdfg, options, dialect, transients).print();
}

}  // namespace sous::targets
