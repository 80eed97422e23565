#ifndef MUSTER_STORE_SERVER_MEMORY_WATERMARK_H_
#define MUSTER_STORE_SERVER_MEMORY_WATERMARK_H_

#include <cstddef>

namespace muster::store {

// Decides when freed memory is returned to the system: the allocator keeps it,
// and to return it costs time that grows with the amount. Pure.
class MemoryWatermark {
 public:
  // Less freed memory than this is not worth the system calls, in bytes.
  static constexpr size_t kLeast = size_t{32} << 20;

  // Notes that `bytes` are in use. Returns whether freed memory is to be
  // returned now: the use has fallen by kLeast, and to half of its maximum,
  // since the last time.
  bool Falls(size_t bytes);

 private:
  size_t peak_ = 0;
};

// Returns the allocator's free memory to the system. Any thread; takes
// milliseconds per GiB.
void ReturnFreeMemory();

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_MEMORY_WATERMARK_H_
