#ifndef MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_
#define MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_

#include <cstdint>

#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Between the caller's place of a gradient and the gradient's part of a bucket,
// which may be of a 16-bit type where the gradient is of float32: then rounded
// to nearest even on the way in.
void CopyIntoBucket(const TensorData& gradient, const GradientBucket& bucket,
                    const GradientBucket::Part& part);
void CopyFromBucket(const TensorData& gradient, const GradientBucket& bucket,
                    const GradientBucket::Part& part);

// For a parameter without a gradient in this step.
void ZeroInBucket(const GradientBucket& bucket,
                  const GradientBucket::Part& part);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_GRADIENT_COPIES_H_
