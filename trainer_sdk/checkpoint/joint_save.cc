#include "trainer_sdk/checkpoint/joint_save.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/checksum.h"
#include "base/little_endian.h"
#include "trainer_sdk/checkpoint/checkpoint_folders.h"
#include "trainer_sdk/checkpoint/exchange.h"
#include "trainer_sdk/checkpoint/share_plan.h"

namespace muster {

ReplicaCheck::ReplicaCheck(const SharePlan& plan,
                           const std::vector<SliceRange>& own, int rank) {
  const SliceIndex index(own);
  for (const SharePlan::Replicas& replicas : plan.replicas) {
    if (!std::binary_search(replicas.owners.begin(), replicas.owners.end(),
                            rank)) {
      continue;
    }
    for (const SliceRange& range : replicas.ranges) {
      places_.push_back(index.CopiesOf(range, 0));
    }
  }
}

std::string ReplicaCheck::Digests(
    const std::vector<CheckpointSlice>& slices) const {
  std::string digests;
  for (const std::vector<ShardCopy>& range : places_) {
    Checksum checksum;
    for (const ShardCopy& copy : range) {
      checksum.Add(
          {static_cast<const char*>(slices[copy.slice].data) + copy.from,
           static_cast<size_t>(copy.bytes)});
    }
    AppendInteger(static_cast<int64_t>(checksum.value()), &digests);
  }
  return digests;
}

absl::Status CompareReplicas(const SharePlan& plan,
                             const std::vector<std::string_view>& digests) {
  std::vector<MessageReader> readers(digests.begin(), digests.end());
  for (const SharePlan::Replicas& replicas : plan.replicas) {
    const int first = replicas.owners.front();
    for (const SliceRange& range : replicas.ranges) {
      const int64_t digest = readers[static_cast<size_t>(first)].Number();
      for (size_t i = 1; i < replicas.owners.size(); ++i) {
        const int rank = replicas.owners[i];
        MessageReader& reader = readers[static_cast<size_t>(rank)];
        if (reader.Number() == digest && reader.whole()) continue;
        if (!reader.whole()) {
          return absl::DataLossError(
              absl::StrCat("rank ", rank, " told too few digests"));
        }
        return absl::FailedPreconditionError(absl::StrCat(
            Describe(range.tensor), " is not the same on ranks ", first,
            " and ", rank,
            ", which both have it: a checkpoint would be a mix of the two. "
            "Were "
            "all ranks given rank 0's values at first, and the same averaged "
            "gradients in each step?"));
      }
    }
  }
  return absl::OkStatus();
}

namespace {

int64_t StepOf(const RankMessage& message) {
  return MessageReader(message.bytes).Number();
}

// The encoded list of slices in a rank's message; empty if the list is the same
// as in that rank's last save.
std::string_view RangesIn(const RankMessage& message) {
  MessageReader reader(message.bytes);
  reader.Number();
  return reader.Text();
}

}  // namespace

absl::Status SaveAgreement::Reach(const absl::Status& status, int64_t step,
                                  const std::vector<CheckpointSlice>& slices,
                                  CallOptions call) {
  const std::string ranges = WriteRanges(RangesOf(slices));
  // Whether this rank's list of slices is the same as in the rank's last save.
  // If so, the ranges of the list have been checked before, and only the
  // addresses of the slices are checked now.
  const bool known = ranges == known_[static_cast<size_t>(group_.rank())];
  RankMessage mine = {status, ""};
  if (mine.status.ok()) {
    mine.status = known ? CheckPlaces(slices) : CheckSlices(slices);
  }
  if (mine.status.ok() && step < 0) {
    mine.status =
        absl::InvalidArgumentError(absl::StrCat("a checkpoint of step ", step));
  }
  AppendInteger(step, &mine.bytes);
  AppendString(known ? "" : ranges, &mine.bytes);
  const auto messages = Exchange(group_, mine, call);
  if (!mine.status.ok()) return mine.status;
  if (!messages.ok()) return messages.status();
  absl::Status failure = FirstFailureOf(*messages);
  if (!failure.ok()) return failure;
  for (size_t rank = 1; rank < messages->size(); ++rank) {
    const int64_t other = StepOf((*messages)[rank]);
    if (other == StepOf(messages->front())) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("rank 0 saves step ", StepOf(messages->front()),
                     ", and rank ", rank, " saves step ", other));
  }
  return Plan(slices, *messages);
}

absl::Status SaveAgreement::Plan(const std::vector<CheckpointSlice>& slices,
                                 const std::vector<RankMessage>& messages) {
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    const std::string_view ranges = RangesIn(messages[rank]);
    if (ranges.empty()) continue;
    known_[rank] = ranges;
    state_ = State::kStale;
  }
  if (state_ == State::kPlanned) return absl::OkStatus();
  std::vector<std::vector<SliceRange>> ranks;
  for (const std::string& bytes : known_) {
    auto ranges = ReadRanges(bytes);
    if (!ranges.ok()) return ranges.status();
    ranks.push_back(*std::move(ranges));
  }
  auto plan = PlanShares(ranks);
  if (!plan.ok()) return plan.status();
  plan_ = *std::move(plan);
  const std::vector<SliceRange> own = RangesOf(slices);
  layout_ = LayOutShard(own, plan_.shares[static_cast<size_t>(group_.rank())]);
  replicas_ = ReplicaCheck(plan_, own, group_.rank());
  state_ = State::kPlanned;
  return absl::OkStatus();
}

namespace {

// Writes this rank's shard, if the plan gives the rank any elements. Returns a
// message to the other ranks: the status, and the shard's size and checksum.
RankMessage WriteShare(FileSystem& files, const JointSave& save,
                       const std::string& folder, int rank) {
  RankMessage message = {save.ready, ""};
  if (!message.status.ok() || save.layout->header.tensors.empty()) {
    return message;
  }
  const auto header = WriteSafetensorsHeader(save.layout->header);
  message.status = header.status();
  if (!message.status.ok()) return message;
  const auto record = WriteRecordedFile(files, folder, ShardFileName(rank),
                                        {*header, save.data});
  message.status = record.status();
  if (!message.status.ok()) return message;
  // Each rank syncs the folder itself: on a network file system, each client
  // must sync the names of the files that it created.
  message.status = files.SyncFolder(folder);
  AppendInteger(record->bytes, &message.bytes);
  AppendInteger(record->checksum, &message.bytes);
  return message;
}

// Rank 0's work after all ranks have written their shards: turns the folder
// into a checkpoint. Returns the name of the checkpoint's folder.
absl::StatusOr<std::string> Commit(FileSystem& files, const JointSave& save,
                                   const std::string& folder,
                                   const std::vector<RankMessage>& shares) {
  std::vector<FileRecord> records;
  for (size_t rank = 0; rank < shares.size(); ++rank) {
    MessageReader reader(shares[rank].bytes);
    FileRecord record;
    record.name = ShardFileName(static_cast<int>(rank));
    record.bytes = reader.Number();
    record.checksum = static_cast<uint64_t>(reader.Number());
    records.push_back(std::move(record));
  }
  Manifest manifest;
  manifest.step = save.step;
  manifest.ranks = static_cast<int64_t>(shares.size());
  manifest.tensors = StoredTensors(*save.plan, &records);
  const auto state = WriteRecordedFile(files, folder, kStateFile, {save.state});
  if (!state.ok()) return state.status();
  records.push_back(*state);
  manifest.files = std::move(records);
  const auto path =
      CommitCheckpoint(files, save.directory, folder, std::move(manifest));
  if (!path.ok()) return path.status();
  return path->substr(path->rfind('/') + 1);
}

// Writes all shards and turns the folder into a checkpoint; returns the name of
// the checkpoint's folder. After an error the temporary folder may be left.
// Collective.
absl::StatusOr<std::string> WriteAndCommit(ProcessGroup& group,
                                           FileSystem& files,
                                           const JointSave& save,
                                           const std::string& folder,
                                           CallOptions call) {
  auto messages =
      Exchange(group, WriteShare(files, save, folder, group.rank()), call);
  if (!messages.ok()) return messages.status();
  absl::Status status = FirstFailureOf(*messages);
  if (!status.ok()) return status;
  RankMessage done;
  if (group.rank() == 0) {
    const auto name = Commit(files, save, folder, *messages);
    done = {name.status(), name.ok() ? *name : ""};
  }
  messages = Exchange(group, done, call);
  if (!messages.ok()) return messages.status();
  status = FirstFailureOf(*messages);
  if (!status.ok()) return status;
  return messages->front().bytes;
}

}  // namespace

std::string NewNonce() {
  std::random_device device;
  return absl::StrFormat("%08x%08x", device(), device());
}

absl::Status SaveTogether(ProcessGroup& group, FileSystem& files,
                          const JointSave& save, CallOptions call) {
  RankMessage begun;
  AppendString(save.digests, &begun.bytes);
  if (group.rank() == 0) {
    const auto path =
        BeginCheckpoint(files, save.directory, save.step, NewNonce());
    begun.status = path.status();
    AppendString(path.ok() ? *path : "", &begun.bytes);
  }
  const auto messages = Exchange(group, begun, call);
  if (!messages.ok()) return messages.status();
  absl::Status status = FirstFailureOf(*messages);
  if (!status.ok()) return status;
  std::vector<std::string_view> digests;
  for (const RankMessage& message : *messages) {
    digests.push_back(MessageReader(message.bytes).Text());
  }
  MessageReader first(messages->front().bytes);
  first.Text();
  const std::string folder(first.Text());
  if (status = CompareReplicas(*save.plan, digests); !status.ok()) {
    if (group.rank() == 0) files.Remove(folder).IgnoreError();
    return status;
  }
  const auto name = WriteAndCommit(group, files, save, folder, call);
  if (group.rank() != 0) return name.status();
  if (name.ok()) {
    PruneCheckpoints(files, save.directory, *name, save.keep, *save.whole);
  } else {
    // Remove the folder of the incomplete checkpoint, because it occupies disk
    // space. If this fails, the folder does no other harm.
    files.Remove(folder).IgnoreError();
  }
  return name.status();
}

}  // namespace muster
