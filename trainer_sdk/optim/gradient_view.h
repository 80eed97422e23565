#ifndef MUSTER_TRAINER_SDK_OPTIM_GRADIENT_VIEW_H_
#define MUSTER_TRAINER_SDK_OPTIM_GRADIENT_VIEW_H_

#include <functional>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// A gradient, and what its elements are: float32, bfloat16 or float16.
struct GradientView {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
};

// Where a parameter's gradient is now; asked anew in each step, because places
// change (Reducer::average).
using GradientSource = std::function<GradientView(int parameter)>;

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_GRADIENT_VIEW_H_
