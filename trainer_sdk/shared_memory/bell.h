#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_BELL_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_BELL_H_

#include <cstdint>

#include "base/time.h"
#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

// Wakes all sleepers at the bell, in every process.
void Ring(Bell& bell);

// Rings only if there are sleepers. Correct only after a sequentially
// consistent store of their condition: then either a rank about to sleep sees
// that store, or this call sees the sleeper.
inline void RingIfHeard(Bell& bell) {
  if (bell.sleepers.load(std::memory_order_seq_cst) != 0) Ring(bell);
}

// Registers a sleeper while it lives. The condition must be checked again
// between construction and Sleep.
class Sleeper {
 public:
  explicit Sleeper(Bell& bell) : bell_(bell) {
    bell_.sleepers.fetch_add(1, std::memory_order_seq_cst);
    seen_ = bell_.rings.load(std::memory_order_seq_cst);
  }
  ~Sleeper() { bell_.sleepers.fetch_sub(1, std::memory_order_seq_cst); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // Sleeps until the bell has rung since the construction, `longest` has
  // passed, or spuriously.
  void Sleep(Duration longest) const;

 private:
  Bell& bell_;
  uint32_t seen_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_BELL_H_
