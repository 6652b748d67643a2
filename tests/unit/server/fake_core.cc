// In the place of sous-core for lift_test.cc: does what the pasted text says. "STATUS\nOUTPUT\n---\nERRORS", or
// "wait".
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != "nests") return 2;
  std::ifstream file(argv[2]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  volatile bool forever = text == "wait";
  while (forever) {
  }
  const std::size_t first = text.find('\n') + 1, second = text.find("\n---\n");
  std::fputs(text.substr(first, second - first).c_str(), stdout);
  std::fputs(text.substr(second + 5).c_str(), stderr);
  return std::atoi(text.c_str());
}
