#ifndef MUSTER_TESTS_GPU_GPT_PASSES_H_
#define MUSTER_TESTS_GPU_GPT_PASSES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace muster {

// GPTs' loss and every gradient on this machine's GPU against the CPU's, in
// float32 and bfloat16, with and without checkpointing, and a second time bit
// for bit; prints what it compared. Internal: what differs, and how much.
absl::Status CheckGptGradients();

// Trains GPT-2 124M in bfloat16 on random tokens, `batch` sequences of 1024,
// and prints one line of JSON: milliseconds of each step, tokens a second, MFU
// of `peak_tflops`.
absl::Status MeasureGptSteps(int64_t batch, int steps, double peak_tflops);

// The same training as one rank of the session's, on GPUs that talk over NCCL:
// rank 0 writes the last `steps` of all ranks to `file` as a trace, and prints
// how much of their communication was hidden. FailedPrecondition: a bucket was
// reduced before it was full, or later than the wait for it.
absl::Status ShowGptOverlap(int64_t batch, int steps, const std::string& file);

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_GPT_PASSES_H_
