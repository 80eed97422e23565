#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_ELEMENT_VALUES_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_ELEMENT_VALUES_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"

// Reference arithmetic for tests: on doubles, one element at a time, and
// independent of the kernels under test. Pure.

namespace muster {

// Returns the result of a reduction by `op`, computed in doubles. `values` are
// the ranks' elements, in rank order.
double ReferenceReduction(const std::vector<double>& values, DType dtype,
                          ReduceOp op);

// The input element of `rank` at `index`, a small integer. Every reduction of
// up to 8 such values by `op`, except AVG, is exact in every type.
double TestValue(uint64_t seed, int rank, int64_t index, ReduceOp op);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_ELEMENT_VALUES_H_
