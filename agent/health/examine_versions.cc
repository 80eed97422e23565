#include "absl/strings/str_cat.h"
#include "agent/health/examine_gpus.h"
#include "agent/health/wording.h"

namespace muster::agent {
namespace {

void Append(const std::string& what, const std::string& version,
            std::vector<std::string>& parts) {
  if (!version.empty()) parts.push_back(absl::StrCat(what, " ", version));
}

std::string Summary(const NodeFacts& facts) {
  const LibraryFacts& libraries = facts.libraries;
  std::vector<std::string> parts;
  Append("muster", facts.version, parts);
  Append("kernel", facts.host.kernel, parts);
  const std::string driver = facts.gpus.driver_version.empty()
                                 ? libraries.kernel_driver
                                 : facts.gpus.driver_version;
  if (!driver.empty()) {
    parts.push_back(absl::StrCat(
        "driver ", driver,
        facts.gpus.driver_cuda
            ? absl::StrCat(" (CUDA ", CudaText(*facts.gpus.driver_cuda), ")")
            : ""));
  }
  if (libraries.runtime_cuda) {
    Append("CUDA", CudaText(*libraries.runtime_cuda), parts);
  }
  Append("NCCL", libraries.toolkit_nccl, parts);
  if (!libraries.torch_version.empty()) {
    std::string built = libraries.torch_cuda.empty()
                            ? " (no CUDA)"
                            : absl::StrCat(" (CUDA ", libraries.torch_cuda);
    if (!libraries.torch_cuda.empty()) {
      absl::StrAppend(&built,
                      libraries.torch_nccl.empty()
                          ? ""
                          : absl::StrCat(", NCCL ", libraries.torch_nccl),
                      ")");
    }
    Append("PyTorch", absl::StrCat(libraries.torch_version, built), parts);
  }
  return Listed(parts, parts.size());
}

// Compares the CUDA version that `whose` needs (`wanted`) with the one that the
// driver supports (`known`). `too_old` is the kind of finding if major versions
// differ.
void Compare(const std::string& whose, int wanted, int known,
             const char* too_old, std::vector<Finding>& findings) {
  if (wanted <= known) return;
  const char* id = wanted / 1000 > known / 1000 ? too_old : "cuda-minor";
  findings.push_back(Found(
      id,
      absl::StrCat(whose, " is for CUDA ", CudaText(wanted),
                   ", and the driver supports CUDA up to ", CudaText(known))));
}

}  // namespace

std::vector<Finding> ExamineVersions(const NodeFacts& facts) {
  const LibraryFacts& libraries = facts.libraries;
  std::vector<Finding> findings = {Found("versions", Summary(facts))};
  const GpuFacts& gpus = facts.gpus;
  constexpr int kVersionMismatch = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH
  if (gpus.state == GpuFacts::State::kFailed &&
      gpus.error_code == kVersionMismatch) {
    findings.push_back(
        Found("nvml-mismatch",
              absl::StrCat("NVIDIA's library says: ", gpus.error,
                           libraries.kernel_driver.empty()
                               ? ""
                               : absl::StrCat("; the kernel's module is ",
                                              libraries.kernel_driver))));
  }
  if (gpus.driver_cuda) {
    if (libraries.runtime_cuda) {
      Compare("the toolkit's runtime (libcudart)", *libraries.runtime_cuda,
              *gpus.driver_cuda, "toolkit-too-new", findings);
    }
    const int torch = CudaNumber(libraries.torch_cuda);
    if (torch > 0) {
      Compare(absl::StrCat("PyTorch ", libraries.torch_version), torch,
              *gpus.driver_cuda, "driver-too-old", findings);
    }
  }
  if (!libraries.toolkit_nccl.empty() && !libraries.torch_nccl.empty() &&
      libraries.toolkit_nccl != libraries.torch_nccl) {
    findings.push_back(Found(
        "nccl-two", absl::StrCat("libnccl.so.2 is ", libraries.toolkit_nccl,
                                 ", PyTorch's is ", libraries.torch_nccl)));
  }
  if (!gpus.devices.empty() && libraries.toolkit_nccl.empty() &&
      libraries.torch_nccl.empty()) {
    findings.push_back(
        Found("nccl-missing", "no NCCL was found on a node with GPUs"));
  }
  return findings;
}

}  // namespace muster::agent
