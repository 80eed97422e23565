#include "agent/metrics/gpu_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace muster::agent {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

std::string PageOf(const GpuSnapshot& snapshot) {
  rendezvous::Exposition page;
  AddGpuMetrics(snapshot, page);
  return page.text();
}

GpuValues Whole() {
  return {.index = 1,
          .uuid = "GPU-1",
          .utilization = 0.5,
          .memory_utilization = 0.25,
          .memory_used = 1024,
          .memory_free = 2048,
          .temperature = 70,
          .memory_temperature = 80,
          .power = 412.5,
          .energy = 9000.5,
          .volatile_ecc = EccErrors{1, 2},
          .aggregate_ecc = EccErrors{3, 4},
          .remapped_rows = RemappedRows{5, 6, true, false},
          .link_errors = LinkErrors{7, 8, 9, 10},
          .pcie_replays = 11,
          .clock_limits = ClockLimit::kPowerCap | ClockLimit::kHardwareThermal};
}

TEST(GpuMetricsTest, EachValueHasItsSample) {
  const std::string page =
      PageOf({.age = seconds(2),
              .gpus = {Whole()},
              .xids = {{1, "GPU-1", {.by_kind = {2, 1, 0}, .last = 79}}}});
  EXPECT_THAT(page, HasSubstr("muster_gpu_reading_age_seconds 2\n"));
  const std::string one = "{gpu=\"1\",UUID=\"GPU-1\"} ";
  const auto with = [](const char* label, const char* value) {
    return std::string("{gpu=\"1\",UUID=\"GPU-1\",") + label + "=\"" + value +
           "\"} ";
  };
  for (const std::string& line :
       {"up" + one + "1",
        "utilization_ratio" + one + "0.5",
        "memory_utilization_ratio" + one + "0.25",
        "memory_used_bytes" + one + "1024",
        "memory_free_bytes" + one + "2048",
        "temperature_celsius" + one + "70",
        "memory_temperature_celsius" + one + "80",
        "power_watts" + one + "412.5",
        "energy_joules_total" + one + "9000.5",
        "ecc_volatile_errors_total" + with("type", "corrected") + "1",
        "ecc_volatile_errors_total" + with("type", "uncorrected") + "2",
        "ecc_aggregate_errors_total" + with("type", "corrected") + "3",
        "ecc_aggregate_errors_total" + with("type", "uncorrected") + "4",
        "remapped_rows_total" + with("cause", "correctable") + "5",
        "remapped_rows_total" + with("cause", "uncorrectable") + "6",
        "row_remap_pending" + one + "1",
        "row_remap_failed" + one + "0",
        "nvlink_errors_total" + with("type", "crc_flit") + "7",
        "nvlink_errors_total" + with("type", "crc_data") + "8",
        "nvlink_errors_total" + with("type", "replay") + "9",
        "nvlink_errors_total" + with("type", "recovery") + "10",
        "pcie_replays_total" + one + "11",
        "clock_limited" + with("reason", "power_cap") + "1",
        "clock_limited" + with("reason", "hardware_slowdown") + "0",
        "clock_limited" + with("reason", "software_thermal") + "0",
        "clock_limited" + with("reason", "hardware_thermal") + "1",
        "clock_limited" + with("reason", "power_brake") + "0",
        "last_xid" + one + "79",
        "xids_total" + with("kind", "hardware") + "2",
        "xids_total" + with("kind", "application") + "1",
        "xids_total" + with("kind", "other") + "0"}) {
    EXPECT_THAT(page, HasSubstr("\nmuster_gpu_" + line + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_GPU_UTIL"));
}

TEST(GpuMetricsTest, AValueThatNoGpuReportsHasNoFamily) {
  const std::string page =
      PageOf({.age = seconds(0), .gpus = {{.index = 0, .uuid = "GPU-0"}}});
  EXPECT_THAT(page, HasSubstr("muster_gpu_up{gpu=\"0\",UUID=\"GPU-0\"} 1\n"));
  for (const char* name : {"utilization", "bytes", "celsius", "watts", "joules",
                           "ecc", "_row", "nvlink", "pcie", "clock", "xid"}) {
    EXPECT_THAT(page, Not(HasSubstr(name)));
  }
}

TEST(GpuMetricsTest, SamplesOfAFamilyStandTogether) {
  GpuValues other = Whole();
  other.index = 2;
  other.uuid = "GPU-2";
  const std::string page =
      PageOf({.age = seconds(0), .gpus = {Whole(), {.index = 0}, other}});
  EXPECT_THAT(page,
              HasSubstr("muster_gpu_power_watts{gpu=\"1\",UUID=\"GPU-1\"} "
                        "412.5\nmuster_gpu_power_watts{gpu=\"2\",UUID=\"GPU-2\""
                        "} 412.5\n"));
}

TEST(GpuMetricsTest, ALostGpuIsNotUp) {
  const std::string page =
      PageOf({.age = seconds(0),
              .gpus = {Whole(), {.index = 2, .error = "GPU is lost"}}});
  EXPECT_THAT(page, HasSubstr("muster_gpu_up{gpu=\"1\",UUID=\"GPU-1\"} 1\n"
                              "muster_gpu_up{gpu=\"2\",UUID=\"\"} 0\n"));
}

TEST(GpuMetricsTest, StaleValuesAreAbsentAndTheirAgeIsShown) {
  const GpuSnapshot stale = {
      .age = kMaxGpuValueAge + seconds(1),
      .gpus = {Whole()},
      .xids = {{1, "GPU-1", {.by_kind = {1, 0, 0}, .last = 119}}}};
  const std::string page = PageOf(stale);
  EXPECT_THAT(page, HasSubstr("muster_gpu_reading_age_seconds 61\n"));
  EXPECT_THAT(page, Not(HasSubstr("muster_gpu_power_watts")));
  EXPECT_THAT(page, Not(HasSubstr("muster_gpu_up")));
  // The Xid is shown although the values are stale, because it may explain why
  // the driver hangs.
  EXPECT_THAT(page, HasSubstr("muster_gpu_last_xid{gpu=\"1\",UUID=\"GPU-1\"} "
                              "119\n"));
}

TEST(GpuMetricsTest, ANodeWithoutADriverHasNoMetricsOfGpus) {
  EXPECT_EQ(PageOf({}), "");
}

}  // namespace
}  // namespace muster::agent
