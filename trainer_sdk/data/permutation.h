#ifndef MUSTER_TRAINER_SDK_DATA_PERMUTATION_H_
#define MUSTER_TRAINER_SDK_DATA_PERMUTATION_H_

#include <cstdint>
#include <vector>

namespace muster {

// A random order of 0 .. length - 1: number for number what PyTorch gives as
// torch.randperm(length) of a CPU generator after manual_seed(seed), so that a
// job may change its framework without changing its order of data. As there,
// only the seed's low 32 bits count. (From 214,748,364 numbers on PyTorch 2
// draws otherwise than 1.13 did; this is as 2.)
std::vector<int64_t> RandomPermutation(int64_t length, uint64_t seed);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_PERMUTATION_H_
