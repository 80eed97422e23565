#ifndef MUSTER_TRAINER_SDK_DATA_DISTRIBUTED_SAMPLER_H_
#define MUSTER_TRAINER_SDK_DATA_DISTRIBUTED_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

// Returns a random permutation of 0 .. length - 1, equal to PyTorch's
// torch.randperm(length) with a CPU generator after manual_seed(seed). A job
// that moves from PyTorch thus keeps its order of data. As in PyTorch, only the
// low 32 bits of the seed are used. For lengths of 214,748,364 and more,
// PyTorch 2 differs from 1.13; this function follows PyTorch 2.
std::vector<int64_t> RandomPermutation(int64_t length, uint64_t seed);

struct DistributedSamplerOptions {
  enum class Order { kShuffled, kSequential };
  // How the last examples are handled if the number of ranks does not divide
  // the number of examples. kPadded: the first examples are used again.
  // kDropped: the last examples are left out (PyTorch's drop_last).
  enum class Tail { kPadded, kDropped };

  // Number of examples in the data set.
  int64_t length = 0;
  int rank = 0;
  int world_size = 1;
  Order order = Order::kShuffled;
  Tail tail = Tail::kPadded;
  // Seed of the shuffle, the same on every rank. Epoch e is shuffled with seed
  // + e.
  uint64_t seed = 0;
};

// Divides a data set among the ranks, with the same number of examples for each
// rank. Every index equals the one that
// torch.utils.data.distributed.DistributedSampler gives. Every rank computes
// the whole permutation (8 bytes per example) and takes every world_size-th
// example; the ranks do not communicate.
//
// Immutable, so thread-safe.
class DistributedSampler {
 public:
  // Makes a sampler. InvalidArgument: the length is negative, or the rank is
  // not in [0, world_size).
  static absl::StatusOr<DistributedSampler> Create(
      const DistributedSamplerOptions& options);

  // Number of examples that each rank gets in an epoch.
  int64_t size() const { return size_; }

  // Returns the indices of this rank's examples in `epoch`, in order. The epoch
  // is an argument, because users of PyTorch's sampler often forget to call
  // set_epoch.
  std::vector<int64_t> Indices(int64_t epoch) const;

 private:
  DistributedSampler(const DistributedSamplerOptions& options, int64_t size)
      : options_(options), size_(size) {}

  DistributedSamplerOptions options_;
  int64_t size_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_DISTRIBUTED_SAMPLER_H_
