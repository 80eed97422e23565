#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_TESTING_SHARDED_STATE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_TESTING_SHARDED_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

namespace muster {

// How a job's state lies on its ranks.
enum class Sharding {
  // Everything everywhere (DDP).
  kReplicated,
  // All tensors one behind the other, cut into equal ranges (ZeRO).
  kFlat,
  // Some tensors each, the first one on the last rank too (a pipeline with a
  // tied head).
  kStages,
  // Weights everywhere, the rest in ranges (ZeRO-1 in DDP).
  kMixed,
  // Ranges of odd sizes that overlap.
  kOverlapping,
};
inline constexpr Sharding kShardings[] = {
    Sharding::kReplicated, Sharding::kFlat, Sharding::kStages, Sharding::kMixed,
    Sharding::kOverlapping};
const char* Name(Sharding sharding);

// A small state of all types, one rank's part of it.
class ShardedState {
 public:
  ShardedState(Sharding sharding, int rank, int ranks);

  static const std::vector<CheckpointTensor>& Tensors();

  // What this rank has, with its memory.
  const std::vector<CheckpointSlice>& slices() const { return slices_; }
  // What every element is after `step` steps: another byte pattern each.
  void Fill(int64_t step);
  void Clear();
  // Internal: the first byte that is not as Fill makes it.
  absl::Status Check(int64_t step) const;

 private:
  void Add(const CheckpointTensor& tensor, int64_t begin, int64_t end);

  std::vector<std::vector<unsigned char>> memory_;
  std::vector<CheckpointSlice> slices_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_TESTING_SHARDED_STATE_H_
