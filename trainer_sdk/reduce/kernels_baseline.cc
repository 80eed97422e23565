#include <cstdint>
#include <cstring>

#include "trainer_sdk/reduce/kernels.h"

namespace muster {
namespace {

#include "trainer_sdk/reduce/kernels.inc"

}  // namespace

const ReductionTable& BaselineReductions() { return kKernels; }

}  // namespace muster
