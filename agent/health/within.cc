#include "agent/health/within.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <system_error>
#include <thread>

namespace muster::agent {
namespace {

constexpr int kMax = 32;
std::atomic<int> under_way{0};

}  // namespace

bool StuckCalls::Start(std::function<void()> work) {
  if (under_way.fetch_add(1) >= kMax) {
    under_way.fetch_sub(1);
    return false;
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // The new thread must not handle signals. It inherits this thread's signal
  // mask, so all signals are blocked while the thread is created.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread([work = std::move(work)] {
      work();
      under_way.fetch_sub(1);
    }).detach();
  } catch (const std::system_error&) {
    under_way.fetch_sub(1);
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace muster::agent
