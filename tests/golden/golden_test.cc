// Runs the golden archives tests/golden/*.golden. An archive is a few sections, each headed by a line "--- name":
//
//   c          C text                       input: lifted by the front end
//   sdfg       .sdfg text                   input
//   recipe     a recipe in its text form    applied to the (first) graph
//   lifted     expected: the lifted graphs
//   reasons    expected: "line:column code" for every loop that is left alone
//   normal     expected: the normal form of the graph
//   result     expected: the graph after the recipe
//   refusal    expected: the error of the recipe
//   code T     expected: the code of target T for the graph (after the recipe, if there is one)
//
// What stands before the first section is the archive's comment. SOUS_UPDATE_GOLDEN=1 rewrites the expected sections.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontends/c/lift.h"
#include "sdfg/check.h"
#include "sdfg/text.h"
#include "targets/target.h"
#include "transforms/apply.h"
#include "transforms/normal_form.h"

namespace sous {
namespace {

struct Section {
  std::string name, text;
};

struct Archive {
  std::string comment;
  std::vector<Section> sections;

  const std::string* find(const std::string& name) const {
    for (const Section& s : sections)
      if (s.name == name) return &s.text;
    return nullptr;
  }
  std::string text() const {
    std::string result = comment;
    for (const Section& s : sections) result += "--- " + s.name + "\n" + s.text;
    return result;
  }
};

Archive read_archive(const std::string& path) {
  std::ifstream in(path);
  Archive archive;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("--- "))
      archive.sections.push_back({line.substr(4), ""});
    else
      (archive.sections.empty() ? archive.comment : archive.sections.back().text) += line + "\n";
  }
  return archive;
}

std::string ended(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  std::vector<sdfg::Sdfg> graphs_;
  std::vector<frontends::Reason> reasons_;

  void input(const Archive& archive, const std::string& path) {
    if (const std::string* c = archive.find("c")) {
      auto unit = frontends::c::lift(*c, path + ".c", {"-std=c11"});
      ASSERT_TRUE(unit) << unit.error().to_string();
      for (const auto& nest : unit->nests) graphs_.push_back(nest.sdfg);
      reasons_ = unit->reasons;
    } else {
      const std::string* text = archive.find("sdfg");
      ASSERT_TRUE(text) << "neither a section c nor sdfg";
      auto graph = sdfg::parse(*text, path);
      ASSERT_TRUE(graph) << graph.error().to_string();
      graphs_.push_back(*graph);
    }
    for (const sdfg::Sdfg& graph : graphs_) {
      auto checked = sdfg::check(graph);
      ASSERT_TRUE(checked) << checked.error().to_string();
    }
  }

  Result<sdfg::Sdfg> cooked(const Archive& archive) {
    const std::string* text = archive.find("recipe");
    if (!text) return graphs_.at(0);
    TRY(transforms::Recipe recipe, transforms::recipe_from_text(*text));
    transforms::ApplyOptions options;
    options.context.hardware = {{"l1_bytes", 32768}, {"l2_bytes", 1048576}, {"simd_bits", 512}, {"cores", 2}};
    return transforms::apply(graphs_.at(0), recipe, options);
  }

  std::string actual(const Archive& archive, const std::string& name) {
    std::string text;
    if (name == "lifted") {
      for (const sdfg::Sdfg& graph : graphs_) text += print(graph);
    } else if (name == "reasons") {
      for (const auto& r : reasons_)
        text += std::to_string(r.line) + ":" + std::to_string(r.column) + " " + r.code + "\n";
    } else if (name == "normal") {
      auto normal = transforms::normalize(graphs_.at(0));
      text = normal ? print(normal->sdfg) : normal.error().to_string();
    } else if (name == "result" || name == "refusal") {
      auto result = cooked(archive);
      text = result ? print(*result) : result.error().to_string();
    } else if (name.starts_with("code ")) {
      const targets::Target* target = targets::find_target(name.substr(5));
      if (!target) return "no such target";
      auto result = cooked(archive);
      if (!result) return result.error().to_string();
      auto code = target->emit(*result, {});
      text = code ? code->code : code.error().to_string();
    }
    return ended(text);
  }
};

TEST_P(Golden, Archive) {
  Archive archive = read_archive(GetParam());
  input(archive, std::filesystem::path(GetParam()).stem());
  if (HasFatalFailure()) return;
  const char* flag = std::getenv("SOUS_UPDATE_GOLDEN");
  bool update = flag && *flag == '1';
  int expectations = 0;
  for (Section& s : archive.sections) {
    if (s.name == "c" || s.name == "sdfg" || s.name == "recipe") continue;
    ++expectations;
    std::string text = actual(archive, s.name);
    if (update)
      s.text = text;
    else
      EXPECT_EQ(text, s.text) << GetParam() << ": --- " << s.name << " (SOUS_UPDATE_GOLDEN=1 rewrites it)";
  }
  EXPECT_GT(expectations, 0) << "the archive expects nothing";
  if (update) std::ofstream(GetParam()) << archive.text();
}

std::vector<std::string> archives() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SOUS_SOURCE_DIR "/tests/golden"))
    if (entry.path().extension() == ".golden") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(archives()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).stem();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace sous
