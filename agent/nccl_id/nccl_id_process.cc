#include "agent/nccl_id/nccl_id_process.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/gpus/nvml.h"
#include "base/owned_fd.h"
#include "base/write_all.h"
#include "nccl/unique_id.h"

namespace muster::agent {
namespace {

// Prepares the NCCL id process, and returns a descriptor for its original
// stdout. Closes the files that it has inherited from the agent (a reserved
// port, a log), because it must not hold them open.
OwnedFd BecomeNcclIdProcess() {
  // The kernel kills this process when the agent dies. Independently of this,
  // the process exits at the end of its stdin.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "muster-nccl-id");
  signal(SIGPIPE, SIG_IGN);
#ifdef SYS_close_range
  syscall(SYS_close_range, 3, ~0u, 0);
#endif
  OwnedFd answer(dup(STDOUT_FILENO));
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return answer;
}

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

// Writes `line` and a newline; newlines within `line` become spaces. Returns
// false if the write failed.
bool Say(const OwnedFd& to, std::string line) {
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  line += '\n';
  return WriteAll(to.get(), line);
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
  const OwnedFd answer = BecomeNcclIdProcess();
  const std::string line = Answer(options);
  if (!Say(answer, line)) return 1;
  // Waits until the agent closes stdin, and keeps stdout open until then. So
  // end of file on this stdout always shows the agent that the process has
  // died.
  if (line.rfind("id ", 0) == 0) AwaitEndOfInput();
  // Exits without joining NCCL's threads, which may be waiting for ranks.
  _exit(0);
}

}  // namespace muster::agent
