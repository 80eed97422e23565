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
#include "trainer_sdk/files/file_system.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Checks that replicas are equal: ranks that hold the same part of a tensor
// must hold equal bytes. Each of these ranks writes a different piece of the
// part to the checkpoint. If replicas differed, the checkpoint would be a
// mixture that no rank ever had.
class ReplicaCheck {
 public:
  ReplicaCheck() = default;
  // Prepares the check of the ranges that rank `rank` and at least one other
  // rank hold. `own`: the slices that rank `rank` contributed to `plan`.
  ReplicaCheck(const SharePlan& plan, const std::vector<SliceRange>& own,
               int rank);

  // Computes a digest of the current content of each replicated range that this
  // rank has, eight bytes per range. Reads all these ranges once.
  std::string Digests(const std::vector<CheckpointSlice>& slices) const;

 private:
  // For each replicated range that this rank holds, in the plan's order: the
  // pieces of this rank's slices that form the range.
  std::vector<std::vector<ShardCopy>> places_;
};

// Compares the ranks' digests, indexed by rank. FailedPrecondition: the
// replicas of two ranks differ; the message names the ranks and the tensor.
// DataLoss: a rank sent too few digests. Pure.
absl::Status CompareReplicas(const SharePlan& plan,
                             const std::vector<std::string_view>& digests);

// Makes all ranks agree on the plan of a save: what is saved, and which rank
// writes it. For each save the ranks gather the lengths of their messages and
// then the messages. A rank's message contains its list of slices only in the
// first save and after a change of the list, so most messages are short.
class SaveAgreement {
 public:
  explicit SaveAgreement(ProcessGroup& group)
      : group_(group), known_(static_cast<size_t>(group.size())) {}

  // Makes the plan for this save. Collective. `status`: OK, or the reason why
  // this rank cannot save. If any rank cannot save, every rank gets an error: a
  // rank that cannot save gets its own error, and all other ranks get the error
  // of the first rank that cannot save.
  // InvalidArgument: the ranks' slices do not fit together.
  absl::Status Reach(const absl::Status& status, int64_t step,
                     const std::vector<CheckpointSlice>& slices,
                     CallOptions call);

  // Valid after Reach. plan() is the same on all ranks. layout() is the layout
  // of this rank's shard. If this rank cannot make its shard, layout() is the
  // error; the other ranks may have a layout nevertheless.
  const SharePlan& plan() const { return plan_; }
  const absl::StatusOr<ShardLayout>& layout() const { return layout_; }
  const ReplicaCheck& replicas() const { return replicas_; }

 private:
  absl::Status Plan(const std::vector<CheckpointSlice>& slices,
                    const std::vector<RankMessage>& messages);

  ProcessGroup& group_;
  // Indexed by rank: the encoded list of slices that the rank sent last.
  std::vector<std::string> known_;
  enum class State { kStale, kPlanned } state_ = State::kStale;
  SharePlan plan_;
  absl::StatusOr<ShardLayout> layout_;
  ReplicaCheck replicas_;
};

// The input of SaveTogether on one rank. The plan is the same on all ranks, and
// says what each rank writes.
struct JointSave {
  std::string directory;
  int keep = 0;
  int64_t step = 0;
  // The state string to save; used on rank 0 only.
  std::string state;
  const SharePlan* plan = nullptr;
  // Whether this rank can write its shard: OK, or the reason why it cannot.
  absl::Status ready;
  const ShardLayout* layout = nullptr;
  std::string_view data;
  // Digests (ReplicaCheck::Digests) of the ranges that this rank and at least
  // one other rank hold. All ranks that hold a range must have equal digests of
  // it.
  std::string digests;
  // The checkpoints that are known to be intact; updated by each save. Used on
  // rank 0 only.
  WholeCheckpoints* whole = nullptr;
};

// Writes a checkpoint. Collective and blocking. Returns the same result on
// every rank: OK once the checkpoint exists, InvalidArgument, or an error of
// the group or of a file. A file error names the rank, the file and the
// system's error.
absl::Status SaveTogether(ProcessGroup& group, FileSystem& files,
                          const JointSave& save, CallOptions call);

// Returns a random string, by which the temporary folders of one writer differ
// from those of all other writers.
std::string NewNonce();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_JOINT_SAVE_H_
