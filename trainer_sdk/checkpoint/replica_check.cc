#include "trainer_sdk/checkpoint/replica_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/checksum.h"
#include "base/little_endian.h"
#include "trainer_sdk/checkpoint/message_reader.h"

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

}  // namespace muster
