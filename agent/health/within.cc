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
  // Blocks all signals, because the new thread inherits this thread's signal
  // mask.
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
