#include "agent/health/examine_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

FolderFacts Folder(int64_t total, int64_t free) {
  FolderFacts folder;
  folder.purpose = "logs";
  folder.path = "/logs";
  folder.writable = true;
  folder.total = total;
  folder.free = free;
  folder.files = 1'000'000;
  folder.files_free = 900'000;
  return folder;
}

GpuDevice HealthyGpu(int index) {
  GpuDevice gpu;
  gpu.index = index;
  gpu.uuid = "GPU-" + std::string(1, static_cast<char>('a' + index));
  gpu.name = "NVIDIA H100";
  gpu.pci_address = "0000:3" + std::to_string(index) + ":00.0";
  gpu.memory_total = 80 * kGiB;
  gpu.memory_used = 512 * kMiB;
  gpu.uncorrectable_errors = 0;
  gpu.retirement_pending = false;
  gpu.remapped_rows = RemappedRows();
  gpu.clock_limits = ClockLimit::kIdle;
  gpu.temperature = 40;
  gpu.persistent = true;
  gpu.mig = false;
  gpu.mig_pending = false;
  gpu.compute_mode = ComputeMode::kDefault;
  gpu.pcie = PcieLink{16, 16, 5, 5};
  gpu.links_up = {0, 1, 2, 3};
  return gpu;
}

// The facts of a healthy node.
NodeFacts Healthy() {
  NodeFacts facts;
  facts.version = "1.2.3";
  facts.gpus.state = GpuFacts::State::kRead;
  facts.gpus.driver_version = "550.54.15";
  facts.gpus.driver_cuda = 12040;
  for (int i = 0; i < 4; ++i) facts.gpus.devices.push_back(HealthyGpu(i));
  facts.gpus.pairs = {{0, 1, 0, 20}, {2, 3, 0, 20}};
  facts.surroundings.kernel_log_read = true;
  facts.surroundings.visible_devices = 4;
  facts.libraries = {"550.54.15", 12040, "2.21.5", "2.5.1", "12.4", "2.21.5"};
  facts.network.host_name = "node1";
  facts.network.forward = {"10.0.0.1"};
  facts.network.reverse = {{"10.0.0.1", "node1.cluster"}};
  facts.network.interfaces = {{"lo", true, true, {"127.0.0.1"}},
                              {"eth0", true, false, {"10.0.0.1"}},
                              {"eth1", false, false, {}}};
  facts.network.fabric = {{"mlx5_0", 1, "ACTIVE", "InfiniBand"}};
  facts.network.ports = {{29400, ""}, {29500, ""}};
  facts.network.ephemeral_first = 32768;
  facts.network.ephemeral_last = 60999;
  facts.host.kernel = "6.1.0";
  facts.host.cores = 64;
  facts.host.own_cores = 64;
  facts.host.memory = 512 * kGiB;
  facts.host.memory_available = 500 * kGiB;
  facts.host.shm = Folder(256 * kGiB, 250 * kGiB);
  facts.host.open_files = 65536;
  facts.host.max_open_files = 1 << 20;
  facts.host.processes = -1;
  facts.host.locked_memory = -1;
  facts.host.governor = "performance";
  facts.host.clock_synchronised = true;
  facts.folders = {Folder(1000 * kGiB, 900 * kGiB)};
  CoordinatorFacts coordinator;
  coordinator.endpoint = "node0:29400";
  coordinator.local_address = "10.0.0.1";
  coordinator.seen_address = "10.0.0.1";
  coordinator.version = "1.2.3";
  coordinator.clock_ahead = std::chrono::milliseconds(3);
  coordinator.round_trip = std::chrono::milliseconds(2);
  facts.coordinator = coordinator;
  return facts;
}

std::vector<std::string> Troubles(const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::kOk) ids.push_back(finding.id);
  }
  return ids;
}

std::string WhatOf(const std::vector<Finding>& findings,
                   const std::string& id) {
  for (const Finding& finding : findings) {
    if (finding.id == id) return finding.what;
  }
  return "";
}

TEST(ExamineNode, AHealthyNodeHasNoTrouble) {
  const std::vector<Finding> findings = ExamineNode(Healthy());
  EXPECT_THAT(Troubles(findings), IsEmpty());
  EXPECT_EQ(WhatOf(findings, "gpus"), "4 x NVIDIA H100 80.0 GiB");
  EXPECT_EQ(WhatOf(findings, "links"), "4 NVLinks on each GPU");
  EXPECT_EQ(WhatOf(findings, "network"), "node1, 10.0.0.1 (eth0)");
  EXPECT_EQ(WhatOf(findings, "versions"),
            "muster 1.2.3, kernel 6.1.0, driver 550.54.15 (CUDA 12.4), CUDA "
            "12.4, NCCL 2.21.5, PyTorch 2.5.1 (CUDA 12.4, NCCL 2.21.5)");
  EXPECT_EQ(WhatOf(findings, "coordinator"),
            "node0:29400 answers in 2.0 ms and sees this node as 10.0.0.1");
  EXPECT_THAT(WhatOf(findings, "machine"),
              HasSubstr("a coordinator here takes 1048512 nodes"));
}

// A test case: `spoil` adds a fault to the facts of a healthy node. The fault
// must cause exactly one finding, with the id `id` and with `word` in its text.
struct Case {
  const char* id;
  const char* word;
  std::function<void(NodeFacts&)> spoil;
};

CoordinatorFacts& Coordinator(NodeFacts& facts) { return *facts.coordinator; }
void Set(NodeFacts& facts, const char* name, const char* value) {
  facts.environment[name] = value;
}

const std::vector<Case>& Cases() {
  static const auto& cases = *new std::vector<Case>{
      {"nvml-mismatch", "the kernel's module is 550",
       [](NodeFacts& f) {
         f.gpus = GpuFacts();
         f.gpus.state = GpuFacts::State::kFailed;
         f.gpus.error_code = 18;
         f.gpus.error = "Driver/library version mismatch";
       }},
      {"driver-too-old", "PyTorch 2.5.1 is for CUDA 13.0",
       [](NodeFacts& f) { f.libraries.torch_cuda = "13.0"; }},
      {"toolkit-too-new", "libcudart",
       [](NodeFacts& f) { f.libraries.runtime_cuda = 13000; }},
      {"cuda-minor", "12.8",
       [](NodeFacts& f) { f.libraries.runtime_cuda = 12080; }},
      {"nccl-two", "2.20.1, PyTorch's is 2.21.5",
       [](NodeFacts& f) { f.libraries.toolkit_nccl = "2.20.1"; }},
      {"nccl-missing", "",
       [](NodeFacts& f) {
         f.libraries.toolkit_nccl.clear();
         f.libraries.torch_nccl.clear();
       }},
      {"gpu-none", "",
       [](NodeFacts& f) {
         f.gpus = GpuFacts();
         f.surroundings.visible_devices = 0;
       }},
      {"gpu-none-shown", "shows no GPU",
       [](NodeFacts& f) {
         f.gpus.devices.clear();
         f.gpus.pairs.clear();
       }},
      {"gpu-too-few", "needs 5 GPUs here, and there are 4",
       [](NodeFacts& f) { f.gpus_needed = 5; }},
      {"gpu-no-library", "4 GPU devices",
       [](NodeFacts& f) { f.gpus = GpuFacts(); }},
      {"gpu-driver-failed", "Unknown Error",
       [](NodeFacts& f) {
         f.gpus = GpuFacts();
         f.gpus.state = GpuFacts::State::kFailed;
         f.gpus.error_code = 999;
         f.gpus.error = "Unknown Error";
       }},
      {"gpu-driver-hung", "",
       [](NodeFacts& f) {
         f.gpus = GpuFacts();
         f.gpus.state = GpuFacts::State::kHung;
       }},
      {"gpu-lost", "GPU 2 (0000:32:00.0): GPU is lost",
       [](NodeFacts& f) { f.gpus.devices[2].error = "GPU is lost"; }},
      {"gpu-prohibited", "GPU 1",
       [](NodeFacts& f) {
         f.gpus.devices[1].compute_mode = ComputeMode::kProhibited;
       }},
      {"gpu-models-mixed", "1 x NVIDIA A100 80.0 GiB, 3 x NVIDIA H100",
       [](NodeFacts& f) { f.gpus.devices[3].name = "NVIDIA A100"; }},
      {"gpu-models-mixed", "40.0 GiB",
       [](NodeFacts& f) { f.gpus.devices[3].memory_total = 40 * kGiB; }},
      {"gpu-in-use", "GPU 0: 10.0 GiB in use, by pid 77",
       [](NodeFacts& f) {
         f.gpus.devices[0].memory_used = 10 * kGiB;
         f.gpus.devices[0].processes = {{77, 9 * kGiB}};
       }},
      {"gpu-in-use", "cannot be seen",
       [](NodeFacts& f) { f.gpus.devices[0].memory_used = 10 * kGiB; }},
      {"gpu-ecc", "GPU 3: 2 memory errors",
       [](NodeFacts& f) { f.gpus.devices[3].uncorrectable_errors = 2; }},
      {"gpu-remap-failed", "GPU 1",
       [](NodeFacts& f) { f.gpus.devices[1].remapped_rows->failed = true; }},
      {"gpu-reset-pending", "GPUs 1-2",
       [](NodeFacts& f) {
         f.gpus.devices[1].remapped_rows->pending = true;
         f.gpus.devices[2].retirement_pending = true;
       }},
      {"gpu-xid", "GPU 3: XID 79 (2 times)",
       [](NodeFacts& f) {
         f.surroundings.xids = {{"0000:33:00", 79, std::chrono::hours(2)},
                                {"0000:33:00", 79, std::chrono::hours(1)}};
       }},
      {"gpu-xid-application", "GPU at 0000:99:00: XID 31",
       [](NodeFacts& f) {
         f.surroundings.xids = {{"0000:99:00", 31, std::chrono::hours(2)}};
       }},
      {"gpu-log-unread", "",
       [](NodeFacts& f) { f.surroundings.kernel_log_read = false; }},
      {"gpu-throttled", "GPU 0: held down by heat at 91 C",
       [](NodeFacts& f) {
         f.gpus.devices[0].clock_limits = ClockLimit::kHardwareThermal;
         f.gpus.devices[0].temperature = 91;
       }},
      {"gpu-mig-mixed", "GPU 0: divided (MIG), and GPUs 1-3 not",
       [](NodeFacts& f) {
         f.gpus.devices[0].mig = true;
         f.gpus.devices[0].mig_pending = true;
         f.gpus.devices[0].mig_instances = 2;
       }},
      {"gpu-mig-pending", "GPU 2",
       [](NodeFacts& f) { f.gpus.devices[2].mig_pending = true; }},
      {"gpu-persistence-off", "GPUs 0, 2",
       [](NodeFacts& f) {
         f.gpus.devices[0].persistent = false;
         f.gpus.devices[2].persistent = false;
       }},
      {"nvlink-down", "GPU 1: down of its 4 NVLinks: 3",
       [](NodeFacts& f) {
         f.gpus.devices[1].links_up = {0, 1, 2};
         f.gpus.devices[1].links_down = {3};
       }},
      {"gpu-no-peers", "GPUs 0-1 can",
       [](NodeFacts& f) { f.gpus.pairs[0].peer_status = 1; }},
      {"gpu-no-peers", "no two GPUs",
       [](NodeFacts& f) {
         for (GpuPair& pair : f.gpus.pairs) pair.peer_status = 4;
       }},
      {"pcie-narrow", "GPU 0: 8 of 16",
       [](NodeFacts& f) { f.gpus.devices[0].pcie->width = 8; }},
      {"pcie-slow", "generation 3 of 5",
       [](NodeFacts& f) {
         f.gpus.devices[0].clock_limits = 0;
         f.gpus.devices[0].pcie->generation = 3;
       }},
      {"pcie-acs", "GPU 1",
       [](NodeFacts& f) {
         f.surroundings.paths = {{"0000:30:00.0", {}},
                                 {"0000:31:00.0", {"0000:00:01.0"}}};
       }},
      {"cuda-visible-missing", "names 4, x; there are 4",
       [](NodeFacts& f) { Set(f, "CUDA_VISIBLE_DEVICES", "0,4,x"); }},
      {"cuda-visible-missing", "GPU-z",
       [](NodeFacts& f) { Set(f, "CUDA_VISIBLE_DEVICES", "GPU-a,GPU-z"); }},
      {"cuda-visible-twice", "names 1 twice",
       [](NodeFacts& f) { Set(f, "CUDA_VISIBLE_DEVICES", "1,0,1"); }},
      {"cuda-visible-empty", "hides all 4",
       [](NodeFacts& f) { Set(f, "CUDA_VISIBLE_DEVICES", ""); }},
      {"nccl-interface-missing", "lo, eth0",
       [](NodeFacts& f) { Set(f, "NCCL_SOCKET_IFNAME", "ib,bond0"); }},
      {"nccl-interface-missing", "=eth",
       [](NodeFacts& f) { Set(f, "NCCL_SOCKET_IFNAME", "=eth"); }},
      {"nccl-interface-missing", "eth1",
       [](NodeFacts& f) { Set(f, "NCCL_SOCKET_IFNAME", "eth1"); }},
      {"nccl-interface-loopback", "leaves only lo",
       [](NodeFacts& f) { Set(f, "NCCL_SOCKET_IFNAME", "^eth"); }},
      {"nccl-interface-loopback", "GLOO_SOCKET_IFNAME=lo",
       [](NodeFacts& f) { Set(f, "GLOO_SOCKET_IFNAME", "lo"); }},
      {"gloo-interface-missing", "eth is not among",
       [](NodeFacts& f) { Set(f, "GLOO_SOCKET_IFNAME", "eth0,eth"); }},
      {"nccl-ib-disabled", "mlx5_0",
       [](NodeFacts& f) { Set(f, "NCCL_IB_DISABLE", "1"); }},
      {"nccl-hca-missing", "fits none of mlx5_0",
       [](NodeFacts& f) { Set(f, "NCCL_IB_HCA", "mlx5_1:1"); }},
      {"nccl-p2p-disabled", "NCCL_P2P_DISABLE",
       [](NodeFacts& f) { Set(f, "NCCL_P2P_DISABLE", "1"); }},
      {"nccl-p2p-disabled", "NCCL_SHM_DISABLE",
       [](NodeFacts& f) { Set(f, "NCCL_SHM_DISABLE", "1"); }},
      {"nccl-debug", "INFO",
       [](NodeFacts& f) { Set(f, "NCCL_DEBUG", "info"); }},
      {"nccl-unknown", "is NCCL_SOCKET_IFNAME meant?",
       [](NodeFacts& f) { Set(f, "NCCL_SOKET_IFNAME", "eth0"); }},
      {"name-loopback", "node1 resolves to 127.0.1.1",
       [](NodeFacts& f) { f.network.forward = {"127.0.1.1"}; }},
      {"name-unresolved", "does not",
       [](NodeFacts& f) {
         f.network.forward.clear();
         f.network.forward_error = "the name node1 does not resolve";
       }},
      {"name-reverse", "10.0.0.1 to other.cluster",
       [](NodeFacts& f) { f.network.reverse["10.0.0.1"] = "other.cluster"; }},
      {"name-reverse", "10.0.0.1 to no name",
       [](NodeFacts& f) { f.network.reverse["10.0.0.1"] = ""; }},
      {"network-none", "",
       [](NodeFacts& f) { f.network.interfaces.resize(1); }},
      {"fabric-port-down", "mlx5_0 port 1 (InfiniBand) is DOWN",
       [](NodeFacts& f) { f.network.fabric[0].state = "DOWN"; }},
      {"port-busy", "port 29500: in use",
       [](NodeFacts& f) { f.network.ports[1].error = "in use"; }},
      {"port-range-small", "40000 to 41000",
       [](NodeFacts& f) {
         f.network.ephemeral_first = 40000;
         f.network.ephemeral_last = 41000;
       }},
      {"port-in-range", "29400, 29500 within 1024",
       [](NodeFacts& f) { f.network.ephemeral_first = 1024; }},
      {"coordinator-unreachable", "refused",
       [](NodeFacts& f) { Coordinator(f).error = "connection refused"; }},
      {"coordinator-token", "no such file",
       [](NodeFacts& f) { Coordinator(f).token_error = "no such file"; }},
      {"coordinator-translated", "sees 172.16.0.9",
       [](NodeFacts& f) { Coordinator(f).seen_address = "172.16.0.9"; }},
      {"coordinator-other-address", "peers dial 10.9.0.1, the coordinator sees",
       [](NodeFacts& f) { Coordinator(f).advertised_address = "10.9.0.1"; }},
      {"coordinator-version", "1.0.0",
       [](NodeFacts& f) { Coordinator(f).version = "1.0.0"; }},
      {"clock-skew", "is 7.0 s behind",
       [](NodeFacts& f) {
         Coordinator(f).clock_ahead = -std::chrono::seconds(7);
       }},
      {"shm-missing", "no such",
       [](NodeFacts& f) { f.host.shm->error = "no such folder"; }},
      {"shm-tiny", "64 MiB",
       [](NodeFacts& f) { f.host.shm = Folder(64 * kMiB, 64 * kMiB); }},
      {"shm-small", "512 MiB",
       [](NodeFacts& f) { f.host.shm = Folder(512 * kMiB, 500 * kMiB); }},
      {"shm-full", "10 MiB of it free",
       [](NodeFacts& f) { f.host.shm->free = 10 * kMiB; }},
      {"memory-low", "of 512.0 GiB memory are free",
       [](NodeFacts& f) { f.host.memory_available = kGiB; }},
      {"memory-low", "uses 31.9 GiB",
       [](NodeFacts& f) {
         f.host.memory_limit = 32 * kGiB;
         f.host.memory_in_use = 32 * kGiB - 100 * kMiB;
       }},
      {"memory-limit", "32.0 GiB of 512.0 GiB",
       [](NodeFacts& f) { f.host.memory_limit = 32 * kGiB; }},
      {"swapping", "2.0 GiB",
       [](NodeFacts& f) { f.host.swap_used = 2 * kGiB; }},
      {"cpu-quota", "the time of 8.0 cores on 64",
       [](NodeFacts& f) { f.host.quota_cores = 8; }},
      {"cpu-powersave", "",
       [](NodeFacts& f) { f.host.governor = "powersave"; }},
      {"open-files-low", "1024 files may be open, at most 1048576",
       [](NodeFacts& f) { f.host.open_files = 1024; }},
      {"processes-low", "1000", [](NodeFacts& f) { f.host.processes = 1000; }},
      {"memlock-low", "8 MiB may be locked, with mlx5_0",
       [](NodeFacts& f) { f.host.locked_memory = 8 * kMiB; }},
      {"clock-unsynchronised", "",
       [](NodeFacts& f) { f.host.clock_synchronised = false; }},
      {"disk-unusable", "/logs (logs): does not answer",
       [](NodeFacts& f) { f.folders[0].error = "does not answer"; }},
      {"disk-not-there", "/logs (checkpoints) is not there; / above it has 900",
       [](NodeFacts& f) {
         f.folders[0].purpose = "checkpoints";
         f.folders[0].above = "/";
       }},
      {"disk-no-space-told", "/logs (logs): the file system",
       [](NodeFacts& f) { f.folders[0].total = f.folders[0].free = 0; }},
      {"disk-read-only", "/logs",
       [](NodeFacts& f) {
         f.folders[0].read_only = true;
         f.folders[0].writable = false;
       }},
      {"disk-mounted-read-only", "/logs (logs): mounted read-only",
       [](NodeFacts& f) {
         f.folders[0].read_only = f.folders[0].mounted_read_only = true;
         f.folders[0].writable = false;
       }},
      {"disk-not-writable", "/logs",
       [](NodeFacts& f) { f.folders[0].writable = false; }},
      {"disk-full", "100 MiB free",
       [](NodeFacts& f) { f.folders[0].free = 100 * kMiB; }},
      {"disk-low", "10.0 GiB free",
       [](NodeFacts& f) { f.folders[0].free = 10 * kGiB; }},
      {"disk-inodes", "room for 5 more",
       [](NodeFacts& f) { f.folders[0].files_free = 5; }},
  };
  return cases;
}

TEST(ExamineNode, EachTroubleMakesItsOneFinding) {
  for (const Case& one : Cases()) {
    NodeFacts facts = Healthy();
    one.spoil(facts);
    const std::vector<Finding> findings = ExamineNode(facts);
    EXPECT_THAT(Troubles(findings), ElementsAre(one.id));
    EXPECT_THAT(WhatOf(findings, one.id), HasSubstr(one.word)) << one.id;
  }
}

TEST(ExamineNode, EveryKindIsFound) {
  std::set<std::string> found;
  for (const Case& one : Cases()) found.insert(one.id);
  for (const FindingKind& kind : FindingKinds()) {
    if (kind.severity == Severity::kOk || kind.group == FindingGroup::kNodes) {
      continue;
    }
    EXPECT_EQ(found.count(kind.id), 1u) << kind.id << " has no case";
  }
}

TEST(FindingKinds, AreCompleteAndDistinct) {
  std::set<std::string> ids;
  for (const FindingKind& kind : FindingKinds()) {
    EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
    EXPECT_STRNE(kind.meaning, "") << kind.id;
    EXPECT_EQ(std::string(kind.remedy).empty(), kind.severity == Severity::kOk)
        << kind.id;
    if (*kind.check != '\0') {
      EXPECT_EQ(kind.severity, Severity::kError) << kind.id;
    }
  }
}

TEST(ExamineEnvironment, ValidVariablesHaveNoFinding) {
  NodeFacts facts = Healthy();
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{
           {"CUDA_VISIBLE_DEVICES", " 1 , 0"},
           {"CUDA_VISIBLE_DEVICES", "GPU-b,GPU-a"},
           {"CUDA_VISIBLE_DEVICES", "MIG-1,MIG-2"},
           {"NCCL_SOCKET_IFNAME", "eth"},
           {"NCCL_SOCKET_IFNAME", "=eth0"},
           {"NCCL_SOCKET_IFNAME", "^lo,docker"},
           {"NCCL_IB_HCA", "mlx5"},
           {"NCCL_IB_HCA", "^=mlx5_1"},
           {"NCCL_IB_DISABLE", "0"},
           {"NCCL_DEBUG", "WARN"},
           {"NCCL_VERSION", "2.21.5"},
           {"NCCL_FASTRAK_IFNAME", "eth0"},
           {"NCCL_MY_SITE_OWN_THING_ENTIRELY", "1"},
           {"GLOO_SOCKET_IFNAME", "eth0"}}) {
    facts.environment = {{name, value}};
    EXPECT_THAT(Troubles(ExamineEnvironment(facts)), IsEmpty())
        << name << "=" << value;
  }
}

TEST(OnlyVisible, KeepsNamedGpusAndAllIfNoneIsKnown) {
  const GpuFacts all = Healthy().gpus;
  EXPECT_EQ(OnlyVisible(std::nullopt, all).devices.size(), 4u);
  EXPECT_EQ(OnlyVisible("MIG-3", all).devices.size(), 4u);
  EXPECT_EQ(OnlyVisible("", all).devices.size(), 4u);
  const GpuFacts two = OnlyVisible("GPU-d,GPU-a", all);
  ASSERT_EQ(two.devices.size(), 2u);
  EXPECT_EQ(two.devices[0].index, 0);
  EXPECT_EQ(two.devices[1].index, 3);
}

TEST(ExamineGpus, OldErrorsAndIdleLinksAreNotReported) {
  NodeFacts facts = Healthy();
  facts.surroundings.xids = {{"0000:33:00", 79, std::chrono::hours(25)}};
  // idle PCIe links run at a lower generation, so this is no problem
  facts.gpus.devices[0].pcie->generation = 1;
  facts.gpus.devices[1].clock_limits =
      // the power limit reduces the clocks, which is no problem
      ClockLimit::kPowerCap;
  EXPECT_THAT(Troubles(ExamineNode(facts)), IsEmpty());
}

TEST(ExamineNode, AFolderOfLogsIsMadeWhereItIsNotThere) {
  NodeFacts facts = Healthy();
  facts.folders[0].above = "/";
  EXPECT_THAT(Troubles(ExamineNode(facts)), IsEmpty());
  EXPECT_THAT(WhatOf(ExamineNode(facts), "disks"),
              HasSubstr("/logs (logs) is not there; / above it has 900.0 GiB"));
}

TEST(ExamineNode, ANodeWithoutFabricMayLockLittle) {
  NodeFacts facts = Healthy();
  facts.network.fabric.clear();
  facts.host.locked_memory = 64 << 10;
  EXPECT_THAT(Troubles(ExamineNode(facts)), IsEmpty());
}

std::vector<std::string> Ids(const CoordinatorFacts& coordinator) {
  std::vector<std::string> ids;
  for (const Finding& finding : ExamineCoordinator(coordinator, "1.0")) {
    ids.push_back(finding.id);
  }
  return ids;
}

CoordinatorFacts SeenAs(const std::string& seen,
                        const std::string& advertised) {
  CoordinatorFacts coordinator;
  coordinator.endpoint = "node0:29400";
  coordinator.local_address = "10.0.0.1";
  coordinator.seen_address = seen;
  coordinator.advertised_address = advertised;
  return coordinator;
}

TEST(ExamineCoordinator, PeersDialTheAddressThatItSees) {
  EXPECT_THAT(Ids(SeenAs("10.0.0.1", "10.0.0.1")), ElementsAre("coordinator"));
  EXPECT_THAT(Ids(SeenAs("10.0.0.1", "")), ElementsAre("coordinator"));
}

TEST(ExamineCoordinator, PeersDialAnotherAddress) {
  const auto findings =
      ExamineCoordinator(SeenAs("10.0.0.1", "10.9.0.1"), "1.0");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].id, "coordinator-other-address");
  EXPECT_EQ(findings[1].severity, Severity::kNote);
  EXPECT_THAT(findings[1].what,
              HasSubstr("peers dial 10.9.0.1, the coordinator sees this node "
                        "as 10.0.0.1"));
}

TEST(ExamineCoordinator, TranslatedAddressIsReportedOnce) {
  EXPECT_THAT(Ids(SeenAs("172.16.0.9", "10.0.0.1")),
              ElementsAre("coordinator", "coordinator-translated"));
  EXPECT_THAT(Ids(SeenAs("172.16.0.9", "172.16.0.9")),
              ElementsAre("coordinator", "coordinator-translated"));
}

TEST(ExamineCoordinator, LocalCoordinatorSeesALoopbackAddress) {
  CoordinatorFacts coordinator = SeenAs("127.0.0.1", "10.0.0.1");
  coordinator.local_address = "127.0.0.1";
  EXPECT_THAT(Ids(coordinator), ElementsAre("coordinator"));
}

TEST(ExamineCoordinator, CoordinatorWithFewFactsIsOk) {
  CoordinatorFacts coordinator = SeenAs("", "");
  auto findings = ExamineCoordinator(coordinator, "1.0");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].what,
            "node0:29400 answers; this node speaks to it from 10.0.0.1");
  coordinator.wants_token = true;
  findings = ExamineCoordinator(coordinator, "1.0");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kOk);
  EXPECT_THAT(findings[0].what, HasSubstr("wants the job's token"));
}

std::vector<std::string> Ids(const FolderFacts& folder) {
  std::vector<std::string> ids;
  for (const Finding& finding : ExamineDisks({folder})) {
    ids.push_back(finding.id);
  }
  return ids;
}

FolderFacts ReadOnly(const std::string& purpose) {
  FolderFacts folder;
  folder.purpose = purpose;
  folder.path = ".";
  folder.total = folder.free = int64_t{1} << 40;
  folder.read_only = true;
  return folder;
}

TEST(ExamineDisks, AContainersReadOnlyRootIsNoTroubleAsWorkingFolder) {
  FolderFacts root = ReadOnly(kWorkingPurpose);
  root.mounted_read_only = true;
  // The disk has no free space. This must not add a finding: `root` is a
  // read-only folder, so nothing can be written to it anyway.
  root.free = 0;
  EXPECT_THAT(Ids(root), ElementsAre("working-folder-read-only"));
  EXPECT_EQ(ExamineDisks({root})[0].severity, Severity::kOk);
}

TEST(ExamineDisks, AWorkingFolderThatTheKernelMadeReadOnlyIsTrouble) {
  EXPECT_THAT(Ids(ReadOnly(kWorkingPurpose)),
              ElementsAre("disks", "disk-read-only"));
}

TEST(ExamineDisks, FoldersThatTakeFilesMustBeWritable) {
  FolderFacts logs = ReadOnly(kLogsPurpose);
  logs.mounted_read_only = true;
  EXPECT_THAT(Ids(logs), ElementsAre("disks", "disk-mounted-read-only"));
}

}  // namespace
}  // namespace muster::agent
