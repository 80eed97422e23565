// The checks of the GPT that need a GPU; the script tests/gpu/run_gpt starts
// them. gpt_passes.h describes `gradients`, `speed` and `overlap`.
//
//   gpt_check probe                         prints the number of GPUs
//   gpt_check gradients
//   gpt_check speed BATCH STEPS PEAK_TFLOPS
//   gpt_check overlap BATCH STEPS FILE      (as one rank of a job)
//
// Exit code 3: this machine has no GPU or no cuBLASLt; a printed line says
// which.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "models/cuda/open_device.h"
#include "tests/gpu/gpt_passes.h"

namespace muster {
namespace {

constexpr int kNothingToCheck = 3;
constexpr int kWrongUse = 2;

int Main(int argc, char** argv) {
  const std::string step = argc > 1 ? argv[1] : "";
  if (const auto device = models::cuda::OpenDevice(0); !device.ok()) {
    std::printf("SKIPPED: %s\n",
                std::string(device.status().message()).c_str());
    return kNothingToCheck;
  }
  absl::Status status;
  if (step == "gradients") {
    status = CheckGptGradients();
  } else if (step == "speed" && argc == 5) {
    status = MeasureGptSteps(std::atoll(argv[2]), std::atoi(argv[3]),
                             std::atof(argv[4]));
  } else if (step == "overlap" && argc == 5) {
    status = ShowGptOverlap(std::atoll(argv[2]), std::atoi(argv[3]), argv[4]);
  } else if (step == "probe") {
    std::printf("GPUS=%d\n", models::cuda::CountDevices());
  } else {
    std::fprintf(stderr,
                 "gpt_check: probe, gradients, speed BATCH STEPS PEAK_TFLOPS "
                 "or overlap BATCH STEPS FILE\n");
    return kWrongUse;
  }
  if (!status.ok()) {
    std::fprintf(stderr, "gpt_check: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Main(argc, argv); }
