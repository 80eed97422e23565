#ifndef MUSTER_TESTS_GPU_GPT_PASSES_H_
#define MUSTER_TESTS_GPU_GPT_PASSES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace muster {

// Compares the loss and every gradient of small GPTs on this machine's GPU with
// those on the CPU, in float32 and bfloat16, with and without activation
// checkpointing. Also checks that a second run on the GPU gives the same bits.
// Prints which models were compared. Returns Internal if a tensor differs; the
// message names the tensor, and by how much it differs.
absl::Status CheckGptGradients();

// Trains GPT-2 124M in bfloat16 on random tokens, `batch` sequences of 1024.
// Prints one line of JSON: milliseconds of each step, tokens per second, and
// the MFU relative to `peak_tflops`.
absl::Status MeasureGptSteps(int64_t batch, int steps, double peak_tflops);

// Runs the training of MeasureGptSteps as one rank of a job, over NCCL. Rank 0
// writes a trace of the last `steps` steps of all ranks to `file`, and prints
// how much of the communication was hidden behind computation.
// FailedPrecondition: a bucket of gradients was reduced before the backward
// pass had filled it, or after the wait for its result had ended.
absl::Status ShowGptOverlap(int64_t batch, int steps, const std::string& file);

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_GPT_PASSES_H_
