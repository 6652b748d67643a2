#include "client/team_object.h"

#include <algorithm>

#include "client/header_states.h"

namespace sous::client {

using std::string;

Result<std::optional<TeamObject>> team_object(const std::vector<targets::File>& files, GeneratedBuild build,
                                              const ResultCache* cache, const TemporaryFolder& folder) {
  const auto threads = std::ranges::find_if(files, [](const targets::File& file) { return !file.runtimes.empty(); });
  const bool alike = std::ranges::all_of(
      files, [](const auto& file) { return file.language->compiler != targets::LanguageCompiler::Nvcc; });
  if (threads == files.end() || !alike) return std::nullopt;
  build.flags.emplace_back("-g0");
  const targets::File team{threads->language, "#include \"targets/runtime/team_object.h\"\n", threads->runtimes};
  auto pieces = program_state();
  pieces.insert(pieces.end(),
                {"team", file_state(program_path(build.compiler)), build.compiler, native_state(build.flags)});
  for (const auto& words : {build.flags, generated_options(build, team)}) {
    pieces.push_back(std::to_string(words.size()));
    pieces.insert(pieces.end(), words.begin(), words.end());
  }
  const string key = result_key(pieces), object = folder.file("team.o");
  const auto kept = cache != nullptr ? cache->find_texts(key) : std::nullopt;
  if (kept && kept->size() == 2 && headers_unchanged(kept->back())) {
    TRY_VOID(write_file(object, kept->front()));
    return TeamObject{object, kept->back()};
  }
  build.flags.emplace_back(header_option);
  TRY(const auto made, compile_generated({team}, build, folder, "team"));
  const TeamObject result{made.front(), header_states(made, folder)};
  if (cache == nullptr) return result;
  TRY(const string bytes, read_file(result.path));
  cache->keep_texts(key, {bytes, result.headers});
  return result;
}

}  // namespace sous::client
