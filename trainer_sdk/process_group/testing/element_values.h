#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_ELEMENT_VALUES_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_ELEMENT_VALUES_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// The arithmetic of the reference: every element is a double, one at a time.
// Independent of the kernels it judges. Pure.

// What the ranks' elements become; `values` in rank order.
double ReferenceReduction(const std::vector<double>& values, DType dtype,
                          ReduceOp op);

// The element that `rank` brings at `index`: small integers, such that every
// reduction of up to 8 of them by `op` is exact in every type (AVG aside).
double TestValue(uint64_t seed, int rank, int64_t index, ReduceOp op);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_ELEMENT_VALUES_H_
