#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_JOINT_SAVE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_JOINT_SAVE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_folders.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/checkpoint/share_plan.h"
#include "trainer_sdk/checkpoint/slice_list.h"
#include "trainer_sdk/files/file_system.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Checks that ranks which hold the same part of a tensor hold equal bytes. Each
// of these ranks writes only a share of it, so a checkpoint of differing
// replicas would be a mixture that no rank ever had.
class ReplicaCheck {
 public:
  ReplicaCheck() = default;
  // `own`: the slices of rank `rank` from which `plan` was made.
  ReplicaCheck(const SharePlan& plan, const std::vector<SliceRange>& own,
               int rank);

  // Digests of the current contents of this rank's replicas, eight bytes per
  // range. Reads all replicas once.
  std::string Digests(const std::vector<CheckpointSlice>& slices) const;

 private:
  // Indexed by replicated range: the positions of the range in this rank's
  // slices.
  std::vector<std::vector<ShardCopy>> places_;
};

// `digests`: the digests of all ranks, indexed by rank. FailedPrecondition: the
// replicas of two ranks differ; names the ranks and the tensor. DataLoss: a
// rank sent too few digests. Pure.
absl::Status CompareReplicas(const SharePlan& plan,
                             const std::vector<std::string_view>& digests);

// The ranks' agreement on the plan of a save: what is saved, and which rank
// writes it. Each rank sends its list of slices only in the first save and when
// it changes, so that most saves need only two short collectives.
class SaveAgreement {
 public:
  explicit SaveAgreement(ProcessGroup& group)
      : group_(group), known_(static_cast<size_t>(group.size())) {}

  // Collective. `status`: OK, or the reason why this rank cannot save. On
  // failure every rank gets an error: a rank that could not save gets its own,
  // every other rank that of the first such rank. InvalidArgument: the ranks'
  // slices do not fit together.
  absl::Status Reach(const absl::Status& status, int64_t step,
                     const std::vector<CheckpointSlice>& slices,
                     CallOptions call);

  // Valid after Reach: the common plan and this rank's layout. The layout may
  // be an error on one rank and valid on others.
  const SharePlan& plan() const { return plan_; }
  const absl::StatusOr<ShardLayout>& layout() const { return layout_; }
  const ReplicaCheck& replicas() const { return replicas_; }

 private:
  absl::Status Plan(const std::vector<CheckpointSlice>& slices,
                    const std::vector<RankMessage>& messages);

  ProcessGroup& group_;
  // Indexed by rank: the rank's encoded list of slices.
  std::vector<std::string> known_;
  enum class State { kStale, kPlanned } state_ = State::kStale;
  SharePlan plan_;
  absl::StatusOr<ShardLayout> layout_;
  ReplicaCheck replicas_;
};

// The input of one collective save. The plan is the same on all ranks; each
// rank writes its own share.
struct JointSave {
  std::string directory;
  int keep = 0;
  int64_t step = 0;
  // The state string; used on rank 0 only.
  std::string state;
  const SharePlan* plan = nullptr;
  // OK, or the reason why this rank cannot write.
  absl::Status ready;
  const ShardLayout* layout = nullptr;
  std::string_view data;
  // The digests of this rank's replicas (ReplicaCheck::Digests).
  std::string digests;
  // Checkpoints that are known to be intact, kept from save to save. Used on
  // rank 0 only.
  WholeCheckpoints* whole = nullptr;
};

// Collective and blocking: writes a checkpoint. Returns the same result on
// every rank: OK once the checkpoint exists; otherwise InvalidArgument or a
// file error that names the rank, the file and the system's error, or an error
// of the group.
absl::Status SaveTogether(ProcessGroup& group, FileSystem& files,
                          const JointSave& save, CallOptions call);

// A random string that distinguishes the temporary folders of different
// writers.
std::string NewNonce();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_JOINT_SAVE_H_
