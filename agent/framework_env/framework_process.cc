#include "agent/framework_env/framework_process.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/framework_env/peer_exchange.h"
#include "agent/framework_env/peer_variables.h"
#include "agent/guardian/exec_program.h"
#include "agent/ports/port_reservation.h"
#include "agent/workers/worker_command.h"
#include "base/environment_value.h"
#include "base/ignored_signals.h"
#include "base/monotonic_clock.h"
#include "base/subprocess.h"

namespace muster::agent {
namespace {

// The longest time for which a framework process waits until all workers have
// started and published their addresses. (A framework process prepares a worker
// for TensorFlow or JAX.)
constexpr Duration kWorkersStartTimeout = std::chrono::seconds(300);

absl::StatusOr<int> Number(const char* name, int least, int most) {
  int number = 0;
  if (!absl::SimpleAtoi(EnvironmentVariable(name), &number) || number < least ||
      number > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, "=", EnvironmentVariable(name), " in the worker's environment ",
        "is no number from ", least, " to ", most));
  }
  return number;
}

absl::StatusOr<PeerMeeting> Meeting() {
  constexpr int kMaxRanks = 1 << 24;
  const absl::StatusOr<int> size = Number("WORLD_SIZE", 1, kMaxRanks);
  if (!size.ok()) return size.status();
  const absl::StatusOr<int> rank = Number("RANK", 0, *size - 1);
  if (!rank.ok()) return rank.status();
  const absl::StatusOr<int> port = Number("MASTER_PORT", 1, 65535);
  if (!port.ok()) return port.status();
  return PeerMeeting{.host = EnvironmentVariable("MASTER_ADDR"),
                     .port = *port,
                     .rank = *rank,
                     .world_size = *size,
                     .deadline = MonotonicNow() + kWorkersStartTimeout};
}

// The index of this worker's device among the devices that the worker sees; 0
// if it sees only its own device.
int LocalDevice(int local_rank) {
  const std::string visible = EnvironmentVariable("CUDA_VISIBLE_DEVICES");
  if (visible.empty()) return local_rank;
  const auto others = std::count(visible.begin(), visible.end(), ',');
  return local_rank <= others ? local_rank : 0;
}

// Reserves a port of this node for this worker's address. The port stays
// reserved after exec, while the program listens on it.
absl::StatusOr<std::string> ReserveAddress() {
  absl::StatusOr<PortReservation> reserved =
      PortReservation::Take(PortReservation::Sharing::kWithServers);
  if (!reserved.ok()) return reserved.status();
  const std::string address = PublishedAddress(
      EnvironmentVariable("MUSTER_NODE_ADDRESS"), reserved->port());
  reserved->KeepForProgram();
  return address;
}

absl::Status SetVariables(const std::string& framework,
                          const PeerMeeting& meeting) {
  const absl::StatusOr<int> local_rank =
      Number("LOCAL_RANK", 0, meeting.world_size - 1);
  if (!local_rank.ok()) return local_rank.status();
  const absl::StatusOr<std::string> own = ReserveAddress();
  if (!own.ok()) return own.status();
  const bool is_jax = framework == kJaxWord;
  absl::StatusOr<std::vector<std::string>> told = ExchangeAddresses(
      meeting, framework, *own, is_jax ? 1 : meeting.world_size);
  if (!told.ok()) return told.status();
  PeerWorld world{.addresses = *std::move(told),
                  .rank = meeting.rank,
                  .local_device = LocalDevice(*local_rank),
                  .local_rank = *local_rank};
  for (std::string& address : world.addresses) {
    address =
        AddressFromHere(address, EnvironmentVariable("MUSTER_NODE_ADDRESS"),
                        EnvironmentVariable("MUSTER_COORDINATOR"));
  }
  const PeerVariables variables = is_jax
                                      ? JaxVariables(world, meeting.world_size)
                                      : TensorFlowVariables(world);
  for (const auto& [name, value] : variables) {
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
  return absl::OkStatus();
}

int Fail(const std::string& framework_envs, const absl::Status& why) {
  std::fprintf(stderr, "launch: --framework-env %s: %s\n",
               framework_envs.c_str(), std::string(why.message()).c_str());
  return 1;
}

}  // namespace

bool IsFrameworkProcess(int argc, char** argv) {
  return argc >= 4 && std::strcmp(argv[1], kFrameworkArgument) == 0;
}

int RunFrameworkProcess(char** argv) {
  const std::string framework_envs = argv[2];
  const absl::StatusOr<PeerMeeting> meeting = Meeting();
  if (!meeting.ok()) return Fail(framework_envs, meeting.status());
  for (const char* const framework : {kTensorFlowWord, kJaxWord}) {
    if (framework_envs.find(framework) == std::string::npos) continue;
    const absl::Status set = SetVariables(framework, *meeting);
    if (!set.ok()) return Fail(framework_envs, set);
  }
  std::vector<std::string> command;
  for (char** argument = argv + 3; *argument != nullptr; ++argument) {
    command.emplace_back(*argument);
  }
  RestoreFileSizeSignal();
  const StartFailure failure = ExecProgram(command, EnvironmentWith({}));
  std::fprintf(stderr, "launch: %s: %s: %s\n", command[0].c_str(),
               failure.path.c_str(), std::strerror(failure.error));
  return failure.error == ENOENT ? 127 : 126;
}

}  // namespace muster::agent
