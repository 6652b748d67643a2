#include "client/team_object.h"

#include <algorithm>

namespace sous::client {

using std::string;

Result<std::optional<string>> team_object(const std::vector<targets::File>& files, GeneratedBuild build,
                                          const ResultCache* cache, const TemporaryFolder& folder) {
  const auto threads = std::ranges::find_if(files, [](const targets::File& file) { return !file.runtimes.empty(); });
  const bool alike = std::ranges::all_of(
      files, [](const auto& file) { return file.language->compiler != targets::LanguageCompiler::Nvcc; });
  if (threads == files.end() || !alike) return std::nullopt;
  build.flags.emplace_back("-g0");
  const targets::File team{threads->language, "#include \"targets/runtime/team_object.h\"\n", threads->runtimes};
  auto pieces = program_state();
  pieces.insert(pieces.end(), {"team", file_state(program_path(build.compiler)), build.compiler});
  for (const auto& words : {build.flags, generated_options(build, team)}) {
    pieces.push_back(std::to_string(words.size()));
    pieces.insert(pieces.end(), words.begin(), words.end());
  }
  const string key = result_key(pieces), object = folder.file("team.o");
  const auto kept = cache != nullptr ? cache->find_texts(key) : std::nullopt;
  if (kept && kept->size() == 1) {
    TRY_VOID(write_file(object, kept->front()));
    return object;
  }
  TRY(const auto made, compile_generated({team}, build, folder, "team"));
  if (cache == nullptr) return made.front();
  TRY(const string bytes, read_file(made.front()));
  cache->keep_texts(key, {bytes});
  return made.front();
}

}  // namespace sous::client
