#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_FAILURE_RECORD_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_FAILURE_RECORD_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/store/store.h"

namespace muster {

// Where a group's store holds the cause.
inline constexpr char kFailureKey[] = "failure";

enum class LateRank { kLateToo, kSilent };

// The one cause for which a group is broken, told by every rank: the first
// that any of them wrote down. A rank writes its cause *before* it cuts its
// connections, so that a rank which sees the cut finds the cause there.
// Thread-safe.
class FailureRecord {
 public:
  // `store` holds keys of this group only. `patience`: how long a store may
  // take which a cut network keeps from answering.
  FailureRecord(std::shared_ptr<Store> store, int rank, Duration patience);

  // Writes `mine` down, unless another cause is there; what is there. `mine`
  // where the store does not answer.
  absl::Status Settle(const absl::Status& mine) const;

  // OK, or the cause that is written down. OK also where the store does not
  // answer.
  absl::Status Told() const;

  // Waits at most `grace` for a cause that somebody else writes down: for a
  // rank that does not know more than that it waited.
  void AwaitCause(Duration grace) const;

  // For a rank whose deadline has passed: says so to the others, and hears for
  // `grace` which of them are late in `operation` too. One entry a rank, its
  // own included; empty where the store does not answer.
  std::vector<LateRank> CompareLate(const std::string& operation, int size,
                                    Duration grace) const;

 private:
  const std::shared_ptr<Store> store_;
  const int rank_;
  const Duration patience_;
};

// A status as the record holds it: "CODE RANK MESSAGE", and back. Internal for
// anything else.
std::string EncodeFailure(int rank, const absl::Status& failure);
absl::Status DecodeFailure(const std::string& text, int own_rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_FAILURE_RECORD_H_
