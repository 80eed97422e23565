#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// Converts single elements to and from double by simple code. Used to check
// results, not to compute them. Pure.

// Rounds to nearest, ties to even.
void EncodeElement(double value, DType dtype, void* to);
double DecodeElement(DType dtype, const void* from);

bool IsFloat(DType dtype);
// The difference between 1 and the next larger value of the type; 0 for
// integers.
double EpsilonOf(DType dtype);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_
