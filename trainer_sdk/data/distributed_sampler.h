#ifndef MUSTER_TRAINER_SDK_DATA_DISTRIBUTED_SAMPLER_H_
#define MUSTER_TRAINER_SDK_DATA_DISTRIBUTED_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

// A random order of 0 .. length - 1: number for number what PyTorch gives as
// torch.randperm(length) of a CPU generator after manual_seed(seed), so that a
// job may change its framework without changing its order of data. As there,
// only the seed's low 32 bits count. (From 214,748,364 numbers on PyTorch 2
// draws otherwise than 1.13 did; this is as 2.)
std::vector<int64_t> RandomPermutation(int64_t length, uint64_t seed);

struct DistributedSamplerOptions {
  enum class Order { kShuffled, kSequential };
  // What becomes of the last examples when the ranks do not divide their
  // number: all stay and the first ones are given out once more, or they are
  // left out (PyTorch's drop_last).
  enum class Tail { kPadded, kDropped };

  // Examples in the data set.
  int64_t length = 0;
  int rank = 0;
  int world_size = 1;
  Order order = Order::kShuffled;
  Tail tail = Tail::kPadded;
  // The same on every rank. Epoch e is shuffled with seed + e.
  uint64_t seed = 0;
};

// Deals a data set out to the ranks, the same number of examples to each:
// index for index torch.utils.data.distributed.DistributedSampler. Every rank
// computes the whole order (8 bytes an example) and takes each
// world_size-th; no rank talks to another.
//
// Immutable, so thread-safe.
class DistributedSampler {
 public:
  // InvalidArgument: a negative length, or a rank outside of the world.
  static absl::StatusOr<DistributedSampler> Create(
      const DistributedSamplerOptions& options);

  // Examples that each rank gets in an epoch.
  int64_t size() const { return size_; }

  // This rank's examples in `epoch`, in order. PyTorch's set_epoch is this
  // argument, so that it cannot be forgotten.
  std::vector<int64_t> Indices(int64_t epoch) const;

 private:
  DistributedSampler(const DistributedSamplerOptions& options, int64_t size)
      : options_(options), size_(size) {}

  DistributedSamplerOptions options_;
  int64_t size_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_DISTRIBUTED_SAMPLER_H_
