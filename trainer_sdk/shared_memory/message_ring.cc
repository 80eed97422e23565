#include "trainer_sdk/shared_memory/message_ring.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace muster {

void MessageRing::Write(const void* data, int64_t bytes) {
  const uint64_t position = channel_->written.load();
  const int64_t offset = static_cast<int64_t>(position % bytes_);
  const int64_t first = std::min(bytes, bytes_ - offset);
  std::memcpy(data_ + offset, data, first);
  std::memcpy(data_, static_cast<const char*>(data) + first, bytes - first);
  channel_->written.store(position + RoundUp(bytes, kCacheLine),
                          std::memory_order_seq_cst);
}

void MessageRing::Peek(void* data, int64_t bytes) const {
  const int64_t offset = static_cast<int64_t>(channel_->read.load() % bytes_);
  const int64_t first = std::min(bytes, bytes_ - offset);
  std::memcpy(data, data_ + offset, first);
  std::memcpy(static_cast<char*>(data) + first, data_, bytes - first);
}

void MessageRing::Read(void* data, int64_t bytes) {
  Peek(data, bytes);
  channel_->read.store(channel_->read.load() + RoundUp(bytes, kCacheLine),
                       std::memory_order_seq_cst);
}

}  // namespace muster
