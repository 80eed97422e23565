#ifndef MUSTER_AGENT_GPUS_GPU_FACTS_H_
#define MUSTER_AGENT_GPUS_GPU_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::agent {

// A process that uses a GPU. In all structs of this file, nullopt means that
// the GPU or its driver does not report the value.
struct GpuProcess {
  int64_t pid = 0;    // process id, in this PID namespace or in the host's
  int64_t bytes = 0;  // GPU memory in use; 0: unknown
};

struct RemappedRows {
  int64_t correctable = 0;
  int64_t uncorrectable = 0;
  // whether the next reset of the GPU remaps a row of its memory
  bool pending = false;
  // whether a defective row of the GPU's memory could not be replaced, because
  // no spare row was left
  bool failed = false;
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
  std::string pci_address;  // such as "0000:3b:00.0"; empty: unknown
  // The reason why the GPU does not answer, such as "GPU is lost"; the other
  // fields are unknown then. Empty if it answers.
  std::string error;
  std::optional<int64_t> memory_total;  // the GPU's memory, in bytes
  std::optional<int64_t> memory_used;   // memory in use, in bytes
  std::vector<GpuProcess> processes;
  // uncorrected memory errors since the driver was loaded
  std::optional<int64_t> uncorrectable_errors;
  std::optional<bool> retirement_pending;
  std::optional<RemappedRows> remapped_rows;
  // reasons for reduced clocks, as bits of ClockLimit
  std::optional<uint64_t> clock_limits;
  std::optional<int> temperature;  // temperature in degrees Celsius
  std::optional<bool> persistent;
  std::optional<bool> mig;
  std::optional<bool> mig_pending;  // whether MIG is on after the next reset
  int mig_instances = 0;
  // which processes may use the GPU, as a value of ComputeMode
  std::optional<int> compute_mode;
  std::optional<PcieLink> pcie;
  std::vector<int> links_up;    // numbers of the NVLinks that are up
  std::vector<int> links_down;  // numbers of the existing NVLinks that are down
};

// Reasons for reduced clocks, with the values of nvmlClocksEventReasons.
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

// Two GPUs with the indices a < b, and the connection between them.
struct GpuPair {
  int a = 0;
  int b = 0;
  // Whether one GPU may read the other's memory, as an nvmlGpuP2PStatus_t; 0:
  // yes.
  std::optional<int> peer_status;
  // The distance of the GPUs, as an nvmlGpuTopologyLevel_t: on one board (0),
  // under one PCIe switch (10), under several (20), under one host bridge (30),
  // in one NUMA node (40), in several (50).
  std::optional<int> distance;
};

struct GpuFacts {
  enum class State {
    // NVML or the driver is not loaded: the node counts as having no GPUs
    kNoDriver,
    kRead,
    kFailed,  // a call of NVML failed; `error` has the reason
    kHung,    // NVML did not answer within the time limit
  };
  State state = State::kNoDriver;
  std::string error;
  int error_code = 0;          // nvmlReturn_t of the failed NVML call
  std::string driver_version;  // "550.54.15"
  // the newest CUDA version that the driver supports; 12040 is 12.4
  std::optional<int> driver_cuda;
  std::vector<GpuDevice> devices;
  std::vector<GpuPair> pairs;  // all pairs among the first 16 GPUs
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_GPU_FACTS_H_
