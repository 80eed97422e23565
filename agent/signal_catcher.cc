#include "agent/signal_catcher.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/ignored_signals.h"

namespace muster::agent {

SignalCatcher::SignalCatcher(const std::vector<int>& signals) {
  sigset_t caught;
  sigemptyset(&caught);
  for (int signal : WithoutIgnored(signals)) sigaddset(&caught, signal);
  pthread_sigmask(SIG_BLOCK, &caught, &before_);
  fd_ = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
  MUSTER_CHECK(fd_ >= 0) << "signalfd: " << std::strerror(errno);
}

SignalCatcher::~SignalCatcher() {
  close(fd_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::vector<int> SignalCatcher::TakeAll() {
  std::vector<int> signals;
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof(info)) == sizeof(info)) {
    signals.push_back(static_cast<int>(info.ssi_signo));
  }
  return signals;
}

}  // namespace muster::agent
