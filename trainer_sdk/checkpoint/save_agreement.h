#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_SAVE_AGREEMENT_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_SAVE_AGREEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/checkpoint/replica_check.h"
#include "trainer_sdk/checkpoint/shard_layout.h"
#include "trainer_sdk/checkpoint/share_plan.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// The ranks' agreement about what is saved and who writes what. What each rank
// has is told once and again only where it changes, so that mostly it costs two
// short collectives.
class SaveAgreement {
 public:
  explicit SaveAgreement(ProcessGroup& group)
      : group_(group), known_(static_cast<size_t>(group.size())) {}

  // Collective. `status` is what keeps this rank from saving, if anything does.
  // The same error on every rank, but for the wording: the rank's own, else the
  // first rank's, InvalidArgument where they do not fit together.
  absl::Status Reach(const absl::Status& status, int64_t step,
                     const std::vector<CheckpointSlice>& slices,
                     CallOptions call);

  // After Reach: the whole plan, and what this rank does. The latter may be an
  // error where the others have none.
  const SharePlan& plan() const { return plan_; }
  const absl::StatusOr<ShardLayout>& layout() const { return layout_; }
  const ReplicaCheck& replicas() const { return replicas_; }

 private:
  absl::Status Plan(const std::vector<CheckpointSlice>& slices,
                    const std::vector<Word>& words);

  ProcessGroup& group_;
  // What the ranks have, as bytes.
  std::vector<std::string> known_;
  enum class State { kStale, kPlanned } state_ = State::kStale;
  SharePlan plan_;
  absl::StatusOr<ShardLayout> layout_;
  ReplicaCheck replicas_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SAVE_AGREEMENT_H_
