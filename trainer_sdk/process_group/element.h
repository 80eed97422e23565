#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_

#include <ranges>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// A contiguous range whose C++ type determines the elements' DType: a C array,
// a std::vector, std::array or std::span of float, double, int8_t, int32_t or
// int64_t.
template <typename Range>
concept ElementRange = std::ranges::contiguous_range<Range> &&
    std::ranges::sized_range<Range> &&
    DTypeOf<std::ranges::range_value_t<Range>>()
.has_value();

template <ElementRange Range>
constexpr DType ElementTypeOf() {
  return *DTypeOf<std::ranges::range_value_t<Range>>();
}

// EncodeElement converts a double to an element, rounded to nearest, ties to
// even; DecodeElement converts an element to a double. Simple, slow code, used
// to check results, not to compute them. Pure.
void EncodeElement(double value, DType dtype, void* to);
double DecodeElement(DType dtype, const void* from);

bool IsFloat(DType dtype);
// The difference between 1 and the next larger value of the type; 0 for
// integers.
double EpsilonOf(DType dtype);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ELEMENT_H_
