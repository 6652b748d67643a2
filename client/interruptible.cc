#include "client/interruptible.h"

#include <unistd.h>

#include <csignal>

namespace sous::client {
namespace {

std::atomic<bool> asked = false, out_of_time = false;
constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};

}  // namespace

Interruptible::Interruptible(double seconds) {
  asked = out_of_time = false;
  struct sigaction action{};
  action.sa_handler = [](int signal) {
    out_of_time = signal == SIGALRM;
    asked = true;
  };
  action.sa_flags = SA_RESETHAND;
  for (const int signal : signals) ::sigaction(signal, &action, nullptr);
  ::alarm(static_cast<unsigned>(seconds) + 1);
}

Interruptible::~Interruptible() {
  ::alarm(0);
  for (const int signal : signals) ::signal(signal, SIG_DFL);
}

const std::atomic<bool>& Interruptible::stop_asked() { return asked; }
bool Interruptible::by_hand() { return asked && !out_of_time; }

}  // namespace sous::client
