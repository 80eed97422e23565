#ifndef MUSTER_AGENT_GPUS_GPU_VALUES_H_
#define MUSTER_AGENT_GPUS_GPU_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/gpus/gpu_facts.h"
#include "agent/gpus/xid.h"
#include "base/time.h"

namespace muster::agent {

struct EccErrors {
  int64_t corrected = 0;
  int64_t uncorrected = 0;
};

// Errors of all NVLinks of a GPU together, since the driver was loaded.
struct LinkErrors {
  int64_t crc_flit = 0;
  int64_t crc_data = 0;
  int64_t replay = 0;
  int64_t recovery = 0;
};

// The values of one GPU that this node's metrics show. In the optional fields,
// nullopt means that the GPU or its driver does not report the value.
struct GpuValues {
  int index = 0;
  std::string uuid;
  // The reason why the GPU does not answer, such as "GPU is lost"; the other
  // values are unknown then. Empty if it answers.
  std::string error;
  // share of the time in which the GPU computed, from 0 to 1
  std::optional<double> utilization;
  // share of the time in which the GPU's memory was accessed, from 0 to 1
  std::optional<double> memory_utilization;
  std::optional<int64_t> memory_used;     // GPU memory in use, in bytes
  std::optional<int64_t> memory_free;     // free GPU memory in bytes
  std::optional<int> temperature;         // degrees Celsius
  std::optional<int> memory_temperature;  // degrees Celsius
  std::optional<double> power;            // watts
  std::optional<double> energy;           // joules since the driver was loaded
  // memory errors (ECC) since the driver was loaded
  std::optional<EccErrors> volatile_ecc;
  // memory errors (ECC) since the GPU was made
  std::optional<EccErrors> aggregate_ecc;
  std::optional<RemappedRows> remapped_rows;
  std::optional<LinkErrors> link_errors;
  std::optional<int64_t> pcie_replays;
  // reasons for reduced clocks, as bits of ClockLimit
  std::optional<uint64_t> clock_limits;
};

// The Xids (error codes of NVIDIA's driver) of one GPU. GPUs whose driver does
// not report Xids have no entry.
struct GpuXids {
  int index = 0;
  std::string uuid;
  XidCounts counts;
};

// A node's GPUs as its metrics show them.
struct GpuSnapshot {
  // The age of the values. While no reading has succeeded: the time since the
  // first attempt. The age grows while the driver hangs or fails. nullopt: the
  // node has no NVIDIA driver.
  std::optional<Duration> age;
  std::vector<GpuValues> gpus;
  std::vector<GpuXids> xids;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_GPU_VALUES_H_
