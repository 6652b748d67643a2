// fuzz_corpus DIR: writes the seed inputs of every fuzz target into DIR/<target>/, made of the golden archives, the
// hand-written recipes and the seed database of the repository. Nothing of it is kept in the repository, so that it
// cannot grow stale.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/lock_source.h"
#include "sdfg/json.h"
#include "sdfg/text.h"
#include "server/job_protocol.h"
#include "server/protocol.h"
#include "tests/fuzz/nests.h"
#include "transforms/normal_form.h"
#include "tuning-db/database.h"
#include "tuning-db/places.h"
#include "tuning-db/size_class.h"

namespace sous {
namespace {

namespace fs = std::filesystem;
using std::string;

constexpr const char* targets[] = {
#define X(name) #name,
#include "tests/fuzz/targets.list"
#undef X
};

string read_all(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Corpus {
 public:
  explicit Corpus(fs::path folder) : folder_(std::move(folder)) {
    for (const char* target : targets) fs::create_directories(folder_ / target);
  }

  void add(const string& target, const string& text) {
    char name[16];
    std::snprintf(name, sizeof name, "%04d", counts_[target]++);
    std::ofstream(folder_ / target / name, std::ios::binary) << text;
  }

  // A target without seeds would try noise only.
  bool complete() const {
    for (const char* target : targets) {
      const auto count = counts_.find(target);
      std::printf("%-14s %d\n", target, count == counts_.end() ? 0 : count->second);
      if (count == counts_.end()) return false;
    }
    return true;
  }

 private:
  fs::path folder_;
  std::map<string, int> counts_;
};

void add_graph(Corpus& corpus, const string& text) {
  const auto graph = sdfg::parse(text);
  corpus.add("sdfg_text", text);
  if (graph) corpus.add("sdfg_json", sdfg::to_json(*graph));
}

void add_recipe(Corpus& corpus, const string& text) {
  const auto recipe = transforms::parse_recipe(text);
  if (!recipe) return;
  for (const char* target : {"recipe", "recipe_apply"}) {
    corpus.add(target, text);
    corpus.add(target, transforms::to_json(*recipe));
  }
}

std::vector<fs::path> sorted_files(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The sections of the golden archives (tests/golden/golden_test.cc says what they are).
void add_goldens(Corpus& corpus, const fs::path& source) {
  for (const fs::path& path : sorted_files(source / "tests/golden")) {
    if (path.extension() != ".golden") continue;
    std::ifstream in(path);
    string name, section;
    const auto finish = [&] {
      if (name == "c") corpus.add("c_lift", section);
      if (name == "recipe") add_recipe(corpus, section);
      if (name == "sdfg" || name == "result" || name == "normal") add_graph(corpus, section);
      section.clear();
    };
    for (string line; std::getline(in, line);) {
      if (line.starts_with("--- ")) {
        finish();
        name = line.substr(4);
      } else {
        section += line + "\n";
      }
    }
    finish();
  }
  for (const fs::path& path : sorted_files(source / "tests/golden/found"))
    if (path.extension() == ".sdfg") add_graph(corpus, read_all(path));
}

// "kernel unit: recipe"
void add_recipes(Corpus& corpus, const fs::path& source) {
  std::ifstream in(source / "benchmarks/recipes/polybench.txt");
  for (string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with('#') && colon != string::npos) add_recipe(corpus, line.substr(colon + 2));
  }
  add_recipe(corpus, "tile(loops=[i0, i1], sizes=[l2_bytes, simd_bits * 2]); parallelize(loop=i0_t) -> openmp");
  add_recipe(corpus, "unroll(loop=i2, factor=64); vectorize(loop=i1) -> highway");
}

string http(const string& head, const string& body) { return "HTTP/1.1 " + head + "\r\n\r\n" + body; }

void add_measurements(Corpus& corpus, const fs::path& scratch) {
  auto database = tuning_db::Database::open({.path = scratch / "corpus.db", .seeds = tuning_db::seed_files()},
                                            tuning_db::Hardware{});
  SOUS_ASSERT(database);
  const auto lines = (*database)->store().export_lines();
  SOUS_ASSERT(lines);
  std::vector<transforms::NestQuery> asked;
  auto lock = client::LockSource::open(scratch / "sous.lock");
  SOUS_ASSERT(lock);
  string few;
  for (std::size_t at = 0, count = 0; at < lines->size() && count < 12; ++count) {
    const std::size_t end = lines->find('\n', at);
    const string line = lines->substr(at, end - at);
    at = end + 1;
    const auto entry = tuning_db::entry_from_json(line);
    SOUS_ASSERT(entry);
    corpus.add("entry", line);
    corpus.add("server_route", "GET /v1/recipes/" + tuning_db::entry_id(*entry) + "\n");
    for (const char* route : {"/v1/nests/", "/v1/pictures/", "/v1/nests?after="})
      if (count < 3) corpus.add("server_route", "GET " + (route + entry->structural_hash) + "\n");
    add_graph(corpus, sdfg::print(entry->nest));
    add_recipe(corpus, transforms::to_text(entry->recipe));
    if (count < 3) few += line + "\n";
    if (count < 3) corpus.add("server_route", "POST /v1/recipes valid\n" + server::to_json(std::vector{*entry}));
    if (asked.size() < 3) asked.push_back({entry->nest, entry->structural_hash, entry->sizes});
    lock->put(entry->structural_hash, to_string(tuning_db::size_class(entry->nest, entry->sizes)),
              tuning_db::match_of(*entry, 0, transforms::Origin::Database));
  }
  SOUS_ASSERT(lock->save());
  corpus.add("lock", read_all(scratch / "sous.lock"));
  corpus.add("lock", "{\"version\": 1, \"nests\": []}");

  corpus.add("entry", tuning_db::to_json(tuning_db::describe()));
  corpus.add("entry", tuning_db::hardware_class(tuning_db::describe()));
  corpus.add("entry", "4^11:8");

  const auto product = sdfg::parse(fuzz::product);
  asked.push_back({*product, transforms::structural_hash(*product), {{"n0", 1000}, {"n1", 1000}, {"n2", 1000}}});
  for (const auto& one : asked) {
    tuning_db::Hardware hardware;
    hardware.architecture = "x86-64";
    const server::QueryRequest request{.hardware = hardware, .k = 2, .nests = {one}};
    corpus.add("server_route", "POST /v1/query\n" + server::to_json(request));
    const server::WantedRequest wanted{
        hardware,
        {{.nest = one.nest, .structural_hash = one.structural_hash, .sizes = one.sizes, .reassociate = true}}};
    corpus.add("server_route", "POST /v1/wanted valid\n" + server::to_json(wanted));
    tuning_db::Job job;
    job.lease = string(32, '0');
    job.hardware_class = "x86-64:avx2:8c:l2=1M:l3=32M";
    job.nest_json = sdfg::to_json(one.nest);
    job.structural_hash = one.structural_hash;
    job.sizes_json = "{\"n0\":100,\"n1\":100,\"n2\":100}";
    const string leased = server::lease_reply_json(job, 60, 10);
    corpus.add("http_answer", http("200 OK\r\nContent-Length: " + std::to_string(leased.size()), leased));
    const auto matches = (*database)->query(request.nests, request.k);
    SOUS_ASSERT(matches);
    const string reply = server::to_json(server::QueryReply{*matches});
    corpus.add("http_answer", http("200 OK\r\nContent-Length: " + std::to_string(reply.size()), reply));
    char size[20];
    std::snprintf(size, sizeof size, "%zx", reply.size());
    corpus.add("http_answer",
               http("200 OK\r\nTransfer-Encoding: chunked", string(size) + "\r\n" + reply + "\r\n0\r\n\r\n"));
  }
  const string taken = server::to_json(std::vector<server::TakenEntry>{
      {.taken = server::Taken::added, .id = string(32, '0')},
      {.taken = server::Taken::refused, .error = {"entry.normal-form", "the nest is not in normal form"}}});
  corpus.add("http_answer", http("200 OK\r\nContent-Length: " + std::to_string(taken.size()), taken));
  for (const char* path : {"/v1/steps", "/healthz", "/metrics", "/", "/v1/recipes/0000", "/v1/query", "/page/main.js",
                           "/v1/map", "/v1/nests?q=gemm+%23&after=%30", "/v1/machines"})
    corpus.add("server_route", string("GET ") + path + "\n");
  for (const char* path : {"/v1/wanted", "/v1/machines"})
    corpus.add("server_route", string("GET ") + path + " valid\n");
  corpus.add("server_route", "GET /v1/jobs valid\n");
  const tuning_db::Worker worker{.party = {}, .hardware = tuning_db::describe(), .targets = {"cpp", "openmp"}};
  corpus.add("server_route", "POST /v1/jobs/lease valid\n" + server::to_json(worker));
  corpus.add("server_route", "POST /v1/jobs/renew valid\n" + server::renew_json(string(32, '0')));
  const server::DoneRequest done{.lease = string(32, '0'),
                                 .outcome = tuning_db::JobOutcome::found,
                                 .entries = {string(32, '1')},
                                 .code = "measure.run"};
  corpus.add("server_route", "POST /v1/jobs/done valid\n" + server::to_json(done));
  corpus.add("server_route", "POST /v1/lift\n{\"protocol\":1,\"source\":\"int x;\\n\"}");
  for (const char* shown : {"Bearer sous_0123456789abcdef_", "Bearer", "Basic eA=="})
    corpus.add("server_route", string("GET /v1/recipes/0000 ") + shown + string(64, '0') + "\n");
  for (const char* more : {"", "Range: bytes=0-0,1-1\r\n", "Expect: 100-continue\r\n", "Connection: close\r\n"})
    corpus.add("server_bytes", string("GET /healthz?x=%20 HTTP/1.1\r\nHost: x\r\n") + more +
                                   "\r\nPOST / HTTP/1.1\r\nContent-Length: 2\r\n" + more + "\r\n{}");
  corpus.add("server_bytes", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\n{ }\r\n0\r\nX: y\r\n\r\n");
  const string gzip("\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25);
  for (const char* encoding : {"gzip", "deflate", "br"})
    corpus.add("server_bytes",
               string("POST / HTTP/1.1\r\nContent-Encoding: ") + encoding + "\r\nContent-Length: 25\r\n\r\n" + gzip);
  corpus.add("http_answer", http("400 Bad Request", "{\"error\":{\"code\":\"request.json\",\"why\":\"no\"}}"));

  // A database of a few rows, so that its pages fit into an input.
  const fs::path small = scratch / "small.db";
  {
    auto store = tuning_db::Store::open({.path = small, .seeds = {}});
    SOUS_ASSERT(store && store->import_lines(few, "corpus") && store->rebuild_embeddings());
  }
  corpus.add("database", read_all(small));
}

int run(const char* folder) {
  const fs::path scratch = fs::path(folder) / ".scratch";
  fs::remove_all(folder);
  fs::create_directories(scratch);
  Corpus corpus(folder);
  const fs::path source = SOUS_SOURCE_DIR;
  add_goldens(corpus, source);
  add_recipes(corpus, source);
  for (const std::string_view nest : fuzz::nests) add_graph(corpus, string(nest));
  add_measurements(corpus, scratch);
  fs::remove_all(scratch);
  return corpus.complete() ? 0 : 1;
}

}  // namespace
}  // namespace sous

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_corpus DIR\n");
    return 2;
  }
  return sous::run(argv[1]);
}
