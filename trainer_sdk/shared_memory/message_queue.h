#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_QUEUE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/shared_memory/heap.h"
#include "trainer_sdk/shared_memory/message_ring.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// What one batch still has to send to one rank, in order.
class SendQueue {
 public:
  SendQueue(Peers* peers, Heap* heap, int to, uint64_t sequence);

  void Add(const PointToPoint& message) { messages_.push_back(&message); }
  int peer() const { return to_; }
  bool done() const { return next_ == messages_.size(); }
  // Whether Move would do anything.
  bool CanMove() const;
  // Does what can be done without waiting.
  void Move();
  std::string Tell() const;

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
  bool announced_ = false;  // the next one's header is in the ring
  bool direct_ = false;     // and the receiver fetches its payload
  int64_t sent_ = 0;        // bytes of its payload in the ring
};

// What one batch still expects from one rank.
class ReceiveQueue {
 public:
  ReceiveQueue(Peers* peers, Heap* heap, int from);

  void Add(const PointToPoint& message) { messages_.push_back(&message); }
  int peer() const { return from_; }
  bool done() const { return messages_.empty(); }
  bool CanMove() const { return !done() && ring_.Filled() > 0; }
  // FailedPrecondition, the group not broken yet: what came is not expected.
  absl::Status Move();
  std::string Tell() const;

 private:
  absl::Status Accept(const MessageHeader& header);
  void Finish();

  Peers* const peers_;
  Heap* const heap_;
  const int from_;
  MessageRing ring_;
  std::vector<const PointToPoint*> messages_;
  const PointToPoint* current_ = nullptr;  // whose payload comes now
  int64_t received_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_MESSAGE_QUEUE_H_
