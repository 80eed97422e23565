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

// The ranks' agreement on the plan of a save: what is saved, and which rank
// writes it. Each rank sends its list of slices only in the first save and when
// it changes, so that most saves need only two short collectives.
class SaveAgreement {
 public:
  explicit SaveAgreement(ProcessGroup& group)
      : group_(group), known_(static_cast<size_t>(group.size())) {}

  // Collective. `status`: the reason why this rank cannot save, or OK. If it
  // fails, it fails on every rank, apart from the wording: with the rank's own
  // error, else with the first rank's; InvalidArgument if the ranks' slices do
  // not fit together.
  absl::Status Reach(const absl::Status& status, int64_t step,
                     const std::vector<CheckpointSlice>& slices,
                     CallOptions call);

  // Valid after Reach: the common plan and this rank's layout. The layout may
  // be an error on this rank only.
  const SharePlan& plan() const { return plan_; }
  const absl::StatusOr<ShardLayout>& layout() const { return layout_; }
  const ReplicaCheck& replicas() const { return replicas_; }

 private:
  absl::Status Plan(const std::vector<CheckpointSlice>& slices,
                    const std::vector<Word>& words);

  ProcessGroup& group_;
  // By rank: its list of slices, encoded.
  std::vector<std::string> known_;
  enum class State { kStale, kPlanned } state_ = State::kStale;
  SharePlan plan_;
  absl::StatusOr<ShardLayout> layout_;
  ReplicaCheck replicas_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SAVE_AGREEMENT_H_
