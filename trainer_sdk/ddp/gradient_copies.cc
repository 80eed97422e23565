#include "trainer_sdk/ddp/gradient_copies.h"

#include <cstddef>
#include <cstring>

#include "trainer_sdk/reduce/reduce.h"

namespace muster {
namespace {

size_t BytesOf(const GradientBucket& bucket, const GradientBucket::Part& part) {
  return static_cast<size_t>(part.count * SizeOf(bucket.dtype));
}

}  // namespace

void CopyIntoBucket(const TensorData& gradient, const GradientBucket& bucket,
                    const GradientBucket::Part& part) {
  if (part.count == 0) return;
  if (gradient.dtype == bucket.dtype) {
    std::memcpy(bucket.at(part), gradient.data, BytesOf(bucket, part));
  } else {
    Narrow(static_cast<const float*>(gradient.data), bucket.dtype,
           bucket.at(part), part.count);
  }
}

void CopyFromBucket(const TensorData& gradient, const GradientBucket& bucket,
                    const GradientBucket::Part& part) {
  if (part.count == 0) return;
  if (gradient.dtype == bucket.dtype) {
    std::memcpy(gradient.data, bucket.at(part), BytesOf(bucket, part));
  } else {
    Widen(bucket.dtype, bucket.at(part), static_cast<float*>(gradient.data),
          part.count);
  }
}

void ZeroInBucket(const GradientBucket& bucket,
                  const GradientBucket::Part& part) {
  if (part.count > 0) std::memset(bucket.at(part), 0, BytesOf(bucket, part));
}

}  // namespace muster
