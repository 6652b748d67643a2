#include "server/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace sous::server {
namespace {

constexpr std::uint64_t read_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t all_rights =
    read_rights | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

int create_rules() {
  const landlock_ruleset_attr all{.handled_access_fs = all_rights};
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0));
}

// What is not there needs no leave.
bool allow(int rules, const std::filesystem::path& path, std::uint64_t rights) {
  const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT;
  struct stat what{};
  if (::fstat(fd, &what) == 0 && !S_ISDIR(what.st_mode)) rights &= ~std::uint64_t{LANDLOCK_ACCESS_FS_READ_DIR};
  const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = fd};
  const bool done = ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  ::close(fd);
  return done;
}

#if defined(__x86_64__)
constexpr std::uint32_t this_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t this_architecture = AUDIT_ARCH_AARCH64;
#endif

// What Landlock does not know of: sockets, other processes, what changes files without opening them, and doors to all
// of that. (Older kernels' calls have the same numbers; calls that are newer than this list need rights that are gone.)
constexpr auto refused = std::to_array<std::uint32_t>({
    SYS_socket,
    SYS_socketpair,
    SYS_io_uring_setup,
    SYS_kill,
    SYS_tkill,
    SYS_pidfd_open,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_setns,
    SYS_unshare,
    SYS_mount,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_truncate,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_execveat,
#if defined(__x86_64__)
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_fork,
    SYS_vfork,
#endif
});

constexpr auto filter = [] {
  // Per call a comparison and a refusal, so that no jump is long; around them the architecture and the way out.
  std::array<sock_filter, 2 * refused.size() + 14> code{};
  std::size_t at = 0;
  const auto put = [&](std::uint16_t operation, std::uint32_t value, std::uint8_t yes = 0, std::uint8_t no = 0) {
    code[at++] = {operation, yes, no, value};
  };
  constexpr std::uint32_t no = SECCOMP_RET_ERRNO | EPERM, number = offsetof(seccomp_data, nr);
  constexpr std::uint32_t other_calls = 0x40000000;  // x32's, by other numbers
  put(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  put(BPF_JMP | BPF_JEQ | BPF_K, this_architecture, 1, 0);
  put(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  put(BPF_LD | BPF_W | BPF_ABS, number);
  put(BPF_JMP | BPF_JGE | BPF_K, other_calls, 0, 1);
  put(BPF_RET | BPF_K, no);
  // Threads, and no processes. What is asked for in memory cannot be looked at: who is told that there is no such call
  // asks with the older one.
  put(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
  put(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
  put(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
  put(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args));
  put(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
  put(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  put(BPF_RET | BPF_K, no);
  for (const std::uint32_t call : refused) {
    put(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    put(BPF_RET | BPF_K, no);
  }
  put(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return code;
}();

}  // namespace

Result<Confinement> Confinement::of(const std::filesystem::path& program, const std::filesystem::path& folder) {
  const int rules = create_rules();
  if (rules < 0)
    return fail("confine.kernel", std::string("this kernel cannot confine a program: ") + std::strerror(errno));
  Confinement result(rules);
  const std::uint64_t run = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
  struct Leave {
    std::filesystem::path path;
    std::uint64_t rights;
  };
  for (const Leave& leave : std::to_array<Leave>({{program, run},
                                                  {folder, read_rights},
                                                  {"/usr", read_rights},
                                                  {"/lib", read_rights},
                                                  {"/lib64", read_rights},
                                                  // Its loader.
                                                  {"/lib64/ld-linux-x86-64.so.2", run},
                                                  {"/lib/ld-linux-aarch64.so.1", run},
                                                  {"/etc/ld.so.cache", read_rights},
                                                  {"/dev/null", read_rights},
                                                  {"/dev/urandom", read_rights},
                                                  // What a processor it has.
                                                  {under_sanitizer ? "/proc" : "/proc/cpuinfo", read_rights},
                                                  {"/sys/devices/system/cpu", read_rights}}))
    if (!allow(rules, leave.path, leave.rights)) return fail("confine.file", std::strerror(errno), leave.path.string());
  return result;
}

Confinement::~Confinement() {
  if (rules_ >= 0) ::close(rules_);
}

bool Confinement::enter() const noexcept {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::syscall(SYS_landlock_restrict_self, rules_, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace sous::server
