#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_BELL_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_BELL_H_

#include <cstdint>

#include "base/time.h"
#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

// Wakes everybody who sleeps at the bell, in any process.
void Ring(Bell& bell);

// Rings only if anybody sleeps. Right only after a sequentially consistent
// store of what they wait for: either that store is seen by whoever is about
// to sleep, or the sleeper is seen here.
inline void RingIfHeard(Bell& bell) {
  if (bell.sleepers.load(std::memory_order_seq_cst) != 0) Ring(bell);
}

// Announces a sleeper while it lives. What is waited for must be looked at
// again between its construction and Sleep.
class Sleeper {
 public:
  explicit Sleeper(Bell& bell) : bell_(bell) {
    bell_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    seen_ = bell_.rings.load(std::memory_order_seq_cst);
  }
  ~Sleeper() { bell_.sleepers.fetch_sub(1, std::memory_order_seq_cst); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Until the bell has rung since the construction, or `longest` has passed,
  // or for no reason.
  void Sleep(Duration longest) const;

 private:
  Bell& bell_;
  uint32_t seen_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_BELL_H_
