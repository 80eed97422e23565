#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// One element as a double, converted as plainly as can be: for what judges
// results, not for what computes them. Pure.

// Rounds to nearest, ties to even.
void EncodeElement(double value, DType dtype, void* to);
double DecodeElement(DType dtype, const void* from);

bool IsFloat(DType dtype);
// The distance from 1 to the next greater number; 0 for integers.
double EpsilonOf(DType dtype);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_
