#ifndef MUSTER_MODELS_TRAINER_REPORT_MATRIX_RATE_H_
#define MUSTER_MODELS_TRAINER_REPORT_MATRIX_RATE_H_

#include "absl/status/statusor.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// Measures the FLOP/s that all ranks of a world together reach with matrix
// products only. All ranks compute at the same time, for a fraction of a
// second. The result is the peak for MFU (model FLOPs utilisation) if the user
// gives none. Collective.
absl::StatusOr<double> MeasureMatrixRate(ProcessGroup& world);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_REPORT_MATRIX_RATE_H_
