#ifndef MUSTER_AGENT_GPUS_GPU_FACTS_H_
#define MUSTER_AGENT_GPUS_GPU_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::agent {

// What NVIDIA's management library tells of a node's GPUs. What a GPU or its
// driver does not know is nullopt.

struct GpuProcess {
  int64_t pid = 0;    // in this process's namespace, or of a host we cannot see
  int64_t bytes = 0;  // 0: not known
};

struct RemappedRows {
  int64_t correctable = 0;
  int64_t uncorrectable = 0;
  bool pending = false;  // takes effect with the next reset
  bool failed = false;   // no spare row was left
};

struct PcieLink {
  int width = 0;  // lanes
  int max_width = 0;
  int generation = 0;
  int max_generation = 0;
};

struct GpuDevice {
  int index = 0;
  std::string uuid;
  std::string name;
  std::string pci_address;  // "0000:3b:00.0"; empty: not known
  // Why it does not answer: "GPU is lost". The rest is then not known.
  std::string error;
  std::optional<int64_t> memory_total;  // bytes
  std::optional<int64_t> memory_used;   // bytes
  std::vector<GpuProcess> processes;
  // Since the driver was loaded.
  std::optional<int64_t> uncorrectable_errors;
  std::optional<bool> retirement_pending;
  std::optional<RemappedRows> remapped_rows;
  std::optional<uint64_t> clock_limits;  // bits of ClockLimit
  std::optional<int> temperature;        // degrees Celsius
  std::optional<bool> persistent;
  std::optional<bool> mig;
  std::optional<bool> mig_pending;  // after the next reset
  int mig_instances = 0;
  std::optional<int> compute_mode;  // one of ComputeMode
  std::optional<PcieLink> pcie;
  std::vector<int> links_up;    // NVLinks, by number
  std::vector<int> links_down;  // that are there and carry nothing
};

// Why clocks are what they are: nvmlClocksEventReasons.
struct ClockLimit {
  static constexpr uint64_t kIdle = 0x1;
  static constexpr uint64_t kPowerCap = 0x4;
  static constexpr uint64_t kHardwareSlowdown = 0x8;
  static constexpr uint64_t kSoftwareThermal = 0x20;
  static constexpr uint64_t kHardwareThermal = 0x40;
  static constexpr uint64_t kPowerBrake = 0x80;
};

// nvmlComputeMode_t.
struct ComputeMode {
  static constexpr int kDefault = 0;
  static constexpr int kProhibited = 2;
  static constexpr int kExclusiveProcess = 3;
};

// Two GPUs and what is between them, a < b.
struct GpuPair {
  int a = 0;
  int b = 0;
  // Whether one may read the other's memory; nvmlGpuP2PStatus_t, 0 is yes.
  std::optional<int> peer_status;
  // nvmlGpuTopologyLevel_t: 0 one board, 10 one switch, 20 several switches,
  // 30 one host bridge, 40 one NUMA node, 50 several.
  std::optional<int> distance;
};

struct GpuFacts {
  enum class State {
    kNoDriver,  // no library, or no driver loaded: a node without GPUs
    kRead,
    kFailed,  // `error` says why
    kHung,    // no answer in time
  };
  State state = State::kNoDriver;
  std::string error;
  int error_code = 0;              // nvmlReturn_t, where NVML itself failed
  std::string driver_version;      // "550.54.15"
  std::optional<int> driver_cuda;  // 12040: the newest CUDA that it runs
  std::vector<GpuDevice> devices;
  std::vector<GpuPair> pairs;  // every two devices, of at most 16
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_GPU_FACTS_H_
