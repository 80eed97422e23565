#include "agent/binding/read_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "agent/binding/cpu_list.h"
#include "agent/binding/layouts.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

// The layout of a machine described by one of hwloc's XML files.
MachineLayout FromXml(const std::string& name) {
  const std::string path = "agent/binding/machines/" + name + ".xml";
  setenv("HWLOC_XMLFILE", path.c_str(), 1);
  const absl::StatusOr<MachineLayout> layout = ReadLayout();
  unsetenv("HWLOC_XMLFILE");
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.ok() ? *layout : MachineLayout();
}

// One line "number: core complex socket node" for each CPU.
std::vector<std::string> Lines(const MachineLayout& layout) {
  std::vector<std::string> lines;
  for (const LogicalCpu& cpu : layout.cpus) {
    lines.push_back(
        std::to_string(cpu.number) + ": " + std::to_string(cpu.core) + " " +
        std::to_string(cpu.complex) + " " + std::to_string(cpu.socket) + " " +
        std::to_string(cpu.numa_node));
  }
  return lines;
}

TEST(ReadLayout, ThisMachineHasTheCpusThatThisProcessMayUse) {
  const absl::StatusOr<MachineLayout> layout = ReadLayout();
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_THAT(AllCpus(*layout), IsSupersetOf(AllowedCpus()));
}

TEST(ReadLayout, SocketsNodesCachesAndThreads) {
  EXPECT_THAT(
      Lines(Synthetic("pack:2 group:1 [numa] l3:2 core:1 pu:2")),
      ElementsAre("0: 0 0 0 0", "1: 0 0 0 0", "2: 2 2 0 0", "3: 2 2 0 0",
                  "4: 4 4 1 1", "5: 4 4 1 1", "6: 6 6 1 1", "7: 6 6 1 1"));
}

TEST(ReadLayout, MemoryWithoutCpusTakesNoneAway) {
  // The second NUMA node of each socket has no CPUs, like a GPU's memory or
  // slower memory.
  const MachineLayout layout = Synthetic("pack:2 [numa] [numa] core:1 pu:1");
  EXPECT_THAT(Lines(layout), ElementsAre("0: 0 0 0 0", "1: 1 1 1 2"));
}

TEST(ReadLayout, GpusAndNicsOfAMachineInXml) {
  const MachineLayout layout = FromXml("two_sockets_two_gpus");
  EXPECT_THAT(
      Lines(layout),
      ElementsAre("0: 0 0 0 0", "1: 1 0 0 0", "2: 2 2 1 1", "3: 3 2 1 1",
                  "4: 0 0 0 0", "5: 1 0 0 0", "6: 2 2 1 1"))
      << "the last one is offline";
  ASSERT_EQ(layout.devices.size(), 2u);
  EXPECT_EQ(layout.devices[0].address, "0000:17:00.0");
  EXPECT_THAT(layout.devices[0].numa_nodes, ElementsAre(0));
  EXPECT_EQ(layout.devices[1].address, "0000:97:00.0");
  EXPECT_THAT(layout.devices[1].numa_nodes, ElementsAre(1));
  ASSERT_EQ(layout.nics.size(), 2u);
  EXPECT_EQ(layout.nics[0].name, "eth0");
  EXPECT_EQ(layout.nics[0].kind, NicKind::kEthernet);
  EXPECT_EQ(layout.nics[1].name, "mlx5_0");
  EXPECT_EQ(layout.nics[1].kind, NicKind::kInfiniBand);
  EXPECT_EQ(layout.nics[1].at.bridges, layout.devices[1].bridges);
  EXPECT_NE(layout.nics[0].at.bridges, layout.devices[0].bridges);
}

TEST(ReadLayout, AMachineThatSaysNothingOfNumaHasOneNode) {
  const MachineLayout layout = FromXml("no_numa");
  EXPECT_THAT(Lines(layout), ElementsAre("0: 0 0 0 0", "1: 1 1 0 0"));
  ASSERT_EQ(layout.devices.size(), 1u);
  EXPECT_THAT(layout.devices[0].numa_nodes, ElementsAre(0));
}

// The message of ReadLayout's error if the environment variable has an invalid
// value.
std::string Refusal(const char* variable, const std::string& value) {
  setenv(variable, value.c_str(), 1);
  const absl::StatusOr<MachineLayout> layout = ReadLayout();
  unsetenv(variable);
  return std::string(layout.status().message());
}

TEST(ReadLayout, AnotherMachineThatCannotBeReadIsNotThisOne) {
  EXPECT_EQ(Refusal("HWLOC_XMLFILE", "/no/such"),
            "HWLOC_XMLFILE=/no/such: No such file or directory");
  EXPECT_EQ(Refusal("HWLOC_FSROOT", "/no/such"),
            "HWLOC_FSROOT=/no/such: No such file or directory");
  EXPECT_THAT(Refusal("HWLOC_SYNTHETIC", "garbage"),
              StartsWith("HWLOC_SYNTHETIC=garbage: hwloc cannot read that"));
  const std::string path = ::testing::TempDir() + "/no_xml";
  std::ofstream(path) << "garbage";
  EXPECT_THAT(Refusal("HWLOC_XMLFILE", path), HasSubstr("cannot read"));
  EXPECT_EQ(Refusal("HWLOC_XMLFILE", ""), "");
  EXPECT_EQ(Refusal("HWLOC_FSROOT", "/"), "");
}

TEST(ReadLayout, NoPluginIsLoadedAndTheVariableIsAsBefore) {
  setenv("HWLOC_PLUGINS_PATH", "/before", 1);
  EXPECT_TRUE(ReadLayout().ok());
  EXPECT_STREQ(std::getenv("HWLOC_PLUGINS_PATH"), "/before");
  unsetenv("HWLOC_PLUGINS_PATH");
  EXPECT_TRUE(ReadLayout().ok());
  EXPECT_EQ(std::getenv("HWLOC_PLUGINS_PATH"), nullptr);
}

}  // namespace
}  // namespace muster::agent
