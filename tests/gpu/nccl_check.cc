// One rank of the checks that need a GPU; the script tests/gpu/run starts it.
//
//   nccl_check probe                    prints the number of GPUs and NCCL's
//                                       version
//   nccl_check collectives|split|mesh|reform|slow
//                                       one check of nccl_steps.h
//   nccl_check all_reduce [MAX_BYTES]   measures all_reduce
//
// Exit code 3 (of `probe` only): this machine has no GPU or no NCCL; a printed
// line says which. NCCL_CHECK_CUDA may name the CUDA driver library to load.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "nccl/nccl_library.h"
#include "tests/gpu/nccl_steps.h"
#include "trainer_sdk/nccl/cuda_driver.h"

namespace muster {
namespace {

constexpr int kNothingToCheck = 3;
constexpr int64_t kMaxBytes = 256 << 20;

std::string CudaLibrary() {
  const char* const named = std::getenv("NCCL_CHECK_CUDA");
  return named == nullptr ? "libcuda.so.1" : named;
}

int Probe() {
  const auto cuda = CudaDriver::Load(CudaLibrary());
  if (!cuda.ok()) {
    std::printf("SKIPPED: %s\n", std::string(cuda.status().message()).c_str());
    return kNothingToCheck;
  }
  const auto nccl = nccl::NcclLibrary::Load();
  if (!nccl.ok()) {
    std::printf("SKIPPED: %s\n", std::string(nccl.status().message()).c_str());
    return kNothingToCheck;
  }
  // Since NCCL 2.30.3 several ranks of one communicator may share a GPU, as an
  // experimental feature.
  const bool shares = (*nccl)->version() >= nccl::NcclVersion(2, 30, 3);
  std::printf("GPUS=%d NCCL=%s SHARES_GPU=%d\n", (*cuda)->device_count(),
              (*nccl)->VersionText().c_str(), shares);
  return 0;
}

absl::Status Perform(const std::string& step, int64_t max_bytes) {
  auto session = Session::FromEnvironment();
  if (!session.ok()) return session.status();
  auto memory = DeviceMemory::Open(CudaLibrary());
  if (!memory.ok()) return memory.status();
  NcclRank rank{.session = session->get(), .memory = *memory};
  rank.options.cuda_library = CudaLibrary();
  if (step == "collectives") return CheckCollectives(rank);
  if (step == "split") return CheckSplit(rank);
  if (step == "mesh") return CheckMeshGroups(rank);
  if (step == "reform") return CheckReform(rank);
  if (step == "slow") return RunWithSlowRank(rank);
  if (step == "all_reduce") return MeasureAllReduce(rank, max_bytes);
  return absl::InvalidArgumentError("no step is called " + step);
}

int Main(int argc, char** argv) {
  const std::string step = argc > 1 ? argv[1] : "";
  if (step == "probe") return Probe();
  const absl::Status done =
      Perform(step, argc > 2 ? std::atoll(argv[2]) : kMaxBytes);
  if (done.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", step.c_str(), done.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Main(argc, argv); }
