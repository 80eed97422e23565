#include "agent/health/finding.h"
#include "base/check.h"

namespace muster::agent {
namespace {

using enum Severity;
using enum FindingGroup;

constexpr FindingKind kKinds[] = {
    {"versions", kOk, kVersions,
     "Kernel, driver, CUDA, NCCL and PyTorch as they were found. PyTorch is "
     "that of VIRTUAL_ENV, CONDA_PREFIX or the first python3 in PATH.",
     "", ""},
    {"nvml-mismatch", kError, kVersions,
     "The driver's libraries and its kernel module are of different versions: "
     "the driver was updated and the old module is still loaded, or a "
     "container brings libraries of another host.",
     "Reboot the node, or unload and load the nvidia modules; in a container, "
     "let the container toolkit mount the host's libraries.",
     "gpu"},
    {"driver-too-old", kError, kVersions,
     "PyTorch's CUDA runtime is of a newer major version than the driver "
     "supports: CUDA calls fail with \"driver version is insufficient\".",
     "Update the driver, install cuda-compat, or use a build of PyTorch for an "
     "older CUDA.",
     ""},
    {"toolkit-too-new", kWarning, kVersions,
     "The CUDA toolkit that is installed is of a newer major version than the "
     "driver supports: programs that are linked to it fail with \"driver "
     "version is insufficient\". PyTorch brings a runtime of its own.",
     "Where programs use the toolkit: update the driver, or install an older "
     "toolkit.",
     ""},
    {"cuda-minor", kNote, kVersions,
     "The CUDA runtime is newer than the driver within one major version. Most "
     "programs work; kernels that are compiled at their first use (PTX) may "
     "not.",
     "Update the driver if kernels fail with \"unsupported PTX\".", ""},
    {"nccl-two", kWarning, kVersions,
     "The system's NCCL and the one that PyTorch brings differ. Which one a "
     "process gets depends on LD_LIBRARY_PATH, and ranks with different ones "
     "fail or hang.",
     "Take the system's folder out of LD_LIBRARY_PATH, or make the versions "
     "equal.",
     ""},
    {"nccl-missing", kNote, kVersions,
     "There are GPUs, and no NCCL was found, neither libnccl.so.2 nor "
     "PyTorch's.",
     "Install NCCL, or name its file with MUSTER_NCCL_LIBRARY.", ""},

    {"gpus", kOk, kGpus, "The GPUs of this node.", "", ""},
    {"gpu-none", kNote, kGpus,
     "No NVIDIA driver is loaded: workers run on CPUs.",
     "Where there should be GPUs: load the driver (nvidia-smi shows them), or "
     "ask the cluster for GPUs.",
     ""},
    {"gpu-none-shown", kError, kGpus,
     "The driver is loaded and shows no GPU: all have fallen off the bus, or "
     "the cluster or the container has given none to this process.",
     "Look at the kernel's log (dmesg) for NVRM and reboot the node; or ask "
     "the cluster or the container for GPUs (--gres, --gpus).",
     "gpu"},
    {"gpu-too-few", kError, kGpus,
     "There are fewer GPUs than the job's workers need, as counted by --gpus, "
     "--nproc-per-node=gpu or CUDA_VISIBLE_DEVICES when the agent started. "
     "Only --health-checks reports it.",
     "Load the driver, or look at the kernel's log (dmesg) for NVRM and "
     "reboot the node.",
     "gpu"},
    {"gpu-no-library", kError, kGpus,
     "/dev has GPU devices, but libnvidia-ml.so.1 cannot be loaded: a "
     "container "
     "without the driver's libraries.",
     "Start the container with the NVIDIA container toolkit (--gpus all, "
     "NVIDIA_DRIVER_CAPABILITIES=compute,utility).",
     "gpu"},
    {"gpu-driver-failed", kError, kGpus,
     "NVIDIA's management library fails for all GPUs, with the error that is "
     "shown.",
     "Look at the kernel's log (dmesg) for NVRM, then reset the GPUs or reboot "
     "the node.",
     "gpu"},
    {"gpu-driver-hung", kError, kGpus,
     "NVIDIA's management library does not answer: the driver hangs, and so "
     "will everything that uses a GPU.",
     "Drain the node and reboot it; keep the kernel's log for NVIDIA.", "gpu"},
    {"gpu-lost", kError, kGpus,
     "A GPU does not answer any more: it has fallen off the bus, or needs a "
     "reset.",
     "Drain the node and reset the GPU or reboot; if it comes back, have the "
     "board, its power and its seat looked at.",
     "gpu"},
    {"gpu-prohibited", kError, kGpus,
     "A GPU's compute mode is Prohibited: no process may use it.",
     "nvidia-smi -i N -c DEFAULT", "gpu"},
    {"gpu-models-mixed", kWarning, kGpus,
     "The GPUs are of several models or sizes: the slowest GPU limits the "
     "speed, "
     "and the smallest one the batch size.",
     "Choose equal ones with --gpus or CUDA_VISIBLE_DEVICES.", ""},
    {"gpu-in-use", kWarning, kGpus,
     "Other processes use memory of a GPU: other programs, left-over processes "
     "of a killed job, or processes outside of this container.",
     "End the processes that are named (ps, nvidia-smi), or choose other "
     "GPUs.",
     ""},
    {"gpu-ecc", kError, kGpus,
     "A GPU has had memory errors that could not be corrected since its driver "
     "was loaded: results may have been wrong, and the next one ends a worker.",
     "Drain the node and reset the GPU; if errors come again, replace it.",
     "gpu"},
    {"gpu-remap-failed", kError, kGpus,
     "A GPU has no spare rows left to replace faulty memory.",
     "Replace the GPU.", "gpu"},
    {"gpu-reset-pending", kWarning, kGpus,
     "A GPU has found faulty memory, which its next reset will disable.",
     "Reset the GPU between two jobs (nvidia-smi -r -i N), or reboot.", ""},
    {"gpu-xid", kError, kGpus,
     "Within the last day the driver has logged errors of a GPU that come from "
     "the hardware or the driver (XID 48, 63, 64, 74, 79, 92, 94, 95, 119, "
     "120, "
     "140 and others).",
     "Look the number up in NVIDIA's XID catalogue; drain the node and reset "
     "the GPU, and run dcgmi diag before it trains again.",
     ""},
    {"gpu-xid-application", kNote, kGpus,
     "Within the last day the driver has logged errors of a GPU that a program "
     "caused (XID 13, 31, 43, 45, 68).",
     "Nothing, if the program is known: an illegal address, or a process that "
     "was killed.",
     ""},
    {"gpu-log-unread", kNote, kGpus,
     "The kernel's log cannot be read by this user, so errors that the driver "
     "logged (XID) are not known.",
     "Run it as root, or with kernel.dmesg_restrict=0.", ""},
    {"gpu-throttled", kWarning, kGpus,
     "A GPU's clocks are held down now, by heat, by the power supply or by the "
     "board.",
     "Look at cooling and power; nvidia-smi -q -d PERFORMANCE shows more.", ""},
    {"gpu-mig-mixed", kWarning, kGpus,
     "Some GPUs are divided (MIG) and others are not, or a divided one has no "
     "instances: workers get unequal devices, or none.",
     "Divide all in the same way, or none (nvidia-smi -mig 0).", ""},
    {"gpu-mig-pending", kNote, kGpus,
     "A GPU's MIG mode was changed and takes effect with its next reset.",
     "nvidia-smi --gpu-reset -i N", ""},
    {"gpu-persistence-off", kNote, kGpus,
     "Persistence mode is off: the driver starts a GPU anew for each first "
     "process, which takes seconds, and forgets settings.",
     "Run nvidia-persistenced, or nvidia-smi -pm 1.", ""},

    {"links", kOk, kLinks, "How the GPUs are connected.", "", ""},
    {"nvlink-down", kWarning, kLinks,
     "NVLinks of a GPU are inactive: collectives are slower, or use PCIe.",
     "Look for XID 74 and the fabric manager (systemctl status "
     "nvidia-fabricmanager); reset all GPUs of the node together.",
     ""},
    {"gpu-no-peers", kWarning, kLinks,
     "Pairs of GPUs cannot read each other's memory: NCCL copies through host "
     "memory.",
     "nvidia-smi topo -p2p r shows why; virtual machines and GeForce boards "
     "do not have it.",
     ""},
    {"pcie-narrow", kWarning, kLinks,
     "A GPU uses fewer PCIe lanes than it and its slot have.",
     "Seat the board or its riser anew; look at the slot's configuration in "
     "the firmware.",
     ""},
    {"pcie-slow", kNote, kLinks,
     "A busy GPU's PCIe link runs at a lower generation than it could. An idle "
     "one does so to save power, which is not reported.",
     "Look at the firmware's setting of the slot.", ""},
    {"pcie-acs", kNote, kLinks,
     "Access control (ACS) of PCIe bridges sends traffic between a GPU and its "
     "neighbours through the root complex, which costs bandwidth of "
     "peer-to-peer and GPUDirect.",
     "On bare metal switch ACS off in the firmware or with setpci; in a "
     "virtual "
     "machine it is needed.",
     ""},

    {"environment", kOk, kEnvironment,
     "Variables that steer CUDA, NCCL and Gloo.", "", ""},
    {"cuda-visible-missing", kError, kEnvironment,
     "CUDA_VISIBLE_DEVICES names a GPU that does not exist; CUDA ignores it "
     "and "
     "all GPUs after it.",
     "Name those that nvidia-smi -L shows, or unset it.", "gpu"},
    {"cuda-visible-twice", kError, kEnvironment,
     "CUDA_VISIBLE_DEVICES names a GPU twice: CUDA then shows no GPU.",
     "Name each once.", "gpu"},
    {"cuda-visible-empty", kWarning, kEnvironment,
     "CUDA_VISIBLE_DEVICES hides all GPUs.",
     "Unset it, if workers shall use GPUs.", ""},
    {"nccl-interface-missing", kError, kEnvironment,
     "NCCL_SOCKET_IFNAME fits no network interface of this node that is up: "
     "NCCL fails with \"no socket interface found\". Names are prefixes; = "
     "before them asks for exact ones, ^ excludes.",
     "Name an interface that ip -br addr shows, such as eth, or unset it.", ""},
    {"nccl-interface-loopback", kWarning, kEnvironment,
     "NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME selects only the loopback "
     "interface: ranks of other nodes cannot connect.",
     "Unset it for jobs of several nodes.", ""},
    {"gloo-interface-missing", kError, kEnvironment,
     "GLOO_SOCKET_IFNAME names an interface that is not there or not up: Gloo "
     "fails. Names are exact, several separated by commas.",
     "Name an interface that ip -br addr shows, or unset it.", ""},
    {"nccl-ib-disabled", kWarning, kEnvironment,
     "NCCL_IB_DISABLE=1 on a node with InfiniBand or RoCE: NCCL uses TCP.",
     "Unset it.", ""},
    {"nccl-hca-missing", kError, kEnvironment,
     "NCCL_IB_HCA fits no InfiniBand or RoCE device of this node. Names are "
     "prefixes; = before them asks for exact ones, ^ excludes, :N is a port.",
     "Name devices that ibv_devices shows, or unset it.", ""},
    {"nccl-p2p-disabled", kWarning, kEnvironment,
     "NCCL_P2P_DISABLE=1 or NCCL_SHM_DISABLE=1 disables NCCL's fast transports "
     "between GPUs of a node.",
     "Unset it, unless it works around a known defect.", ""},
    {"nccl-debug", kNote, kEnvironment,
     "NCCL_DEBUG=INFO or TRACE writes much, for every rank.",
     "Set it to WARN once the job runs; NCCL_DEBUG_FILE keeps it out of logs.",
     ""},
    {"nccl-unknown", kWarning, kEnvironment,
     "NCCL does not read a variable whose name begins with NCCL_, but reads "
     "one "
     "with a similar name: probably a misspelling, which has no effect.",
     "Correct the name, or unset it.", ""},

    {"network", kOk, kNetwork, "Names, addresses and interfaces.", "", ""},
    {"name-loopback", kWarning, kNetwork,
     "This host's own name resolves to a loopback address (Debian writes "
     "127.0.1.1 into /etc/hosts): programs that hand the name's address to "
     "peers, as PyTorch's and MPI's may, send them to themselves.",
     "Put the real address beside the name in /etc/hosts.", ""},
    {"name-unresolved", kWarning, kNetwork,
     "This host's own name does not resolve.",
     "Add it to the name service or to /etc/hosts.", ""},
    {"name-reverse", kNote, kNetwork,
     "An address of this node resolves to no name, or to a name that is not "
     "this host's. Muster does not need it; ssh, Kerberos and MPI may.",
     "Add the reverse record to the name service, if something needs it.", ""},
    {"network-none", kNote, kNetwork,
     "No interface but the loopback is up: only jobs of one node can run.",
     "In a container, give it a network.", ""},
    {"fabric-port-down", kWarning, kNetwork,
     "A port of an InfiniBand or RoCE device is not active: NCCL uses the "
     "others, or TCP.",
     "Look at cable, switch and subnet manager (ibstat).", ""},
    {"port-busy", kNote, kNetwork,
     "A default port is in use: a coordinator (29400) or another job's rank 0 "
     "(29500).",
     "Choose another port with --rdzv-endpoint HOST:PORT or --master-port, if "
     "it is not yours.",
     ""},
    {"port-range-small", kWarning, kNetwork,
     "The kernel gives few ports to outgoing connections; large jobs run out "
     "of them.",
     "sysctl net.ipv4.ip_local_port_range='32768 60999'", ""},
    {"port-in-range", kNote, kNetwork,
     "A default port lies within the range of outgoing connections, which may "
     "take it now and then.",
     "sysctl net.ipv4.ip_local_reserved_ports=29400,29500", ""},

    {"coordinator", kOk, kCoordinator,
     "The coordinator answers; the address is the one from which it sees this "
     "node.",
     "", ""},
    {"coordinator-unreachable", kError, kCoordinator,
     "The coordinator named by --endpoint does not answer.",
     "See that it runs (launch status on its host), and that a firewall lets "
     "its port through.",
     ""},
    {"coordinator-token", kError, kCoordinator,
     "The given token cannot be read, or the coordinator requires another one, "
     "so that it could not be checked.",
     "Name the job's token: a file with --token-file that this user may read, "
     "or MUSTER_TOKEN.",
     ""},
    {"coordinator-translated", kWarning, kCoordinator,
     "The coordinator sees this node from another address than the one it "
     "speaks from: addresses are translated in between (NAT), and peers may "
     "not reach the address that this node reports.",
     "Give an address that peers reach with --local-addr.", ""},
    {"coordinator-other-address", kNote, kCoordinator,
     "Peers dial this node at another address than the one from which the "
     "coordinator sees it: right where --local-addr chose a faster network.",
     "See that the address is of the network meant; otherwise leave out "
     "--local-addr.",
     ""},
    {"coordinator-version", kWarning, kCoordinator,
     "The coordinator is of another version than this program.",
     "Install the same version everywhere.", ""},
    {"clock-skew", kWarning, kCoordinator,
     "This node's clock differs from the coordinator's by seconds. Muster uses "
     "durations only; logs, certificates and file times need correct clocks.",
     "Synchronise both (chronyc tracking, timedatectl).", ""},

    {"machine", kOk, kMachine, "Cores, memory and limits.", "", ""},
    {"shm-missing", kError, kMachine,
     "There is no usable /dev/shm: PyTorch's data loaders and NCCL need it.",
     "Mount a tmpfs there; in a pod an emptyDir with medium: Memory.", "shm"},
    {"shm-tiny", kError, kMachine,
     "/dev/shm has less than 128 MiB, as containers have it by default: data "
     "loaders with workers die of SIGBUS, and NCCL cannot make its segments.",
     "docker run --shm-size=16g or --ipc=host; in a pod an emptyDir with "
     "medium: Memory at /dev/shm.",
     "shm"},
    {"shm-small", kWarning, kMachine, "/dev/shm is small: less than 1 GiB.",
     "Enlarge it: mount -o remount,size=50% /dev/shm.", ""},
    {"shm-full", kError, kMachine,
     "/dev/shm is nearly full: less than 64 MiB are free.",
     "Remove what ended jobs left there (ls -l /dev/shm).", "shm"},
    {"memory-low", kError, kMachine,
     "Hardly any memory is left, on this host or in this control group: the "
     "kernel will kill processes.",
     "End what holds it (ps --sort -rss), or ask for more.", "memory"},
    {"memory-limit", kNote, kMachine,
     "A control group limits memory below what the host has.",
     "Ask the cluster for more memory if workers are killed.", ""},
    {"swapping", kNote, kMachine,
     "More than 1 GiB of memory has been swapped out; reading it back is slow.",
     "Find out what needs so much memory; swapoff -a && swapon -a when it is "
     "gone.",
     ""},
    {"cpu-quota", kNote, kMachine,
     "A control group limits the processor time to fewer cores than this "
     "process "
     "may run on: programs with a thread for each core are throttled.",
     "Set OMP_NUM_THREADS to what the quota allows (launch does so), or ask "
     "for more cores.",
     ""},
    {"cpu-powersave", kNote, kMachine,
     "The cores' frequency governor is powersave. With Intel's own driver that "
     "is fine; with others it holds the clock down.",
     "cpupower frequency-set -g performance", ""},
    {"open-files-low", kWarning, kMachine,
     "The limit on open files is low. A coordinator needs one for each node, a "
     "worker "
     "several for each peer and data loader.",
     "ulimit -n 65536 (LimitNOFILE=, /etc/security/limits.conf).", ""},
    {"processes-low", kWarning, kMachine,
     "The limit on processes and threads is low: data loaders and NCCL's "
     "threads may fail.",
     "ulimit -u 65536 (TasksMax=, /etc/security/limits.conf).", ""},
    {"memlock-low", kError, kMachine,
     "The limit on locked memory is low on a node with InfiniBand or RoCE: "
     "registering buffers fails.",
     "ulimit -l unlimited (LimitMEMLOCK=infinity for the daemon that starts "
     "jobs; docker run --ulimit memlock=-1).",
     ""},
    {"clock-unsynchronised", kNote, kMachine,
     "No service synchronises the kernel's clock.",
     "Run chrony or systemd-timesyncd.", ""},

    {"disks", kOk, kDisks, "Folders that a job writes to.", "", ""},
    {"disk-unusable", kError, kDisks,
     "A path is not a folder, or its file system fails or does not answer (a "
     "network file system that lost its server).",
     "Name another folder; mount the file system anew.", "disk"},
    {"disk-not-there", kWarning, kDisks,
     "A folder does not exist. The reported space is that of the nearest "
     "folder "
     "above it, which may be on another file system.",
     "See whether its name is right and its file system is mounted, or make "
     "it.",
     ""},
    {"disk-no-space-told", kWarning, kDisks,
     "A file system reports no size: one of the kernel's own (/proc, /sys), "
     "which stores no files, or one that does not report it.",
     "Check the name; otherwise check the free space on the file server.", ""},
    {"working-folder-read-only", kOk, kDisks,
     "The working folder is mounted read-only, as a container's root often is. "
     "Scripts must write elsewhere.",
     "", ""},
    {"disk-mounted-read-only", kError, kDisks,
     "A folder to which files are written is mounted read-only, as a "
     "container's "
     "root often is.",
     "Name another folder; in a pod, mount a volume there.", "disk"},
    {"disk-read-only", kError, kDisks,
     "A file system is read-only: it was made so, or the kernel did that after "
     "errors.",
     "Name another folder; look at the kernel's log for errors of the disk.",
     "disk"},
    {"disk-not-writable", kError, kDisks,
     "This user may not write into a folder.",
     "Change its rights, or name another folder.", "disk"},
    {"disk-full", kError, kDisks, "A file system has less than 256 MiB left.",
     "Make room, or name another folder.", "disk"},
    {"disk-low", kWarning, kDisks,
     "A file system is more than 95% full and has less than 20 GiB left: a "
     "checkpoint may not fit.",
     "Make room, or name another folder.", ""},
    {"disk-inodes", kError, kDisks, "A file system has almost no free inodes.",
     "Remove small files, such as old logs.", "disk"},

    {"nodes", kOk, kNodes, "The nodes that were checked together.", "", ""},
    {"nodes-absent", kError, kNodes,
     "A node of the job did not come within a minute of the first one (or what "
     "--rdzv-conf says), or could not be started from here.",
     "See that it is up, that the same command runs there (with --hostfile: "
     "that ssh to it asks for nothing), and that a firewall lets the "
     "coordinator's port through; or leave it out (--exclude, --nnodes).",
     ""},
    {"nodes-missing", kError, kNodes,
     "Nodes joined but did not send their findings in time.",
     "Run launch doctor there.", ""},
    {"nodes-unreachable", kError, kNodes,
     "A node cannot connect to another node on a free port, as workers do: a "
     "firewall, a wrong address or no route.",
     "Let the nodes' addresses through on all ports between them; see that "
     "the address is one of the right network (--local-addr).",
     ""},
    {"nodes-versions-differ", kWarning, kNodes,
     "Versions differ between nodes: driver, CUDA, NCCL, PyTorch or Muster.",
     "Install the same everywhere.", ""},
    {"nodes-hardware-differ", kNote, kNodes,
     "GPUs, cores, memory or kernels differ between nodes: the slowest node "
     "limits the speed.",
     "Give each node its own --nproc-per-node, or choose equal ones.", ""},
    {"nodes-clock-skew", kWarning, kNodes,
     "Clocks of nodes differ by more than a second.",
     "Synchronise them (chronyc tracking, timedatectl).", ""},
};

}  // namespace

const char* SeverityText(Severity severity) {
  switch (severity) {
    case kOk:
      return "ok";
    case kNote:
      return "note";
    case kWarning:
      return "warning";
    case kError:
      return "error";
  }
  return "";
}

const char* GroupTitle(FindingGroup group) {
  switch (group) {
    case kVersions:
      return "Versions";
    case kGpus:
      return "GPUs";
    case kLinks:
      return "Links";
    case kEnvironment:
      return "Environment";
    case kNetwork:
      return "Network";
    case kCoordinator:
      return "Coordinator";
    case kMachine:
      return "Machine";
    case kDisks:
      return "Disks";
    case kNodes:
      return "Nodes";
  }
  return "";
}

const std::vector<FindingKind>& FindingKinds() {
  static const auto& kinds =
      *new std::vector<FindingKind>(std::begin(kKinds), std::end(kKinds));
  return kinds;
}

const FindingKind* KindOf(const std::string& id) {
  for (const FindingKind& kind : FindingKinds()) {
    if (id == kind.id) return &kind;
  }
  return nullptr;
}

Finding Found(const std::string& id, std::string what) {
  const FindingKind* kind = KindOf(id);
  MUSTER_CHECK(kind != nullptr) << "no kind of finding is called " << id;
  return {kind->severity, id, std::move(what), kind->remedy};
}

Severity WorstOf(const std::vector<Finding>& findings) {
  Severity worst = kOk;
  for (const Finding& finding : findings) {
    if (finding.severity > worst) worst = finding.severity;
  }
  return worst;
}

}  // namespace muster::agent
