#include <malloc.h>

#include "client/front.h"

int main(int argc, char** argv) {
  // It lives some milliseconds and reads a megabyte: what is given back to the system, and taken and cleared again, as
  // vectors grow costs a twentieth of that.
  constexpr int kept = 64 << 20, ahead = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kept / 2);
  mallopt(M_TRIM_THRESHOLD, kept);
  mallopt(M_TOP_PAD, ahead);
  return sous::client::run_front({argv + 1, argv + argc});
}
