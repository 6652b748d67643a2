#include "frontends/c/preprocess.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/ToolChain.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Frontend/Utils.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

namespace sous::frontends::c {
namespace {

// The only job that clang's driver makes of the command, in the words of the preprocessor itself; null: another number.
const clang::driver::Command* only_job(const clang::driver::Compilation& compilation) {
  const auto& jobs = compilation.getJobs();
  if (jobs.size() != 1) return nullptr;
  const clang::driver::Command& job = *jobs.begin();
  return !job.getArguments().empty() && llvm::StringRef(job.getArguments()[0]) == "-cc1" ? &job : nullptr;
}

class Print : public clang::PreprocessorFrontendAction {
 public:
  explicit Print(llvm::raw_ostream& to) : to_(to) {}

 protected:
  void ExecuteAction() override {
    clang::CompilerInstance& compiler = getCompilerInstance();
    clang::DoPrintPreprocessedInput(compiler.getPreprocessor(), &to_, compiler.getPreprocessorOutputOpts());
  }
  bool hasPCHSupport() const override { return true; }

 private:
  llvm::raw_ostream& to_;
};

// What clang takes for its own path, and finds its headers from.
std::string own_path(const std::vector<std::string>& command, const std::string& given) {
  std::error_code error;
  const auto real = std::filesystem::canonical(given, error);
  return error || std::ranges::find(command, "-no-canonical-prefixes") != command.end() ? given : real.string();
}

}  // namespace

Result<PreprocessedC> preprocess(const std::vector<std::string>& command, const std::string& given_path) {
  const std::string path = own_path(command, given_path);
  PreprocessedC result;
  llvm::raw_string_ostream messages(result.messages);
  const auto refused = [&] { return fail("frontend.preprocess", messages.str()); };
  std::vector<const char*> words;
  for (const std::string& word : command) words.push_back(word.c_str());

  // As clang's own main does (clang/tools/driver/driver.cpp).
  const llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options = clang::CreateAndPopulateDiagOpts(words).release();
  clang::TextDiagnosticPrinter printer(messages, &*options);
  printer.setPrefix(std::filesystem::path(command[0]).filename());
  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs, options, &printer, false);
  clang::ProcessWarningOptions(diagnostics, *options, false);
  clang::driver::Driver driver(path, llvm::sys::getDefaultTargetTriple(), diagnostics);
  driver.setTargetAndMode(clang::driver::ToolChain::getTargetAndModeFromProgramName(command[0]));
  const std::unique_ptr<clang::driver::Compilation> compilation(driver.BuildCompilation(words));
  const auto* job = compilation == nullptr ? nullptr : only_job(*compilation);
  if (job == nullptr || compilation->containsError() || diagnostics.hasErrorOccurred()) return refused();

  clang::CompilerInstance compiler;
  const auto& arguments = job->getArguments();
  if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(),
                                                 llvm::ArrayRef(arguments.data() + 1, arguments.size() - 1),
                                                 diagnostics, path.c_str()))
    return refused();
  compiler.createDiagnostics(new clang::TextDiagnosticPrinter(messages, &compiler.getDiagnosticOpts()));
  compiler.setVerboseOutputStream(messages);
  llvm::raw_string_ostream text(result.text);
  Print action(text);
  if (!compiler.ExecuteAction(action)) return refused();
  return result;
}

}  // namespace sous::frontends::c
