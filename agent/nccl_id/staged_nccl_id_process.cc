// An NCCL id process for tests, with fakes of NVIDIA's libraries. The
// environment variable STAGED_NCCL_ID selects a fault: "hang", "die",
// "nonsense" (a malformed id) or "no-nccl" (there is no NCCL library).

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "agent/nccl_id/nccl_id_process.h"

int main(int argc, char** argv) {
  if (!muster::agent::IsNcclIdProcess(argc, argv)) return 2;
  const char* const act = std::getenv("STAGED_NCCL_ID");
  const std::string text = act == nullptr ? "" : act;
  if (text == "hang") pause();
  if (text == "die") return 1;
  if (text == "nonsense") {
    std::puts("id 123");
    return 0;
  }
  muster::agent::NcclIdProcessOptions options;
  options.nvml_library = "agent/gpus/libfake_nvml.so";
  options.nccl_library =
      text == "no-nccl" ? "libno-such-nccl.so.2" : "nccl/libfake_nccl.so";
  return muster::agent::RunNcclIdProcess(options);
}
