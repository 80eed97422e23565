#include "agent/nccl_id/nccl_id_process.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/commands/child_program.h"
#include "agent/gpus/nvml.h"
#include "base/owned_fd.h"
#include "nccl/nccl_library.h"

namespace muster::agent {
namespace {

std::optional<std::string> VisibleDevices() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return std::nullopt;
  return visible;
}

std::string Answer(const NcclIdProcessOptions& options) {
  const auto gpus = ReadVisibleGpus(VisibleDevices(), options.nvml_library);
  if (!gpus.ok()) return absl::StrCat("none ", gpus.status().message());
  if (gpus->names.empty()) return "none ";
  const auto nccl = nccl::NcclLibrary::Load(options.nccl_library);
  if (!nccl.ok()) return absl::StrCat("none ", nccl.status().message());
  nccl::NcclUniqueId id;
  const nccl::NcclResult result = (*nccl)->GetUniqueId(&id);
  if (result != nccl::kNcclSuccess) {
    return absl::StrCat("none NCCL ", (*nccl)->VersionText(),
                        " makes no id: ", (*nccl)->Explain(result, nullptr));
  }
  return absl::StrCat("id ", nccl::HexOf(id));
}

void AwaitEndOfInput() {
  char byte;
  while (true) {
    const ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n == 0 || (n < 0 && errno != EINTR)) return;
  }
}

}  // namespace

bool IsNcclIdProcess(int argc, char** argv) {
  return argc == 2 && std::strcmp(argv[1], kNcclIdArgument) == 0;
}

int RunNcclIdProcess(const NcclIdProcessOptions& options) {
  const OwnedFd answer = BecomeChildProgram("muster-nccl-id");
  const std::string line = Answer(options);
  if (!WriteLine(answer, line)) return 1;
  // Waits until the agent closes stdin, and keeps stdout open until then. So
  // end of file on this stdout always shows the agent that the process has
  // died.
  if (line.rfind("id ", 0) == 0) AwaitEndOfInput();
  // Exits without joining NCCL's threads, which may be waiting for ranks.
  _exit(0);
}

}  // namespace muster::agent
