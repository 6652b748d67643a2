// Warnings about what holds for a whole build (an empty database, a missing lock file): said by the first compiler that
// sees it and not again by the hundreds that run beside and after it.
//
// A stamp in the user's cache folder, named by a hash of the text, says that it was said. It ages: who builds again ten
// minutes later is told again.
#pragma once

#include <filesystem>
#include <string_view>

namespace sous::client {

// $XDG_CACHE_HOME/sous or ~/.cache/sous; empty where there is no home.
std::filesystem::path cache_folder();

inline constexpr int said_for_seconds = 600;

// Whether the text is to be said now, by this process. Always where stamps cannot be kept.
bool first_to_say(std::string_view text, const std::filesystem::path& folder);

// Says that it was not said after all: the next one to ask is to say it.
void not_said(std::string_view text, const std::filesystem::path& folder);

// "sous: warning: …" on standard error, once.
void say_once(std::string_view text);
// The same every time: for what a single command asked for.
void warn(std::string_view text);

}  // namespace sous::client
