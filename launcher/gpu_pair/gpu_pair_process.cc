#include "launcher/gpu_pair/gpu_pair_process.h"

#include <unistd.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/commands/child_program.h"
#include "agent/pair_check/gpu_pair.h"
#include "base/monotonic_clock.h"
#include "launcher/gpu_pair/measure_gpus.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/nccl/cuda_driver.h"

namespace muster::launcher {
namespace {

[[noreturn]] void Exit(int code) {
  // Call _exit instead of exit, because exit would destroy static objects while
  // threads of CUDA and NCCL may still use them.
  _exit(code);
}

void Say(const OwnedFd& output, std::string line) {
  if (!agent::WriteLine(output, std::move(line))) Exit(1);
}

// Reads from stdin the agent's order to measure GPUs ("alone N", "root N" or
// "join N ID"; see agent/pair_check/gpu_pair.h). Returns the ranks of this
// node's GPUs. Stores the NCCL id in `id`: as the root, makes the id and writes
// it to `output` for the agent; to join, takes the id from the order.
absl::StatusOr<GpuRanks> TakeOrder(const nccl::NcclLibrary& nccl,
                                   const OwnedFd& output,
                                   nccl::NcclUniqueId& id) {
  std::string role;
  GpuRanks ranks;
  if (!(std::cin >> role >> ranks.count) || ranks.count < 1) Exit(1);
  if (role == agent::kGpuPairAlone) {
    ranks.size = 0;
    return ranks;
  }
  ranks.size = 2 * ranks.count;
  if (role == agent::kGpuPairRoot) {
    const nccl::NcclResult result = nccl.GetUniqueId(&id);
    if (result != nccl::kNcclSuccess) {
      return absl::UnavailableError(
          absl::StrCat("NCCL makes no id: ", nccl.Explain(result, nullptr)));
    }
    Say(output, absl::StrCat(agent::kGpuPairId, nccl::HexOf(id)));
    return ranks;
  }
  std::string hex;
  if (role != agent::kGpuPairJoin || !(std::cin >> hex)) Exit(1);
  absl::StatusOr<nccl::NcclUniqueId> given = nccl::NcclUniqueIdOf(hex);
  if (!given.ok()) return given.status();
  id = *given;
  ranks.first = ranks.count;
  return ranks;
}

}  // namespace

bool IsGpuPairProcess(int argc, char** argv) {
  return argc == 2 && std::strcmp(argv[1], agent::kGpuPairArgument) == 0;
}

void RunGpuPairProcess(const GpuPairProcessOptions& options) {
  const OwnedFd output = agent::BecomeChildProgram("muster-gpu-pair");
  const auto cuda = CudaDriver::Load(options.cuda_library);
  const auto nccl = nccl::NcclLibrary::Load(options.nccl_library);
  for (const absl::Status& loaded : {cuda.status(), nccl.status()}) {
    if (loaded.ok()) continue;
    // NotFound means that this node has no driver or no NCCL: report 0 GPUs.
    // Any other error means that the GPUs do not work: report a failure.
    Say(output, absl::IsNotFound(loaded)
                    ? absl::StrCat(agent::kGpuPairCount, 0)
                    : absl::StrCat(agent::kGpuPairFailed, loaded.message()));
    Exit(0);
  }
  const absl::StatusOr<std::string> model = (*cuda)->Model(0);
  if (!model.ok()) {
    Say(output, absl::StrCat(agent::kGpuPairFailed, model.status().message()));
    Exit(0);
  }
  Say(output, absl::StrCat(agent::kGpuPairCount, (*cuda)->device_count(), " ",
                           *model, ", NCCL ", (*nccl)->VersionText()));
  nccl::NcclUniqueId id;
  const absl::StatusOr<GpuRanks> ranks = TakeOrder(**nccl, output, id);
  const absl::StatusOr<GpuValues> values =
      ranks.ok() ? MeasureGpus(*cuda, *nccl, id, *ranks,
                               MonotonicNow() + agent::kGpuPairTimeout)
                 : absl::StatusOr<GpuValues>(ranks.status());
  Say(output,
      values.ok()
          ? absl::StrFormat("%s%.9g %.9g", agent::kGpuPairValues,
                            values->bytes_per_s, values->compute_s)
          : absl::StrCat(agent::kGpuPairFailed, values.status().message()));
  Exit(0);
}

}  // namespace muster::launcher
