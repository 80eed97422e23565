#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_TESTING_SHARDED_STATE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_TESTING_SHARDED_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

namespace muster {

// How a job's state is distributed over its ranks.
enum class Sharding {
  // Every rank has all tensors (DDP).
  kReplicated,
  // All tensors are concatenated and cut into equal ranges, one per rank
  // (ZeRO).
  kFlat,
  // Each rank has some of the tensors. The last rank has the first tensor too
  // (a pipeline whose head uses the embedding's weights).
  kStages,
  // Every rank has the weights; all other tensors are cut into ranges (ZeRO-1
  // in DDP).
  kMixed,
  // Each rank has ranges of odd lengths that overlap those of other ranks.
  kOverlapping,
};
inline constexpr Sharding kShardings[] = {
    Sharding::kReplicated, Sharding::kFlat, Sharding::kStages, Sharding::kMixed,
    Sharding::kOverlapping};
const char* Name(Sharding sharding);

// One rank's part of a small state for tests, with tensors of all types.
class ShardedState {
 public:
  ShardedState(Sharding sharding, int rank, int ranks);

  static const std::vector<CheckpointTensor>& Tensors();

  // The slices of this rank. Their memory belongs to this object.
  const std::vector<CheckpointSlice>& slices() const { return slices_; }
  // Sets every element to a byte pattern that depends on `step`.
  void Fill(int64_t step);
  void Clear();
  // Compares every element with the values that Fill(step) writes. Internal:
  // the message names the first byte that differs.
  absl::Status Check(int64_t step) const;

 private:
  void Add(const CheckpointTensor& tensor, int64_t begin, int64_t end);

  std::vector<std::vector<unsigned char>> memory_;
  std::vector<CheckpointSlice> slices_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_TESTING_SHARDED_STATE_H_
