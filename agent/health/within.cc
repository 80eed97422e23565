#include "agent/health/within.h"

#include <pthread.h>

#include <atomic>
#include <system_error>
#include <thread>

#include "base/blocked_signals.h"

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
  // The new thread must not handle signals. It inherits this thread's signal
  // mask, so all signals are blocked while the thread is created.
  const BlockedSignals blocked;
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
  return started;
}

}  // namespace muster::agent
