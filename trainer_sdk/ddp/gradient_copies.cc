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

void CopyIntoBucket(const DdpParameter& parameter, const GradientBucket& bucket,
                    const GradientBucket::Part& part) {
  if (part.count == 0) return;
  if (parameter.dtype == bucket.dtype) {
    std::memcpy(bucket.at(part), parameter.gradient, BytesOf(bucket, part));
  } else {
    Narrow(static_cast<const float*>(parameter.gradient), bucket.dtype,
           bucket.at(part), part.count);
  }
}

void CopyFromBucket(const DdpParameter& parameter, const GradientBucket& bucket,
                    const GradientBucket::Part& part) {
  if (part.count == 0) return;
  if (parameter.dtype == bucket.dtype) {
    std::memcpy(parameter.gradient, bucket.at(part), BytesOf(bucket, part));
  } else {
    Widen(bucket.dtype, bucket.at(part),
          static_cast<float*>(parameter.gradient), part.count);
  }
}

void ZeroInBucket(const GradientBucket& bucket,
                  const GradientBucket::Part& part) {
  if (part.count > 0) std::memset(bucket.at(part), 0, BytesOf(bucket, part));
}

}  // namespace muster
