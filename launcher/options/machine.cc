#include "launcher/options/machine.h"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/binding/cpu_list.h"
#include "agent/binding/read_layout.h"
#include "agent/gpus/nvml.h"
#include "agent/health/gpu_devices.h"
#include "base/check.h"
#include "base/environment_value.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "launcher/options/worker_slots.h"

namespace muster::launcher {
namespace {

template <typename T>
T Random() {
  T value;
  MUSTER_CHECK(getrandom(&value, sizeof(value), 0) ==
               static_cast<ssize_t>(sizeof(value)))
      << std::strerror(errno);
  return value;
}

// Returns a random UUID, version 4 of RFC 4122.
std::string RandomUuid() {
  auto bytes = Random<std::array<unsigned char, 16>>();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    absl::StrAppend(&text, absl::Hex(bytes[i], absl::kZeroPad2));
  }
  return text;
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, HOST_NAME_MAX) != 0 || name[0] == '\0') {
    return "localhost";
  }
  return name;
}

std::string WorkingDirectory() {
  char path[PATH_MAX];
  // The kernel returns a path that begins with "(" if the folder cannot be
  // reached from the root.
  const bool known = getcwd(path, sizeof(path)) != nullptr && path[0] == '/';
  return known ? path : "";
}

// Returns the number of cores that the CPU quota of this process's container
// (cgroup v2) allows, rounded up; a large number if there is no CPU quota.
int QuotaCores() {
  FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "re");
  if (file == nullptr) return INT_MAX;
  double quota = 0, period = 0;
  const int fields = std::fscanf(file, "%lf %lf", &quota, &period);
  std::fclose(file);
  if (fields != 2 || quota <= 0 || period <= 0) return INT_MAX;
  return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

bool IsInPath(const std::string& name, const std::string& path) {
  size_t start = 0;
  while (start <= path.size()) {
    const size_t colon = std::min(path.find(':', start), path.size());
    const std::string full =
        absl::StrCat(path.substr(start, colon - start), "/", name);
    if (access(full.c_str(), X_OK) == 0) return true;
    start = colon + 1;
  }
  return false;
}

std::string FindPython(const std::map<std::string, std::string>& environment) {
  const std::string path = SearchPath(environment);
  for (const char* name : {"python3", "python"}) {
    if (IsInPath(name, path)) return name;
  }
  return "";
}

bool CanBind(const SocketAddress& address) {
  const OwnedFd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.open() && bind(fd.get(), address.get(), address.size) == 0;
}

std::string LoopbackAddress() {
  const auto works = [](const std::string& address) {
    const std::optional<SocketAddress> known = NumericAddress(address, 0);
    return known.has_value() && CanBind(*known);
  };
  for (const char* usual : {"127.0.0.1", "::1"}) {
    if (works(usual)) return usual;
  }
  for (const std::string& address : InterfaceAddresses()) {
    if (works(address)) return address;
  }
  return "127.0.0.1";
}

}  // namespace

MachineFacts ReadMachineFacts(std::map<std::string, std::string> environment) {
  MachineFacts facts;
  facts.host_name = HostName();
  facts.loopback = LoopbackAddress();
  facts.allowed_cpus = agent::AllowedCpus();
  const int allowed = static_cast<int>(facts.allowed_cpus.size());
  facts.cores = std::min(std::max(1, allowed), QuotaCores());
  facts.gpu_devices = agent::CountGpuDevices("/dev");
  facts.pid = getpid();
  facts.incarnation = Random<uint64_t>();
  facts.uuid = RandomUuid();
  facts.place_key = RandomUuid();
  facts.working_directory = WorkingDirectory();
  facts.python = FindPython(environment);
  facts.temporary_directory = absl::StrCat(
      NonEmptyEnvironmentValue(environment, "TMPDIR").value_or("/tmp"),
      "/muster_", getuid(), "/",
      absl::Hex(facts.incarnation, absl::kZeroPad16));
  facts.environment = std::move(environment);
  return facts;
}

absl::Status ReadBindingFacts(const RunOptions& options, MachineFacts& facts) {
  if (options.binding == agent::Binding::kNone) return absl::OkStatus();
  absl::StatusOr<agent::MachineLayout> layout = agent::ReadLayout();
  if (!layout.ok()) return layout.status();
  facts.layout = *std::move(layout);
  return absl::OkStatus();
}

absl::Status ReadGpuFacts(const RunOptions& options, MachineFacts& facts) {
  if (!NeedsGpus(options)) return absl::OkStatus();
  absl::StatusOr<agent::VisibleGpuList> gpus = agent::ReadVisibleGpus(
      EnvironmentValue(facts.environment, "CUDA_VISIBLE_DEVICES"),
      NonEmptyEnvironmentValue(facts.environment, "MUSTER_NVML_LIBRARY")
          .value_or("libnvidia-ml.so.1"));
  if (!gpus.ok()) return gpus.status();
  facts.gpus = std::move(gpus->names);
  facts.gpu_addresses = std::move(gpus->pci_addresses);
  return absl::OkStatus();
}

void ReadAddresses(MachineFacts& facts) {
  facts.outward_address = OutwardAddress();
  facts.addresses = InterfaceAddresses();
}

}  // namespace muster::launcher
