// What waits while a nest runs on the device.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace sous::gpu {

// Signals that come of themselves, where something is wrong: they are not held back.
constexpr int of_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

// Handlers of the program wait until a run is over, and so does who cancels the thread: one that leaves by longjmp, or
// a cancelled thread, would leave locks, of the driver as well, and threads at work on memory of this one's stack. What
// has no handler comes as ever: it ends the program.
class HandlersWait {
 public:
  HandlersWait() {
    sigset_t handled;
    sigemptyset(&handled);
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action;
      if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
        sigaddset(&handled, signal);
    }
    for (const int signal : of_faults) sigdelset(&handled, signal);
    pthread_sigmask(SIG_BLOCK, &handled, &before_);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled_);
  }
  ~HandlersWait() {
    pthread_setcancelstate(cancelled_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HandlersWait(const HandlersWait&) = delete;
  HandlersWait& operator=(const HandlersWait&) = delete;

 private:
  sigset_t before_;
  int cancelled_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace sous::gpu
