#include "trainer_sdk/shared_memory/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

namespace muster {
namespace {

// Not FUTEX_PRIVATE: ranks may be processes, and even threads have a mapping
// each.
uint32_t* Word(Bell& bell) { return reinterpret_cast<uint32_t*>(&bell.rings); }

}  // namespace

void Ring(Bell& bell) {
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, Word(bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Sleeper::Sleep(Duration longest) const {
  if (longest <= Duration::zero()) return;
  timespec timeout;
  timeout.tv_sec = static_cast<time_t>(longest.count() / 1'000'000'000);
  timeout.tv_nsec =
      static_cast<decltype(timeout.tv_nsec)>(longest.count() % 1'000'000'000);
  syscall(SYS_futex, Word(bell_), FUTEX_WAIT, seen_, &timeout, nullptr, 0);
}

}  // namespace muster
