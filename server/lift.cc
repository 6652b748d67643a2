#include "server/lift.h"

#include <unistd.h>

#include <fstream>
#include <utility>

#include "server/confinement.h"
#include "tuning-db/json_reader.h"

namespace sous::server {
namespace {

namespace fs = std::filesystem;
using tuning_db::Json;
using tuning_db::ObjectReader;

constexpr const char* file_name = "pasted.c";
constexpr std::size_t most_reasons = 1000;

// What was pasted, for as long as it is looked at.
class Pasted {
 public:
  static Result<Pasted> keep(std::string_view source) {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "sous-pasted-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) return fail("lift.failed", "there is no temporary folder");
    Pasted pasted(name);
    std::ofstream out(pasted.folder_ / file_name, std::ios::binary);
    out << source;
    out.close();
    if (!out) return fail("lift.failed", "the temporary folder cannot be written");
    return pasted;
  }
  Pasted(Pasted&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  Pasted& operator=(Pasted&&) = delete;
  ~Pasted() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  const fs::path& folder() const { return folder_; }

 private:
  explicit Pasted(fs::path folder) : folder_(std::move(folder)) {}
  fs::path folder_;
};

Result<LiftedSource::Nest> read_nest(const Json& json, std::size_t& units) {
  TRY(auto in, ObjectReader::of(json, "lift", "nest"));
  LiftedSource::Nest nest;
  TRY(nest.function, in.line("function"));
  TRY(const std::int64_t line, in.integer("line", 0, 1 << 30));
  nest.line = static_cast<int>(line);
  if (in.has("why")) {
    TRY(const std::string why, in.string("why", 16384));
    nest.why = tuning_db::as_one_line(why);
  }
  TRY(const Json* labels, in.array("units", most_nests));
  for (const Json& label : *labels) {
    if (!label.is_string()) return in.refuse("a unit has no name");
    nest.units.push_back(tuning_db::as_one_line(label.get<std::string>()));
  }
  units += nest.units.size();
  return nest;
}

Result<LiftedSource::Reason> read_reason(const Json& json) {
  TRY(auto in, ObjectReader::of(json, "lift", "reason"));
  LiftedSource::Reason reason;
  TRY(reason.code, in.line("code"));
  TRY(const std::string why, in.string("why", 16384));
  reason.why = tuning_db::as_one_line(why);
  TRY(reason.function, in.line("function"));
  TRY(const std::int64_t line, in.integer("line", 0, 1 << 30));
  reason.line = static_cast<int>(line);
  return reason;
}

// What sous-core says is read as strictly as what a client says: the text may have taken it over.
Result<LiftedSource> read(std::string_view text) {
  TRY(const Json json, tuning_db::parse_json(text, "lift"));
  TRY(auto in, ObjectReader::of(json, "lift", ""));
  LiftedSource lifted;
  TRY(const std::string request, in.string("request", longest_request));
  TRY(lifted.request, query_request_from_json(request));
  std::size_t units = 0;
  TRY(const Json* nests, in.array("nests", most_nests));
  for (const Json& one : *nests) {
    TRY(auto nest, read_nest(one, units));
    lifted.nests.push_back(std::move(nest));
  }
  if (units != lifted.request.nests.size()) return in.refuse("names and nests are not as many");
  TRY(const Json* reasons, in.array("reasons", most_reasons));
  for (const Json& one : *reasons) {
    TRY(auto reason, read_reason(one));
    lifted.reasons.push_back(std::move(reason));
  }
  return lifted;
}

// "sous: pasted.c:3:5: expected expression [c.parse]", maybe behind notes: the last line.
std::string said(std::string_view errors) {
  while (errors.ends_with('\n')) errors.remove_suffix(1);
  const std::size_t line = errors.rfind('\n');
  if (line != std::string_view::npos) errors.remove_prefix(line + 1);
  if (errors.starts_with("sous: ")) errors.remove_prefix(6);
  return tuning_db::as_one_line(std::string(errors.substr(0, 1000)));
}

}  // namespace

Result<void> Lifter::ready() const {
  if (program_.empty() || ::access(program_.c_str(), X_OK) != 0)
    return fail("lift.off", "C is not looked at here: sous-core does not lie beside sous-serve");
  const auto confined = Confinement::of(program_, "/");
  if (!confined) return fail("lift.off", "C is not looked at here: " + confined.error().why);
  return {};
}

Result<LiftedSource> Lifter::lift(std::string_view source) const {
  TRY_VOID(ready());
  TRY(const Pasted pasted, Pasted::keep(source));
  auto ended = run_limited(program_, {"nests", file_name}, pasted.folder(), limits_);
  if (!ended && (ended.error().code == "process.time" || ended.error().code == "process.output"))
    return fail("lift.limit", "these loops take longer to look at than is allowed here; sous query does it elsewhere");
  if (!ended) return fail("lift.failed", ended.error().why);
  if (ended->status == 1 || ended->status == 2) return fail("lift.source", said(ended->errors));
  if (ended->status == not_run || ended->status == not_run + 1)
    return fail("lift.failed", "sous-core cannot be run here: " + said(ended->errors));
  if (ended->status != 0)
    return fail("lift.limit", "these loops take more to look at than is allowed here; sous query does it elsewhere");
  auto lifted = read(ended->output);
  if (!lifted) return fail("lift.failed", tuning_db::as_one_line(lifted.error().to_string()));
  return lifted;
}

Result<std::string> source_from_json(std::string_view text) {
  TRY(const Json json, tuning_db::parse_json(text, "request", {.bytes = 8 * longest_source, .depth = 4}));
  TRY(auto in, ObjectReader::of(json, "request", ""));
  TRY(const std::int64_t version, in.integer("protocol", 0, 1 << 20));
  if (version != protocol_version)
    return fail("request.version", "this server speaks version " + std::to_string(protocol_version));
  TRY(std::string source, in.string("source", longest_source));
  TRY_VOID(in.done());
  return source;
}

}  // namespace sous::server
