// What a program that looks at a stranger's text may do, as the kernel sees to it: read the system's libraries and
// headers and one folder, compute, and write to its two pipes. Everything else is refused, whatever becomes of the
// program: other files (Landlock), changing any, sockets, other processes (seccomp).
#pragma once

#include <filesystem>
#include <utility>

#include "sdfg/result.h"

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif

namespace sous::server {

// A sanitizer's own addresses are terabytes, and it reads in /proc what the process has.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
inline constexpr bool under_sanitizer = true;
#else
inline constexpr bool under_sanitizer = false;
#endif

class Confinement {
 public:
  // Of `program`, the only one that can be started, which may read `folder`. Errors: confine.kernel (Linux 5.13 and
  // later have Landlock, unless it was left out), confine.file.
  static Result<Confinement> of(const std::filesystem::path& program, const std::filesystem::path& folder);
  Confinement(Confinement&& other) noexcept : rules_(std::exchange(other.rules_, -1)) {}
  Confinement& operator=(Confinement&&) = delete;
  ~Confinement();

  // Between fork and exec: this process has it from now on, and what it becomes. False: it has not.
  bool enter() const noexcept;

 private:
  explicit Confinement(int rules) : rules_(rules) {}
  int rules_;  // Landlock's
};

}  // namespace sous::server
