#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_RING_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_RING_H_

#include <cstdint>

#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

// One end of the ring between two ranks. What is written and read counts in
// whole cache lines, so that a header never wraps. One writer, one reader.
class MessageRing {
 public:
  MessageRing(Channel* channel, char* data, int64_t bytes)
      : channel_(channel), data_(data), bytes_(bytes) {}

  // The writer's side: bytes that can be written, and positions.
  int64_t Space() const {
    return bytes_ - static_cast<int64_t>(channel_->written.load() -
                                         channel_->read.load());
  }
  uint64_t written() const { return channel_->written.load(); }
  uint64_t read() const { return channel_->read.load(); }
  // Needs RoundUp(bytes, kCacheLine) <= Space().
  void Write(const void* data, int64_t bytes);

  // The reader's side.
  int64_t Filled() const {
    return static_cast<int64_t>(channel_->written.load() -
                                channel_->read.load());
  }
  // Needs RoundUp(bytes, kCacheLine) <= Filled(). Peek leaves it unread.
  void Peek(void* data, int64_t bytes) const;
  void Read(void* data, int64_t bytes);

 private:
  Channel* channel_;
  char* data_;
  int64_t bytes_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_RING_H_
