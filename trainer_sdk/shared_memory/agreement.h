#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_AGREEMENT_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_AGREEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/shared_memory/peers.h"

namespace muster {

// Synchronises the ranks: at the start of a collective, where all see each
// other's call before any data is touched, and at the steps inside it. Not
// thread-safe.
class Agreement {
 public:
  explicit Agreement(Peers* peers) : peers_(peers) {}

  // The transport's additions to this rank's call.
  struct Terms {
    Offer offer = Offer::kNone;
    HeapPlace input;
    HeapPlace output;
    int64_t allocation = 0;
  };

  // Posts this rank's call, blocks until every rank has posted one, and
  // compares them. FailedPrecondition: they differ; the group is broken. On
  // success CallOf(rank) and the counts are valid for every rank until the next
  // Meet.
  absl::Status Meet(const Operation& operation, const Terms& terms,
                    const Waiting& waiting);

  // Blocks until every rank has reached this step.
  absl::Status Step(const Waiting& waiting);

  const Call& CallOf(int rank) const {
    return peers_->page(rank).calls[number_ % 2];
  }
  // For an all_to_all with counts: the number of elements from `from` to `to`,
  // as the sender gave it.
  int64_t SendCount(int from, int to) const {
    return peers_->counts(from, static_cast<int>(number_ % 2))[to];
  }
  // The same number as the receiver gave it.
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
  uint64_t number_ = 0;  // number of collectives so far
  uint64_t phase_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_AGREEMENT_H_
