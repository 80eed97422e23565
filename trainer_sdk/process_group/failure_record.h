#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_FAILURE_RECORD_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_FAILURE_RECORD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// The key in the group's store whose value is the cause for which the group is
// broken.
inline constexpr char kFailureKey[] = "failure";

enum class LateRank { kLateToo, kSilent };

// The cause for which a group is broken: the first cause that any rank writes
// to the store. All ranks report this cause. A rank must write its cause
// *before* it closes its connections, so that a peer that sees a closed
// connection finds the cause in the store. Thread-safe.
class FailureRecord {
 public:
  // `store` holds keys of this group only. `timeout`: the longest time to wait
  // for an answer of the store, which a broken network may make unreachable.
  FailureRecord(std::shared_ptr<Store> store, int rank, Duration timeout);

  // Writes `mine`, the cause of the group's failure as this rank sees it, to
  // the store unless the store already holds an earlier cause. Returns the
  // cause that the store then holds, or `mine` if the store does not answer.
  absl::Status Settle(const absl::Status& mine) const;

  // Returns the cause of the group's failure that the store holds. OK: the
  // store holds no cause, or does not answer.
  absl::Status Cause() const;

  // Waits up to `grace` for another rank to write a cause. Called by a rank
  // that timed out and does not know why its peer did not answer.
  void AwaitCause(Duration grace) const;

  // Called by a rank whose deadline passed during `operation`. Records this
  // timeout in the store, and waits up to `grace` for other ranks that time out
  // in the same operation. Returns one entry for each rank of the group,
  // including this rank: kLateToo if a timeout of that rank is recorded,
  // otherwise kSilent. Returns an empty list if the store does not answer.
  std::vector<LateRank> CompareLate(const std::string& operation, int size,
                                    Duration grace) const;

 private:
  const std::shared_ptr<Store> store_;
  const int rank_;
  const Duration timeout_;
};

// EncodeFailure makes the text that is stored for a failure, "CODE RANK
// MESSAGE"; DecodeFailure converts this text back to the status. Decoding any
// other text gives Internal.
std::string EncodeFailure(int rank, const absl::Status& failure);
absl::Status DecodeFailure(const std::string& text, int own_rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_FAILURE_RECORD_H_
