#ifndef MUSTER_MODELS_TRAINER_REPORT_MATRIX_RATE_H_
#define MUSTER_MODELS_TRAINER_REPORT_MATRIX_RATE_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// The FLOP/s that all ranks of a world together reach with matrix products
// only, measured on all of them at the same time for a fraction of a second.
// This number is the peak for MFU if the user does not give one. Collective.
absl::StatusOr<double> MeasureMatrixRate(ProcessGroup& world);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_REPORT_MATRIX_RATE_H_
