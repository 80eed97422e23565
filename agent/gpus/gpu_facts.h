#ifndef MUSTER_AGENT_GPUS_GPU_FACTS_H_
#define MUSTER_AGENT_GPUS_GPU_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::agent {

// A process that uses a GPU. In all structs of this file a field that the GPU
// or its driver does not know is nullopt.
struct GpuProcess {
  int64_t pid = 0;    // process id in this PID namespace or the host's
  int64_t bytes = 0;  // GPU memory in use; 0: unknown
};

struct RemappedRows {
  int64_t correctable = 0;
  int64_t uncorrectable = 0;
  bool pending = false;  // whether the next GPU reset remaps a row
  bool failed = false;   // whether no spare row was left
};

struct PcieLink {
  int width = 0;  // number of PCIe lanes in use
  int max_width = 0;
  int generation = 0;
  int max_generation = 0;
};

struct GpuDevice {
  int index = 0;
  std::string uuid;
  std::string name;
  std::string pci_address;  // "0000:3b:00.0"; empty: unknown
  // Why the GPU does not answer: "GPU is lost". The other fields are unknown
  // then.
  std::string error;
  std::optional<int64_t> memory_total;  // bytes
  std::optional<int64_t> memory_used;   // bytes
  std::vector<GpuProcess> processes;
  // errors since the driver was loaded
  std::optional<int64_t> uncorrectable_errors;
  std::optional<bool> retirement_pending;
  std::optional<RemappedRows> remapped_rows;
  std::optional<uint64_t> clock_limits;  // bits of ClockLimit
  std::optional<int> temperature;        // degrees Celsius
  std::optional<bool> persistent;
  std::optional<bool> mig;
  std::optional<bool> mig_pending;  // whether MIG is on after the next reset
  int mig_instances = 0;
  std::optional<int> compute_mode;  // one of ComputeMode
  std::optional<PcieLink> pcie;
  std::vector<int> links_up;    // numbers of the NVLinks that are up
  std::vector<int> links_down;  // numbers of the existing NVLinks that are down
};

// Reasons for reduced clocks: bits of nvmlClocksEventReasons.
struct ClockLimit {
  static constexpr uint64_t kIdle = 0x1;
  static constexpr uint64_t kPowerCap = 0x4;
  static constexpr uint64_t kHardwareSlowdown = 0x8;
  static constexpr uint64_t kSoftwareThermal = 0x20;
  static constexpr uint64_t kHardwareThermal = 0x40;
  static constexpr uint64_t kPowerBrake = 0x80;
};

// Values of nvmlComputeMode_t.
struct ComputeMode {
  static constexpr int kDefault = 0;
  static constexpr int kProhibited = 2;
  static constexpr int kExclusiveProcess = 3;
};

// Two GPUs with a < b, and the connection between them.
struct GpuPair {
  int a = 0;
  int b = 0;
  // Whether one may read the other's memory: nvmlGpuP2PStatus_t; 0 is yes.
  std::optional<int> peer_status;
  // nvmlGpuTopologyLevel_t: 0 one board, 10 one switch, 20 several switches, 30
  // one host bridge, 40 one NUMA node, 50 several.
  std::optional<int> distance;
};

struct GpuFacts {
  enum class State {
    kNoDriver,  // no library, or no driver loaded: a node without GPUs
    kRead,
    kFailed,  // `error` has the reason
    kHung,    // no answer within the time limit
  };
  State state = State::kNoDriver;
  std::string error;
  int error_code = 0;          // nvmlReturn_t, if NVML failed
  std::string driver_version;  // "550.54.15"
  // the newest CUDA version that the driver supports; 12040 is 12.4
  std::optional<int> driver_cuda;
  std::vector<GpuDevice> devices;
  std::vector<GpuPair> pairs;  // all pairs among at most 16 GPUs
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_GPU_FACTS_H_
