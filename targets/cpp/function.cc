// The function around the nest: a kernel with restrict parameters, and the entry that checks what it may rely on.
#include <algorithm>

#include "sdfg/data_ends.h"
#include "sdfg/planted_fault.h"
#include "targets/cpp/caller.h"
#include "targets/cpp/checks.h"
#include "targets/cpp/offer.h"
#include "targets/cpp/parameters.h"
#include "targets/cpp/printer.h"
#include "targets/cpp/signature.h"
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
        written_(sdfg::touched(sdfg.root).written),
        signature_(sdfg, options, transients, written_, names_) {
    if (on_device()) device_arrays_ = dialect.device_arrays(sdfg, options);
    kernel_ = names_.fresh(options.function + "_nest");
    names_.fresh(options.function);
    if (!options.otherwise.empty()) names_.fresh(options.otherwise);
    // Arguments first: they keep their names whatever comes later.
    for (const std::string& argument : sdfg.arguments) names_.of(argument);
  }

  Function print() {
    Printer body(sdfg_, options_, dialect_, transients_, names_);
    // Inlined into what enters it, it would be optimized once more there, of which it gains nothing.
    const std::string nest = kernel(body, "static __attribute__((noinline)) void ");
    Lines out;
    out.source_line = options_.lines.line;
    if (out.source_line > 0) out.append(line_directive(options_.lines.file, options_.lines.line));
    if (options_.timed) out.line("extern \"C\" { void sous_clock_stop(void); void sous_clock_start(void); }");
    out.lines(comment_lines(options_.comment));
    out.append(nest);
    out.line("");
    Function function{.target = &dialect_.target, .code = {}, .vectors = body.vectors};
    options_.asked_first != nullptr ? asked_first(out, body, function) : entry(out, body, function);
    function.code = out.text();
    return function;
  }

 private:
  // The nest by itself. What it needs is checked elsewhere.
  std::string kernel(Printer& body, const std::string& head) {
    body.out.source_line = options_.lines.line;
    if (on_device()) {
      body.run = run_ = names_.fresh("run");
      for (const Transient& t : transients_)
        if (t.heap && sdfg_.find(t.container)->shape.empty()) body.expressions.point_to(t.container);
    }
    body.out.set_depth(1);
    for (const std::string& argument : sdfg_.arguments)
      if (const Container* c = sdfg_.find(argument); c != nullptr && !by_value(*c))
        body.pointers[names_.of(argument)] = signature_.parameter(argument, true);
    body.members = signature_.members();
    if (!on_device())
      for (const auto& [table, values] : options_.tables)
        if (const Container* c = sdfg_.find(table); c != nullptr && !by_value(*c) && !written_.contains(table))
          body.expressions.take_table(table, names_.fresh(kernel_ + "_" + table));
    for (const Transient& t : transients_)
      if (t.heap) body.pointers[signature_.heap_all(t)] = signature_.heap_parameter(t);
    body.declare("");
    root(body);
    Lines out;
    out.source_line = options_.lines.line;
    out.append(body.kernels);
    auto parameters = signature_.kernel(body.expressions.used(), body.starts_team);
    if (on_device()) {
      const bool is_named = body.expressions.used().contains(run_);
      parameters.push_back((is_named ? "" : "[[maybe_unused]] ") + ("sous::gpu::Run& " + run_));
    }
    // As numbers in the code, so that compilers make of loops over them what they make of the program's.
    for (const std::string& table : body.expressions.tables_used())
      out.line("static const " + std::string(sdfg::info(sdfg_.find(table)->type).cpp) + " " +
               body.expressions.use(table) + "[] = {" + options_.tables.at(table) + "};");
    out.open(parameter_list(head + kernel_, parameters));
    out.append(body.out.text());
    out.close();
    return out.text();
  }

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

  bool by_value(const Container& c) const { return signature_.by_value(c); }
  bool on_device() const { return dialect_.device_arrays != nullptr; }

  std::string size_of(const Transient& t, const Expressions& expressions, const std::string& element) {
    return "const int64_t " + signature_.heap_size(t) + " = sous::padded<" + element + ">(" +
           expressions.index_ahead(t.elements).text + ");";
  }

  // What the nest is called with: the arguments and memory for its temporaries. `without`: what is done if there is
  // none.
  std::vector<std::string> allocated(const Expressions& expressions, const std::string& without,
                                     std::vector<std::string>& checks) {
    std::vector<std::string> passed;
    const auto members = signature_.members();
    SideBySide side_by_side(members);
    for (const std::string& argument : sdfg_.arguments) passed.push_back(side_by_side(names_.of(argument)));
    std::string missing;
    for (const Transient& t : transients_) {
      if (!t.heap) continue;
      const std::string element(sdfg::info(sdfg_.find(t.container)->type).cpp);
      const std::string memory = names_.fresh(names_.of(t.container) + "_memory");
      checks.push_back(size_of(t, expressions, element));
      checks.push_back("const sous::Temporary<" + element + "> " + memory + "(" + signature_.heap_size(t) + ", " +
                       (t.per_thread ? "sous::threads(" + std::to_string(t.threads) + ")" : "1") + ");");
      missing += (missing.empty() ? "" : " || ") + memory + ".get() == nullptr";
      passed.push_back(memory + ".get()");
      if (t.per_thread) passed.push_back(signature_.heap_size(t));
    }
    if (!missing.empty()) checks.push_back("if (" + missing + ") " + without);
    return passed;
  }

  std::string residence(const std::string& argument) {
    const auto& [arguments, interleaved] = options_.residences;
    if (std::ranges::find(arguments, argument) == arguments.end()) return "";
    const bool alone = !interleaved.contains(argument) || planted(Fault::gaps_taken_for_own);
    return std::string(alone ? "" : " | sous::gpu::interleaved") + ", " + names_.of(argument + ".residence");
  }

  // The same of a device: its own arrays.
  std::vector<std::string> moved(const Printer& body, Checks& asked) {
    std::vector<std::string>& checks = asked.lines();
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
        const std::string covered = asked.footprint(*c);
        passed.push_back(names_.fresh(names_.of(argument) + "_device"));
        const std::string moved = covered + ", " + use->second + residence(argument) + ");";
        moves.push_back(signature_.type(*c) + "* const " + passed.back() + " = " + run_ + ".array(" +
                        names_.of(argument) + ", " + moved);
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
                      signature_.heap_size(t) + ");");
      ++count;
    }
    const std::string copies = names_.fresh("copies"),
                      room = "[" + std::to_string(std::max<std::size_t>(1, count)) + "];";
    if (options_.offer != nullptr) {
      for (const std::string& array : offered) checks.push_back(offer_ + array);
      const std::string ran = names_.fresh("ran");
      checks.push_back("static volatile bool " + ran + " = false; if (!" + offer_ + ".taken(" + ran + ")) return 0;");
    }
    checks.push_back(std::string("if (!sous::gpu::rounds_as_device(") + (options_.approximate_math ? "false" : "true") +
                     ")) return 0;");
    checks.push_back("sous::gpu::Array " + arrays + room + " sous::gpu::Copy " + copies + room);
    checks.push_back("sous::gpu::Run " + run_ + "(\"" + options_.function + "\", " + arrays + ", " + copies +
                     body.run_with + ");");
    checks.insert(checks.end(), moves.begin(), moves.end());
    checks.push_back("if (!" + run_ + ".ready()) return 0;");
    passed.push_back(run_);
    return passed;
  }

  Checks checks(const Printer& body) const { return {sdfg_, options_, body.expressions, written_, on_device()}; }

  // Of sous::Threads.
  std::string team(const std::string& gain) const {
    std::string conditions = std::to_string(team_size(sdfg_.root));
    if (options_.least_threads > 1 || !gain.empty()) conditions += ", " + std::to_string(options_.least_threads);
    return conditions + (gain.empty() ? "" : ", " + gain);
  }
  std::string on_one_thread(const Checks& checks) const {
    return options_.otherwise_on_one_thread ? checks.other_shapes() : "return 0;";
  }

  // What a caller passes for the argument, and how that is widened; "": it need not be.
  std::pair<std::string, std::string> taken(const std::string& argument) {
    const auto type = options_.symbol_types.find(argument);
    if (type != options_.symbol_types.end() && !options_.local) {
      const std::string passed = names_.of(argument + ".passed");
      return {std::string(sdfg::info(type->second).cpp) + " " + passed,
              "const int64_t " + names_.of(argument) + " = " + passed + ";"};
    }
    const Container* c = sdfg_.find(argument);
    const bool stays = on_device() && c != nullptr && !by_value(*c) && !device_arrays_.contains(argument);
    return {(stays ? "[[maybe_unused]] " : "") + signature_.parameter(argument, false), ""};
  }

  // Begins a function with the arguments, and more behind them. Returns its parameters.
  std::vector<std::string> open(Lines& out, const std::string& head, bool local,
                                const std::vector<std::string>& arguments, const std::vector<std::string>& more) {
    std::vector<std::string> parameters, widened;
    for (const std::string& argument : arguments) {
      const auto [parameter, wider] = taken(argument);
      parameters.push_back(parameter);
      if (!wider.empty()) widened.push_back(wider);
    }
    parameters.insert(parameters.end(), more.begin(), more.end());
    const std::string linkage = local ? "static " : "extern \"C\" __attribute__((visibility(\"hidden\"))) ";
    out.open(parameter_list(linkage + head, parameters));
    for (const std::string& line : widened) out.line(line);
    return parameters;
  }

  void entry(Lines& out, const Printer& body, Function& function) {
    Checks checks = this->checks(body);
    std::string gain = checks.guards();
    if (options_.offer != nullptr) {
      offer_ = names_.fresh("offer");
      checks.add(offer_text(*options_.offer, sdfg_.root, body.expressions, offer_));
      checks.add("if (" + offer_ + ".hopeless()) return 0;");
    }
    checks.assumptions(sdfg_);
    checks.disjoint();
    // Ahead of the temporaries, which ask the runtime how many threads there are.
    if (body.starts_team) {
      checks.first_touch(gain, on_one_thread(checks));
      const std::string name = names_.fresh("team");
      checks.add("const sous::Threads " + name + "(" + team(gain) + ");");
      checks.add("if (!" + name + ".usable()) " + on_one_thread(checks));
    }
    checks.by_data(body.starts_team ? team_size(sdfg_.root) : 1);
    const std::vector<std::string> passed =
        on_device() ? moved(body, checks) : allocated(body.expressions, "return 0;", checks.lines());
    function.needs = checks.needs();
    std::vector<std::string> more;
    for (const std::string& argument : options_.residences.arguments)
      more.push_back("[[maybe_unused]] uint64_t* " + names_.of(argument + ".residence"));
    const bool by_memory = !options_.values.empty();
    const std::string name = by_memory ? names_.fresh(options_.function + "_by_memory") : options_.function;
    const auto parameters = open(out, "int " + name, options_.local || by_memory, sdfg_.arguments, more);
    for (const std::string& line : checks.lines()) out.line(line);
    out.line(kernel_ + "(" + join(passed) + ");");
    out.line(on_device() ? "return " + run_ + ".finish();" : "return 1;");
    out.close();
    if (by_memory) print_entry_by_value(out, sdfg_, options_, names_, name, parameters);
  }

  // EmitOptions::asked_first.
  void asked_first(Lines& out, const Printer& body, Function& function) {
    const EmitOptions::AskedFirst& asked = *options_.asked_first;
    const bool alone = options_.otherwise.empty();
    const bool takes_memory = std::ranges::any_of(transients_, &Transient::heap);
    Asking asking{.function = names_.fresh(options_.function + "_takes"),
                  .arguments = {},
                  .of_more = body.starts_team || looks_at_data(sdfg_) || (!alone && asked.otherwise.of_more)};
    std::set<std::string>& used = body.expressions.used();
    used.clear();
    Checks checks = this->checks(body);
    std::string gain = checks.guards();
    asking.of_more = asking.of_more || checks.guards_look_at_data();
    checks.assumptions(sdfg_);
    if (takes_memory) checks.assumptions(*asked.as_written);
    checks.disjoint();
    if (body.starts_team) {
      checks.first_touch(gain, on_one_thread(checks));
      checks.add("if (!sous::Threads::pay(" + team(gain) + ")) " + on_one_thread(checks));
    }
    checks.by_data(body.starts_team ? team_size(sdfg_.root) : 1);
    function.needs = checks.needs();
    std::ranges::copy_if(sdfg_.arguments, std::back_inserter(asking.arguments),
                         [&](const std::string& argument) { return used.contains(names_.of(argument)); });
    const std::string without = takes_memory ? as_written(out) : "";
    open(out, "int " + asking.function, options_.local, asking.arguments, {});
    for (const std::string& line : checks.lines()) out.line(line);
    out.line("return " + std::to_string(asked.variant) + ";");
    out.close();
    out.line("");

    const std::string variant = names_.fresh("variant");
    open(out, "void " + options_.function, options_.local, sdfg_.arguments,
         {std::string(alone ? "[[maybe_unused]] " : "") + "int " + variant});
    if (!alone) {
      std::vector<std::string> passed;
      for (const std::string& argument : sdfg_.arguments) passed.push_back(names_.of(argument));
      passed.push_back(variant);
      out.line("if (" + variant + " != " + std::to_string(asked.variant) + ") return " + options_.otherwise + "(" +
               join(passed) + ");");
    }
    // What its start costs was asked for.
    if (body.starts_team)
      out.line("const sous::Threads " + names_.fresh("team") + "(" + std::to_string(team_size(sdfg_.root)) +
               ", 1, 0);");
    std::vector<std::string> lines;
    const auto passed = allocated(body.expressions, without, lines);
    for (const std::string& line : lines) out.line(line);
    out.line(kernel_ + "(" + join(passed) + ");");
    out.close();
    function.asking = std::move(asking);
  }

  // Prints the nest as it was written, and returns what runs it and returns.
  std::string as_written(Lines& out) {
    const sdfg::Sdfg& written = *options_.asked_first->as_written;
    const auto transients = plan_transients(written, false);
    SOUS_ASSERT(transients && std::ranges::none_of(*transients, &Transient::heap));
    EmitOptions options{.function = options_.function + "_as_written",
                        .contract = options_.contract,
                        .reassociate = options_.reassociate,
                        .approximate_math = options_.approximate_math,
                        .math_errno = options_.math_errno,
                        .lines = options_.lines,
                        .restrict_arguments = false,
                        .known = options_.known,
                        .tables = options_.tables};
    const Dialect plain{.target = cpp_target};
    FunctionPrinter printer(written, options, plain, *transients);
    Printer body(written, options, plain, *transients, printer.names_);
    out.append(printer.kernel(body, "static __attribute__((cold, noinline)) void "));
    out.line("");
    std::vector<std::string> passed;
    for (const std::string& argument : written.arguments) {
      const Container *own = sdfg_.find(argument), *its = written.find(argument);
      const std::string& name = names_.of(argument);
      if (own == nullptr || (by_value(*own) && printer.by_value(*its)))
        passed.push_back(name);
      else if (by_value(*own) || printer.by_value(*its))
        passed.push_back((by_value(*own) ? "&" : "*") + name);
      else
        passed.push_back("const_cast<" + printer.signature_.type(*its) + "*>(" + name + ")");
    }
    return "return " + printer.kernel_ + "(" + join(passed) + ");";
  }

  const sdfg::Sdfg& sdfg_;
  const EmitOptions& options_;
  const Dialect& dialect_;
  const std::vector<Transient>& transients_;
  const std::set<std::string> written_;
  Names names_;
  const Signature signature_;
  std::string kernel_, run_, offer_;
  std::map<std::string, std::string> device_arrays_;  // Dialect::device_arrays
};

}  // namespace

Result<Function> print_function(const sdfg::Sdfg& nest, const EmitOptions& given, const Dialect& dialect) {
  const sdfg::Sdfg sdfg = sdfg::closed_ends(nest);
  EmitOptions options = given;
  if (options.in_program == nullptr) options.in_program = &nest;
  if (const double statements = written_out(sdfg.root); statements > most_written_out)
    return fail("target.unsupported",
                "unrolled as it is, the code would have " + std::to_string(statements) + " statements");
  if (const std::string why = out_of_reach(sdfg, options, dialect.device_arrays != nullptr); !why.empty())
    return fail("target.unsupported", why);
  TRY(const std::vector<Transient> transients,
      dialect.transients ? dialect.transients(sdfg) : plan_transients(sdfg, dialect.target.has_threads()));
  return FunctionPrinter(sdfg, options, dialect, transients).print();
}

}  // namespace sous::targets
