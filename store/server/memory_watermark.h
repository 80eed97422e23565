#ifndef MUSTER_STORE_SERVER_MEMORY_WATERMARK_H_
#define MUSTER_STORE_SERVER_MEMORY_WATERMARK_H_

#include <cstddef>

namespace muster::store {

// Decides when a store returns freed memory to the system. The memory allocator
// of the process keeps freed memory. Returning it takes time in proportion to
// the amount. Pure.
class MemoryWatermark {
 public:
  // The least freed memory, in bytes, that is returned to the system. For less
  // memory, the system calls would cost too much time.
  static constexpr size_t kLeast = size_t{32} << 20;

  // Sets the memory in use to `bytes`. Returns whether freed memory must be
  // returned to the system now: the memory in use has fallen by at least half,
  // and by at least kLeast, from its maximum since Falls last returned true.
  bool Falls(size_t bytes);

 private:
  size_t peak_ = 0;
};

// Returns the allocator's free memory to the system. Any thread; takes
// milliseconds per GiB.
void ReturnFreeMemory();

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_MEMORY_WATERMARK_H_
