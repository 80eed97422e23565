#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/shared_memory/heap.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// Sends and receives messages, several at once. Messages from one rank to
// another go through a ring, in the order in which they are sent; a large one
// that lies in the symmetric heap is copied by the receiver, straight from
// there. A message goes to the first receive of the batch that waits for its
// sender and tag; if none does, or if count or dtype differ, the group is
// broken: FailedPrecondition says what each side called. A send is over when
// its buffer may be changed, which may be before it is received. Not
// thread-safe.
class Exchange {
 public:
  Exchange(Peers* peers, Heap* heap)
      : peers_(peers), heap_(heap), reserved_(peers->size()) {}

  // Messages to and from other ranks, all at once. ResourceExhausted, with
  // nothing sent and the group as it was, if there is no memory for a ring.
  absl::Status Execute(const std::vector<PointToPoint>& messages,
                       const Waiting& waiting);

 private:
  absl::Status ReserveRing(int to);

  Peers* const peers_;
  Heap* const heap_;
  std::vector<char> reserved_;  // by receiver: its ring has its pages
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_EXCHANGE_H_
