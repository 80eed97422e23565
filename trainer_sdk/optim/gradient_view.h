#ifndef MUSTER_TRAINER_SDK_OPTIM_GRADIENT_VIEW_H_
#define MUSTER_TRAINER_SDK_OPTIM_GRADIENT_VIEW_H_

#include <cstdint>
#include <functional>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// A gradient, and what its elements are: float32, bfloat16 or float16. `data`
// is null where this rank has not all of it.
struct GradientView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  // Elements; -1: not told.
  int64_t count = -1;
};

// Where a parameter's gradient is now; asked anew in each step, because places
// change (Reducer::average).
using GradientSource = std::function<GradientView(int parameter)>;

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_GRADIENT_VIEW_H_
