#ifndef MUSTER_LAUNCHER_GPU_PAIR_MEASURE_GPUS_H_
#define MUSTER_LAUNCHER_GPU_PAIR_MEASURE_GPUS_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "nccl/nccl_abi.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/nccl/cuda_driver.h"

namespace muster::launcher {

// The ranks of this node's GPUs in a communicator that spans the GPUs of two
// nodes: `first`, `first` + 1, and so on, `count` in all. `size`: the number of
// ranks of both nodes; 0: there is no communicator, and only the arithmetic is
// measured.
struct GpuRanks {
  int first = 0;
  int count = 1;
  int size = 1;
  // Number of bytes that each rank contributes to the all-reduce; a multiple of
  // 4.
  size_t reduced_bytes = 64 << 20;
};

struct GpuValues {
  // Bus bandwidth of an all-reduce over all ranks, in bytes per second: the
  // data that each rank must send, divided by the time (NCCL's definition in
  // its tests). 0 if there is one rank or none.
  double bytes_per_s = 0;
  // Time of a fixed amount of arithmetic on this node's slowest GPU, in
  // seconds; the shortest of a few repetitions counts.
  double compute_s = 0;
};

// Measures the CUDA devices 0 to `ranks.count` - 1 of this process: first the
// arithmetic, on all devices at about the same time, then the all-reduce. The
// other node calls this function with the same `id` at about the same time.
// Uses `ranks.reduced_bytes` of each device's memory, and at least 1 MiB.
// Blocks.
//   DeadlineExceeded    the measurement did not end by `deadline`
//   FailedPrecondition  CUDA reports an error
//   Unavailable         NCCL reports an error
absl::StatusOr<GpuValues> MeasureGpus(
    const std::shared_ptr<const CudaDriver>& cuda,
    const std::shared_ptr<const nccl::NcclLibrary>& nccl,
    const nccl::NcclUniqueId& id, const GpuRanks& ranks, Instant deadline);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_GPU_PAIR_MEASURE_GPUS_H_
