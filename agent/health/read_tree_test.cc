// Tests of the functions that read /proc and /sys, on a simulated folder tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/health/read_node.h"
#include "agent/health/read_surroundings.h"
#include "agent/health/small_file.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReadTreeTest : public ::testing::Test {
 protected:
  ReadTreeTest() : root_(testing::TempDir() + "read_tree") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~ReadTreeTest() override { std::filesystem::remove_all(root_); }

  void Plant(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << text;
  }

  const std::string root_;
};

// A bridge's PCI configuration space with two extended capabilities: an
// unrelated one, then ACS with the control bits `control`.
std::string Bridge(unsigned char control) {
  std::string bytes(512, '\0');
  // The list of PCI Express extended capabilities begins at 0x100, here with
  // the capability 0x0001 (not ACS). Its header says that the next capability,
  // ACS, is at 0x148.
  bytes.replace(0x100, 4, std::string("\x01\x00\x81\x14", 4));
  bytes.replace(0x148, 4, std::string("\x0d\x00\x01\x00", 4));
  bytes[0x148 + 6] = static_cast<char>(control);
  return bytes;
}

TEST_F(ReadTreeTest, ErrorsInTheKernelsLog) {
  const std::string log =
      "6,100,5000000,-;usb 1-1: new device\n SUBSYSTEM=usb\n"
      "4,101,7000000,-;NVRM: Xid (PCI:0000:3B:00): 79, pid=1, GPU has fallen\n"
      "4,102,8000000,-,caller=T1;NVRM: Xid (PCI:0000:3b:00): 31, pid=7\n"
      "4,103,9000000,-;NVRM: Xid (PCI:0000:3b:00): x\n"
      "4,104;NVRM: Xid (PCI:0000:3b:00): 48\n"
      "4,104,9223372036854775807,-;NVRM: Xid (PCI:0000:3b:00): 48\n"
      "NVRM: Xid (PCI:0000:3b:00): 48\n"
      "4,105,9000000,-;NVRM: Xid (PCI:0000:3b:00";
  const auto events = ParseXids(log, std::chrono::seconds(10));
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].pci_address, "0000:3b:00");
  EXPECT_EQ(events[0].xid, 79);
  EXPECT_EQ(events[0].ago, std::chrono::seconds(3));
  EXPECT_EQ(events[1].xid, 31);
  EXPECT_EQ(events[1].ago, std::chrono::seconds(2));
}

TEST_F(ReadTreeTest, TheNewestOfManyErrorsAreKept) {
  std::string log;
  for (int i = 1; i <= 100; ++i) {
    log += "4,1,1,-;NVRM: Xid (PCI:0000:3b:00): " + std::to_string(i) + "\n";
  }
  const auto events = ParseXids(log, std::chrono::seconds(1));
  ASSERT_THAT(events, SizeIs(64));
  EXPECT_EQ(events.back().xid, 100);
}

TEST_F(ReadTreeTest, BridgesThatRedirect) {
  EXPECT_FALSE(RedirectsPeers(Bridge(0x00)));
  // With only the ACS bit "upstream forwarding" set, a bridge does not redirect
  // peers' traffic.
  EXPECT_FALSE(RedirectsPeers(Bridge(0x10)));
  EXPECT_TRUE(RedirectsPeers(Bridge(0x1c)));
  EXPECT_TRUE(RedirectsPeers(Bridge(0x04)));
  // An unprivileged user can read only the first 64 bytes of a bridge's PCI
  // configuration space. These bytes do not say whether the bridge redirects
  // traffic.
  EXPECT_FALSE(RedirectsPeers(Bridge(0x1c).substr(0, 64)));
  EXPECT_FALSE(RedirectsPeers(""));
  // RedirectsPeers returns even if the chain of PCI extended capabilities leads
  // back to its start.
  std::string circle(512, '\0');
  circle.replace(0x100, 4, std::string("\x01\x00\x01\x10", 4));
  EXPECT_FALSE(RedirectsPeers(circle));
}

TEST_F(ReadTreeTest, BridgesAboveAGpuAreRead) {
  Plant("/sys/devices/pci0000:00/0000:00:01.0/config", Bridge(0x1c));
  Plant("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/config",
        Bridge(0x00));
  Plant("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:3b:00.0/vendor",
        "0x10de");
  std::filesystem::create_directories(root_ + "/sys/bus/pci/devices");
  std::filesystem::create_symlink(
      root_ + "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:3b:00.0",
      root_ + "/sys/bus/pci/devices/0000:3b:00.0");
  Plant("/dev/nvidia0", "");
  Plant("/dev/nvidia11", "");
  Plant("/dev/nvidiactl", "");
  Plant("/dev/nvidia-uvm", "");
  Plant("/dev/kmsg",
        "4,1,1000000,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU is lost\n");
  const GpuSurroundings facts =
      ReadSurroundings(root_, {"0000:3b:00.0", "../../x", "0000:4b:00.0"});
  EXPECT_EQ(facts.visible_devices, 2);
  EXPECT_EQ(facts.kernel_log_read, true);
  ASSERT_THAT(facts.xids, SizeIs(1));
  ASSERT_THAT(facts.paths, SizeIs(2));
  EXPECT_THAT(facts.paths[0].redirecting, ElementsAre("0000:00:01.0"));
  EXPECT_THAT(facts.paths[1].redirecting, IsEmpty());
}

TEST_F(ReadTreeTest, ALogThatIsNotThere) {
  EXPECT_EQ(ReadSurroundings(root_, {"0000:3b:00.0"}).kernel_log_read, false);
  EXPECT_EQ(ReadSurroundings(root_, {}).kernel_log_read, std::nullopt);
}

TEST_F(ReadTreeTest, VersionsOfDriverAndPyTorch) {
  Plant("/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  "
        "Release Build\nGCC version: gcc 12.2.0\n");
  Plant("/env/bin/python3", "");
  const std::string packages = "/env/lib/python3.11/site-packages";
  Plant(packages + "/torch/version.py",
        "from typing import Optional\n__version__ = '2.5.1+cu124'\n"
        "debug = False\ncuda: Optional[str] = '12.4'\n");
  Plant(packages + "/nvidia_nccl_cu12-2.21.5.dist-info/METADATA", "");
  LibraryPaths paths;
  paths.root = root_;
  paths.cuda_runtimes = {"libno-such-cudart.so"};
  paths.nccl = "libno-such-nccl.so";
  LibraryFacts facts =
      ReadLibraries(paths, {{"PATH", "/nowhere/bin:/env/bin:/usr/bin"}});
  EXPECT_EQ(facts.kernel_driver, "570.86.15");
  EXPECT_EQ(facts.torch_version, "2.5.1+cu124");
  EXPECT_EQ(facts.torch_cuda, "12.4");
  EXPECT_EQ(facts.torch_nccl, "2.21.5");
  EXPECT_EQ(facts.runtime_cuda, std::nullopt);
  EXPECT_EQ(facts.toolkit_nccl, "");
  // Without python3 in PATH, ReadLibraries uses the system's Python, which has
  // no PyTorch in this test's folder tree.
  facts = ReadLibraries(paths, {});
  EXPECT_EQ(facts.torch_version, "");
  facts = ReadLibraries(paths, {{"VIRTUAL_ENV", "/env"}});
  EXPECT_EQ(facts.torch_version, "2.5.1+cu124");
}

TEST_F(ReadTreeTest, APyTorchForCpusHasNoCuda) {
  Plant("/env/lib/python3.11/dist-packages/torch/version.py",
        "__version__ = '1.13.1'\ncuda = None\n");
  LibraryPaths paths;
  paths.root = root_;
  paths.cuda_runtimes = {};
  paths.nccl = "libno-such-nccl.so";
  const LibraryFacts facts = ReadLibraries(paths, {{"CONDA_PREFIX", "/env"}});
  EXPECT_EQ(facts.torch_version, "1.13.1");
  EXPECT_EQ(facts.torch_cuda, "");
}

TEST_F(ReadTreeTest, MemoryAndTheLimitsOfControlGroupsOfVersion2) {
  Plant(
      "/proc/meminfo",
      "MemTotal:       1048576 kB\nMemFree: 1 kB\nMemAvailable:    524288 kB\n"
      "SwapTotal: 4096 kB\nSwapFree: 1024 kB\n");
  Plant("/proc/self/cgroup", "0::/jobs/a\n");
  Plant("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  Plant("/sys/fs/cgroup/jobs/memory.max", "1000000\n");
  Plant("/sys/fs/cgroup/jobs/memory.current", "400000\n");
  Plant("/sys/fs/cgroup/jobs/cpu.max", "250000 100000\n");
  Plant("/sys/fs/cgroup/jobs/a/memory.max", "max\n");
  Plant("/sys/fs/cgroup/jobs/a/cpu.max", "max 100000\n");
  Plant("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const HostFacts facts = ReadHost(root_);
  EXPECT_EQ(facts.memory, int64_t{1} << 30);
  EXPECT_EQ(facts.memory_available, int64_t{1} << 29);
  EXPECT_EQ(facts.swap_used, 3072 << 10);
  EXPECT_EQ(facts.memory_limit, 1000000);
  EXPECT_EQ(facts.memory_in_use, 400000);
  EXPECT_EQ(facts.quota_cores, 2.5);
  EXPECT_EQ(facts.governor, "powersave");
  EXPECT_GT(facts.own_cores, 0);
}

TEST_F(ReadTreeTest, TheLimitsOfControlGroupsOfVersion1) {
  Plant("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/gone\n");
  Plant("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
  Plant("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000000\n");
  Plant("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  Plant("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  HostFacts facts = ReadHost(root_);
  EXPECT_EQ(facts.memory_limit, 2000000);
  EXPECT_EQ(facts.memory_in_use, 1000000);
  EXPECT_EQ(facts.quota_cores, 0);
  Plant("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  facts = ReadHost(root_);
  EXPECT_EQ(facts.memory_limit, 0);
}

TEST_F(ReadTreeTest, AnEmptyTreeIsNoTrouble) {
  const HostFacts facts = ReadHost(root_);
  EXPECT_EQ(facts.memory, 0);
  EXPECT_EQ(facts.memory_limit, 0);
  EXPECT_EQ(facts.governor, "");
}

TEST_F(ReadTreeTest, FoldersAndTheNearestOneAboveThem) {
  const Instant deadline = MonotonicNow() + std::chrono::seconds(30);
  FolderFacts facts = ReadFolder("logs", root_ + "/not/there/yet", deadline);
  EXPECT_EQ(facts.error, "");
  EXPECT_EQ(facts.purpose, "logs");
  EXPECT_EQ(facts.path, root_ + "/not/there/yet");
  EXPECT_EQ(facts.above, root_);
  EXPECT_TRUE(facts.writable);
  EXPECT_GT(facts.total, 0);
  Plant("/file", "");
  EXPECT_EQ(ReadFolder("logs", root_, deadline).above, "");
  facts = ReadFolder("logs", root_ + "/file", deadline);
  EXPECT_THAT(facts.error, HasSubstr("is no folder"));
}

TEST(MountInfo, AReadOnlyMountOfAWritableFileSystem) {
  EXPECT_TRUE(IsWritableByMountInfo(
      "36 35 98:0 / / ro,noatime master:1 - overlay overlay rw,lowerdir=/a"));
  EXPECT_FALSE(IsWritableByMountInfo(
      "36 35 98:0 / / rw,noatime master:1 - ext4 /dev/sda1 ro,errors=remount"));
  EXPECT_FALSE(IsWritableByMountInfo("36 35 98:0 / / ro - ext4 /dev/rw ro"));
  EXPECT_FALSE(IsWritableByMountInfo("36 35 98:0 / / ro - ext4"));
  EXPECT_FALSE(IsWritableByMountInfo(""));
}

TEST_F(ReadTreeTest, FabricPortsAndTheRangeOfPorts) {
  Plant("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  Plant("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
  Plant("/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  Plant("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
  const NetworkFacts facts =
      ReadNetwork(root_, {}, MonotonicNow() + std::chrono::seconds(10));
  ASSERT_THAT(facts.fabric, SizeIs(2));
  EXPECT_EQ(facts.fabric[0].device, "mlx5_0");
  EXPECT_EQ(facts.fabric[0].state, "ACTIVE");
  EXPECT_EQ(facts.fabric[0].layer, "InfiniBand");
  EXPECT_EQ(facts.fabric[1].state, "DOWN");
  EXPECT_EQ(facts.ephemeral_first, 32768);
  EXPECT_EQ(facts.ephemeral_last, 60999);
  EXPECT_FALSE(facts.host_name.empty());
}

TEST_F(ReadTreeTest, SmallFilesAreBounded) {
  Plant("/long", std::string(10000, 'x'));
  EXPECT_EQ(ReadWord(root_ + "/long").size(), 4096u);
  EXPECT_EQ(ReadWord(root_ + "/none"), "");
  ASSERT_EQ(mkfifo((root_ + "/pipe").c_str(), 0600), 0);
  // A named pipe without a writer does not block the read.
  EXPECT_EQ(ReadWord(root_ + "/pipe"), "");
  Plant("/number", "  42 kB");
  EXPECT_EQ(ReadCount(root_ + "/number"), 42);
  Plant("/number", "99999999999999999999");
  EXPECT_EQ(ReadCount(root_ + "/number"), std::nullopt);
}

}  // namespace
}  // namespace muster::agent
