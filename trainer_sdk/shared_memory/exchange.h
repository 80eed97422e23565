#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/shared_memory/heap.h"
#include "trainer_sdk/shared_memory/layout.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// One end of a ring buffer from one rank to another. The ring has one writer
// and one reader. All lengths are rounded up to cache lines, so that a header
// never wraps around.
class MessageRing {
 public:
  MessageRing(Channel* channel, char* data, int64_t bytes)
      : channel_(channel), data_(data), bytes_(bytes) {}

  // For the writer: the number of bytes that can be written to the ring now.
  int64_t Space() const {
    return bytes_ - static_cast<int64_t>(channel_->written.load() -
                                         channel_->read.load());
  }
  uint64_t written() const { return channel_->written.load(); }
  uint64_t read() const { return channel_->read.load(); }
  // Writes `bytes` bytes. Requires RoundUp(bytes, kCacheLine) <= Space().
  void Write(const void* data, int64_t bytes);

  // For the reader: the number of bytes that can be read from the ring now.
  int64_t Filled() const {
    return static_cast<int64_t>(channel_->written.load() -
                                channel_->read.load());
  }
  // Read and Peek copy the next `bytes` bytes of the ring to `data`; only Read
  // removes them from the ring. Both require RoundUp(bytes, kCacheLine) <=
  // Filled().
  void Peek(void* data, int64_t bytes) const;
  void Read(void* data, int64_t bytes);

 private:
  Channel* channel_;
  char* data_;
  int64_t bytes_;
};

// The messages of one batch to one receiver that are not sent yet, in order.
class SendQueue {
 public:
  SendQueue(Peers* peers, Heap* heap, int to, uint64_t sequence);

  void Add(const PointToPoint& message) { messages_.push_back(&message); }
  int peer() const { return to_; }
  bool done() const { return next_ == messages_.size(); }
  // Whether Move can now send data, or complete the message that is being sent.
  bool CanMove() const;
  // Sends as much as is possible without blocking.
  void Move();
  std::string DescribeUnfinished() const;

 private:
  void Announce(const PointToPoint& message);
  void Finish();

  Peers* const peers_;
  Heap* const heap_;
  const int to_;
  const uint64_t sequence_;
  MessageRing ring_;
  std::vector<const PointToPoint*> messages_;
  size_t next_ = 0;
  // whether the next message's header is in ring_, the buffer to the receiver
  bool announced_ = false;
  // whether the message that is being sent has its payload in the symmetric
  // heap, so that the receiver copies the payload from there
  bool direct_ = false;
  // number of payload bytes of the next message that were written to the ring
  int64_t sent_ = 0;
};

// The messages of one batch from one sender that are not received yet.
class ReceiveQueue {
 public:
  ReceiveQueue(Peers* peers, Heap* heap, int from);

  void Add(const PointToPoint& message) { messages_.push_back(&message); }
  int peer() const { return from_; }
  bool done() const { return messages_.empty(); }
  bool CanMove() const { return !done() && ring_.Filled() > 0; }
  // Receives as much as is possible without blocking. FailedPrecondition: an
  // unexpected message arrived, and the caller must break the group.
  absl::Status Move();
  std::string DescribeUnfinished() const;

 private:
  absl::Status Accept(const MessageHeader& header);
  void Finish();

  Peers* const peers_;
  Heap* const heap_;
  const int from_;
  MessageRing ring_;
  std::vector<const PointToPoint*> messages_;
  // the message whose payload is arriving; null: none
  const PointToPoint* current_ = nullptr;
  int64_t received_ = 0;
};

// Sends and receives point-to-point messages, several at once. The messages
// from one rank to another pass through a ring buffer, in the order in which
// they are sent. If a large message is in the symmetric heap, only its header
// passes through the ring, and the receiver copies the data from the heap. A
// send is complete when its buffer may be changed. The message may be received
// later.
//
// A message stays in the ring until a receive from its sender is pending. The
// first pending receive from the sender with the message's tag gets the
// message. The group breaks with FailedPrecondition if no pending receive has
// the tag, or if the count or dtype differs. The error says what each side
// called. Not thread-safe.
class Exchange {
 public:
  Exchange(Peers* peers, Heap* heap)
      : peers_(peers), heap_(heap), reserved_(peers->size()) {}

  // Performs all messages of a batch concurrently. This rank must not send to
  // itself. ResourceExhausted: no memory for a ring; nothing was sent and the
  // group stays usable.
  absl::Status Execute(const std::vector<PointToPoint>& messages,
                       const Waiting& waiting);

 private:
  absl::Status ReserveRing(int to);

  Peers* const peers_;
  Heap* const heap_;
  // indexed by receiver: whether the memory pages of the ring to that rank are
  // reserved
  std::vector<char> reserved_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_
