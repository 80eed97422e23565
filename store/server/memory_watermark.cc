#include "store/server/memory_watermark.h"

#include <malloc.h>

#include <algorithm>

namespace muster::store {

bool MemoryWatermark::Falls(size_t bytes) {
  peak_ = std::max(peak_, bytes);
  if (peak_ - bytes < kLeast || bytes > peak_ / 2) return false;
  peak_ = bytes;
  return true;
}

void ReturnFreeMemory() { malloc_trim(0); }

}  // namespace muster::store
