#include "trainer_sdk/reduce/kernels_baseline.h"

#include <cstdint>
#include <cstring>

namespace muster {
namespace {

#include "trainer_sdk/reduce/kernels.inc"

}  // namespace

const ReductionTable& BaselineReductions() { return kKernels; }

}  // namespace muster
