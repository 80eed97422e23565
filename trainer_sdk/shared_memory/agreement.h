#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_AGREEMENT_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_AGREEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// How ranks meet: at the start of a collective, where each sees what the
// others call before anything is touched, and at the steps inside it. Not
// thread-safe.
class Agreement {
 public:
  explicit Agreement(Peers* peers) : peers_(peers) {}

  // What this rank adds to its call.
  struct Terms {
    Offer offer = Offer::kNone;
    HeapPlace input;
    HeapPlace output;
    int64_t allocation = 0;
  };

  // Posts this rank's call, waits until every rank has posted one, and
  // compares. FailedPrecondition, and the group is broken, if they differ.
  // Afterwards CallOf(rank) and its counts are every rank's, until the next.
  absl::Status Meet(const Operation& operation, const Terms& terms,
                    const Waiting& waiting);

  // Until every rank has come to this step too.
  absl::Status Step(const Waiting& waiting);

  const Call& CallOf(int rank) const {
    return peers_->page(rank).calls[number_ % 2];
  }
  // Of an all_to_all with counts: what `from` sends to `to`.
  int64_t SendCount(int from, int to) const {
    return peers_->counts(from, static_cast<int>(number_ % 2))[to];
  }
  // The same as the receiver sees it.
  int64_t ReceiveCount(int from, int to) const {
    return peers_->counts(to,
                          static_cast<int>(number_ % 2))[peers_->size() + from];
  }

 private:
  void PostCounts(const Operation& operation) const;
  absl::Status Compare(const Operation& operation,
                       const OperationSignature& own) const;
  std::vector<int64_t> CountsOf(int rank, int first) const;
  std::string DescribeCall(int rank) const;

  Peers* const peers_;
  uint64_t number_ = 0;  // of collectives
  uint64_t phase_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_AGREEMENT_H_
