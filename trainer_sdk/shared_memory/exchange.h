#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/shared_memory/heap.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// Sends and receives messages, several at once. Messages from one rank to
// another use a ring, in the order in which they are sent. If a large message
// is in the symmetric heap, the receiver copies it directly from there. A
// message goes to the first receive of the batch that waits for its sender and
// tag. If there is none, or if count or dtype differ, the group breaks with
// FailedPrecondition, which says what each side called. A send is complete when
// its buffer may be changed, possibly before the message is received. Not
// thread-safe.
class Exchange {
 public:
  Exchange(Peers* peers, Heap* heap)
      : peers_(peers), heap_(heap), reserved_(peers->size()) {}

  // Performs all messages concurrently; none may be to or from this rank.
  // ResourceExhausted: no memory for a ring; nothing was sent and the group
  // stays usable.
  absl::Status Execute(const std::vector<PointToPoint>& messages,
                       const Waiting& waiting);

 private:
  absl::Status ReserveRing(int to);

  Peers* const peers_;
  Heap* const heap_;
  std::vector<char> reserved_;  // by receiver: whether its ring has its pages
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_
