#ifndef MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_
#define MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_

#include <cstdint>

#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/ddp/parameter.h"

namespace muster {

// Between a parameter's own place of its gradient and its part of a bucket,
// which may be of a 16-bit type where the gradient is of float32: then rounded
// to nearest even on the way in.
void CopyIntoBucket(const DdpParameter& parameter, const GradientBucket& bucket,
                    const GradientBucket::Part& part);
void CopyFromBucket(const DdpParameter& parameter, const GradientBucket& bucket,
                    const GradientBucket::Part& part);

// Where no gradient came.
void ZeroInBucket(const GradientBucket& bucket,
                  const GradientBucket::Part& part);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_
