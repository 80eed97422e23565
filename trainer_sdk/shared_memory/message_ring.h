#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_RING_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_RING_H_

#include <cstdint>

#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

// One end of the ring between two ranks. All lengths are rounded up to cache
// lines, so that a header never wraps around. One writer, one reader.
class MessageRing {
 public:
  MessageRing(Channel* channel, char* data, int64_t bytes)
      : channel_(channel), data_(data), bytes_(bytes) {}

  // For the writer: free bytes, and the positions.
  int64_t Space() const {
    return bytes_ - static_cast<int64_t>(channel_->written.load() -
                                         channel_->read.load());
  }
  uint64_t written() const { return channel_->written.load(); }
  uint64_t read() const { return channel_->read.load(); }
  // Requires RoundUp(bytes, kCacheLine) <= Space().
  void Write(const void* data, int64_t bytes);

  // For the reader: bytes to read.
  int64_t Filled() const {
    return static_cast<int64_t>(channel_->written.load() -
                                channel_->read.load());
  }
  // Require RoundUp(bytes, kCacheLine) <= Filled(). Peek leaves the data
  // unread.
  void Peek(void* data, int64_t bytes) const;
  void Read(void* data, int64_t bytes);

 private:
  Channel* channel_;
  char* data_;
  int64_t bytes_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_RING_H_
