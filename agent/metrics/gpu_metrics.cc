#include "agent/metrics/gpu_metrics.h"

#include <optional>
#include <string>
#include <vector>

namespace muster::agent {
namespace {

using rendezvous::Exposition;
using rendezvous::Label;
using Type = Exposition::Type;

std::vector<Label> LabelsOf(int index, const std::string& uuid) {
  return {{"gpu", std::to_string(index)}, {"UUID", uuid}};
}

// A sample of one metric, read from each GPU. `label_value`: the value of the
// metric's additional label in these samples, if the metric has such a label.
struct GpuSample {
  const char* label_value;
  // returns the sample's value; nullopt: the GPU has no sample
  std::optional<double> (*read)(const GpuValues& gpu);
};

struct GpuMetric {
  const char* name;
  Type type;
  const char* help;
  // name of the metric's additional label, besides `gpu` and `UUID`; null: none
  const char* label;
  std::vector<GpuSample> samples;
};

template <typename T>
std::optional<double> Number(const std::optional<T>& value) {
  if (!value.has_value()) return std::nullopt;
  return static_cast<double>(*value);
}

// The value of the member `part` of an optional struct; nullopt if there is no
// struct.
template <typename Struct, typename T>
std::optional<double> Part(const std::optional<Struct>& whole,
                           T Struct::*part) {
  if (!whole.has_value()) return std::nullopt;
  return static_cast<double>((*whole).*part);
}

template <uint64_t bit>
std::optional<double> IsLimited(const GpuValues& gpu) {
  if (!gpu.clock_limits.has_value()) return std::nullopt;
  return (*gpu.clock_limits & bit) != 0 ? 1 : 0;
}

// The help texts name the corresponding fields of DCGM. The units differ: DCGM
// uses MiB, percent and millijoules, and has one metric for each type of error.
const std::vector<GpuMetric>& Metrics() {
  static const auto& metrics = *new std::vector<GpuMetric>{
      {"muster_gpu_up",
       Type::kGauge,
       "1 if the GPU answers its driver, 0 if it is lost.",
       nullptr,
       {{"",
         [](const GpuValues& gpu) -> std::optional<double> {
           return gpu.error.empty() ? 1 : 0;
         }}}},
      {"muster_gpu_utilization_ratio",
       Type::kGauge,
       "Part of the time in which a kernel ran (DCGM_FI_DEV_GPU_UTIL, from 0 "
       "to 1).",
       nullptr,
       {{"", [](const GpuValues& gpu) { return gpu.utilization; }}}},
      {"muster_gpu_memory_utilization_ratio",
       Type::kGauge,
       "Part of the time in which memory was read or written "
       "(DCGM_FI_DEV_MEM_COPY_UTIL, from 0 to 1).",
       nullptr,
       {{"", [](const GpuValues& gpu) { return gpu.memory_utilization; }}}},
      {"muster_gpu_memory_used_bytes",
       Type::kGauge,
       "Memory in use (DCGM_FI_DEV_FB_USED).",
       nullptr,
       {{"", [](const GpuValues& gpu) { return Number(gpu.memory_used); }}}},
      {"muster_gpu_memory_free_bytes",
       Type::kGauge,
       "Free memory (DCGM_FI_DEV_FB_FREE).",
       nullptr,
       {{"", [](const GpuValues& gpu) { return Number(gpu.memory_free); }}}},
      {"muster_gpu_temperature_celsius",
       Type::kGauge,
       "Temperature of the GPU (DCGM_FI_DEV_GPU_TEMP).",
       nullptr,
       {{"", [](const GpuValues& gpu) { return Number(gpu.temperature); }}}},
      {"muster_gpu_memory_temperature_celsius",
       Type::kGauge,
       "Temperature of the GPU's memory (DCGM_FI_DEV_MEMORY_TEMP).",
       nullptr,
       {{"",
         [](const GpuValues& gpu) { return Number(gpu.memory_temperature); }}}},
      {"muster_gpu_power_watts",
       Type::kGauge,
       "Power draw (DCGM_FI_DEV_POWER_USAGE).",
       nullptr,
       {{"", [](const GpuValues& gpu) { return gpu.power; }}}},
      {"muster_gpu_energy_joules_total",
       Type::kCounter,
       "Energy since the driver was loaded "
       "(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION).",
       nullptr,
       {{"", [](const GpuValues& gpu) { return gpu.energy; }}}},
      {"muster_gpu_clock_limited",
       Type::kGauge,
       "1 while the reason holds the clocks down, else 0 (bits of "
       "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS).",
       "reason",
       {{"power_cap", IsLimited<ClockLimit::kPowerCap>},
        {"hardware_slowdown", IsLimited<ClockLimit::kHardwareSlowdown>},
        {"software_thermal", IsLimited<ClockLimit::kSoftwareThermal>},
        {"hardware_thermal", IsLimited<ClockLimit::kHardwareThermal>},
        {"power_brake", IsLimited<ClockLimit::kPowerBrake>}}},
      {"muster_gpu_ecc_volatile_errors_total",
       Type::kCounter,
       "Memory errors since the driver was loaded "
       "(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL, DCGM_FI_DEV_ECC_DBE_VOL_TOTAL).",
       "type",
       {{"corrected",
         [](const GpuValues& gpu) {
           return Part(gpu.volatile_ecc, &EccErrors::corrected);
         }},
        {"uncorrected",
         [](const GpuValues& gpu) {
           return Part(gpu.volatile_ecc, &EccErrors::uncorrected);
         }}}},
      {"muster_gpu_ecc_aggregate_errors_total",
       Type::kCounter,
       "Memory errors in the GPU's life (DCGM_FI_DEV_ECC_SBE_AGG_TOTAL, "
       "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL).",
       "type",
       {{"corrected",
         [](const GpuValues& gpu) {
           return Part(gpu.aggregate_ecc, &EccErrors::corrected);
         }},
        {"uncorrected",
         [](const GpuValues& gpu) {
           return Part(gpu.aggregate_ecc, &EccErrors::uncorrected);
         }}}},
      {"muster_gpu_remapped_rows_total",
       Type::kCounter,
       "Rows of memory that were replaced "
       "(DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS, "
       "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS).",
       "cause",
       {{"correctable",
         [](const GpuValues& gpu) {
           return Part(gpu.remapped_rows, &RemappedRows::correctable);
         }},
        {"uncorrectable",
         [](const GpuValues& gpu) {
           return Part(gpu.remapped_rows, &RemappedRows::uncorrectable);
         }}}},
      {"muster_gpu_row_remap_pending",
       Type::kGauge,
       "1 if the next reset of the GPU replaces a row of memory, else 0 "
       "(DCGM_FI_DEV_ROW_REMAP_PENDING).",
       nullptr,
       {{"",
         [](const GpuValues& gpu) {
           return Part(gpu.remapped_rows, &RemappedRows::pending);
         }}}},
      {"muster_gpu_row_remap_failed",
       Type::kGauge,
       "1 if a row of memory could not be replaced, else 0 "
       "(DCGM_FI_DEV_ROW_REMAP_FAILURE).",
       nullptr,
       {{"",
         [](const GpuValues& gpu) {
           return Part(gpu.remapped_rows, &RemappedRows::failed);
         }}}},
      {"muster_gpu_nvlink_errors_total",
       Type::kCounter,
       "Errors of all NVLinks of the GPU "
       "(DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, "
       "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, "
       "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, "
       "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL).",
       "type",
       {{"crc_flit",
         [](const GpuValues& gpu) {
           return Part(gpu.link_errors, &LinkErrors::crc_flit);
         }},
        {"crc_data",
         [](const GpuValues& gpu) {
           return Part(gpu.link_errors, &LinkErrors::crc_data);
         }},
        {"replay",
         [](const GpuValues& gpu) {
           return Part(gpu.link_errors, &LinkErrors::replay);
         }},
        {"recovery",
         [](const GpuValues& gpu) {
           return Part(gpu.link_errors, &LinkErrors::recovery);
         }}}},
      {"muster_gpu_pcie_replays_total",
       Type::kCounter,
       "Packets that PCIe has sent again (DCGM_FI_DEV_PCIE_REPLAY_COUNTER).",
       nullptr,
       {{"", [](const GpuValues& gpu) { return Number(gpu.pcie_replays); }}}},
  };
  return metrics;
}

void AddMetric(const GpuMetric& metric, const std::vector<GpuValues>& gpus,
               Exposition& page) {
  bool has_family = false;
  for (const GpuValues& gpu : gpus) {
    for (const GpuSample& sample : metric.samples) {
      const std::optional<double> value = sample.read(gpu);
      if (!value.has_value()) continue;
      if (!has_family) page.Family(metric.name, metric.type, metric.help);
      has_family = true;
      std::vector<Label> labels = LabelsOf(gpu.index, gpu.uuid);
      if (metric.label != nullptr) {
        labels.emplace_back(metric.label, sample.label_value);
      }
      page.Sample(labels, *value);
    }
  }
}

void AddXids(const std::vector<GpuXids>& xids, Exposition& page) {
  if (xids.empty()) return;
  page.Family("muster_gpu_last_xid", Type::kGauge,
              "Newest error code of the driver since the agent's start; 0: "
              "none (DCGM_FI_DEV_XID_ERRORS).");
  for (const GpuXids& gpu : xids) {
    page.Sample(LabelsOf(gpu.index, gpu.uuid), gpu.counts.last);
  }
  page.Family("muster_gpu_xids_total", Type::kCounter,
              "Error codes of the driver since the agent's start.");
  for (const GpuXids& gpu : xids) {
    for (size_t kind = 0; kind < kXidKinds; ++kind) {
      std::vector<Label> labels = LabelsOf(gpu.index, gpu.uuid);
      labels.emplace_back("kind", NameOf(static_cast<XidKind>(kind)));
      page.Sample(labels, static_cast<double>(gpu.counts.by_kind[kind]));
    }
  }
}

}  // namespace

void AddGpuMetrics(const GpuSnapshot& snapshot, Exposition& page) {
  if (!snapshot.age.has_value()) return;
  page.Family("muster_gpu_reading_age_seconds", Type::kGauge,
              "Time since the driver has answered with the GPUs' values, or "
              "since the agent's start. It grows while the driver hangs.");
  page.Sample({}, ToSeconds(*snapshot.age));
  // GPU errors (Xids) are events that do not become stale. So they are shown
  // even if the driver hangs.
  AddXids(snapshot.xids, page);
  if (*snapshot.age > kMaxGpuValueAge) return;
  for (const GpuMetric& metric : Metrics()) {
    AddMetric(metric, snapshot.gpus, page);
  }
}

}  // namespace muster::agent
