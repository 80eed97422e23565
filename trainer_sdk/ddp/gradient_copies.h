#ifndef MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_
#define MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_

#include <cstdint>

#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Copy between the caller's gradient and its part of a bucket. If the gradient
// is float32 and the bucket has a 16-bit type, CopyIntoBucket rounds to
// nearest, ties to even.
void CopyIntoBucket(const TensorData& gradient, const GradientBucket& bucket,
                    const GradientBucket::Part& part);
void CopyFromBucket(const TensorData& gradient, const GradientBucket& bucket,
                    const GradientBucket::Part& part);

// For a parameter without a gradient in this step.
void ZeroInBucket(const GradientBucket& bucket,
                  const GradientBucket::Part& part);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_
