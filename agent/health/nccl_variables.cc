#include "agent/health/nccl_variables.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/nearest_name.h"

namespace muster::agent {
namespace {

// Names of variables, without the prefix NCCL_. The list has the variables that
// NCCL 2.28 reads, older names that scripts still set, and names set by images
// and build systems.
constexpr const char* kKnown[] = {
    "ALGO",
    "ALLOC_P2P_NET_LL_BUFFERS",
    "ASYNC_ERROR_HANDLING",
    "BLOCKING_WAIT",
    "BUFFSIZE",
    "CGA_CLUSTER_SIZE",
    "CHECKS_DISABLE",
    "CHECK_POINTERS",
    "CHUNK_SIZE",
    "COLLNET_ENABLE",
    "COLLNET_NODE_THRESHOLD",
    "COMM_BLOCKING",
    "COMM_ID",
    "COMM_REGISTER",
    "COMM_SHRINK_SHARE_RESOURCES",
    "COMM_SPLIT_SHARE_RESOURCES",
    "CONF_FILE",
    "CONNECT_ROUND_MAX_PEERS",
    "CREATE_THREAD_CONTEXT",
    "CROSS_NIC",
    "CTA_POLICY",
    "CUMEM_ENABLE",
    "CUMEM_HOST_ENABLE",
    "DEBUG",
    "DEBUG_FILE",
    "DEBUG_SUBSYS",
    "DEBUG_TIMESTAMP_FORMAT",
    "DEBUG_TIMESTAMP_LEVELS",
    "DESYNC_DEBUG",
    "DIR",
    "DMABUF_ENABLE",
    "ENV_PLUGIN",
    "GDRCOPY_ENABLE",
    "GDRCOPY_FIFO_ENABLE",
    "GDRCOPY_FLUSH_ENABLE",
    "GDRCOPY_SYNC_ENABLE",
    "GDR_FLUSH_DISABLE",
    "GIN_COUNTER_POOL_SIZE",
    "GIN_ENABLE",
    "GIN_ERROR_QUERY_SEC",
    "GIN_GDAKI_NIC_HANDLER",
    "GIN_GDAKI_QP_DEPTH",
    "GIN_IB_ALLGATHER_TAG",
    "GIN_IB_ALLTOALL_TAG",
    "GIN_NCONTEXTS",
    "GIN_PROXY_QUEUE_SIZE",
    "GIN_SIGNAL_POOL_SIZE",
    "GIN_TYPE",
    "GRAPH_DUMP_FILE",
    "GRAPH_DUMP_FILE_RANK",
    "GRAPH_FILE",
    "GRAPH_HELPER_DISABLE",
    "GRAPH_MIXING_SUPPORT",
    "GRAPH_REGISTER",
    "GROUP_CUDA_STREAM",
    "HOME",
    "HOSTID",
    "IB_ADAPTIVE_ROUTING",
    "IB_ADDR_FAMILY",
    "IB_ADDR_RANGE",
    "IB_AR_THRESHOLD",
    "IB_CUDA_SUPPORT",
    "IB_DATA_DIRECT",
    "IB_DISABLE",
    "IB_ECE_ENABLE",
    "IB_FIFO_TC",
    "IB_GID_INDEX",
    "IB_HCA",
    "IB_MERGE_NICS",
    "IB_MERGE_VFS",
    "IB_MQP_RETRY_ALL",
    "IB_MQP_RETRY_CNT",
    "IB_MQP_RETRY_SLEEP_MSEC",
    "IB_PCI_RELAXED_ORDERING",
    "IB_PKEY",
    "IB_QPS_PER_CONNECTION",
    "IB_RETRY_CNT",
    "IB_RETURN_ASYNC_EVENTS",
    "IB_ROCE_VERSION_NUM",
    "IB_ROUTABLE_FLID_GID_INDEX",
    "IB_SL",
    "IB_SL_DEFAULT",
    "IB_SPLIT_DATA_ON_QPS",
    "IB_TC",
    "IB_TC_DEFAULT",
    "IB_TIMEOUT",
    "IB_USE_INLINE",
    "IB_WARN_RAIL_LOCAL",
    "IGNORE_CPU_AFFINITY",
    "IGNORE_DISABLED_P2P",
    "INCLUDE_DIR",
    "IPC_COLLECTIVE",
    "IPC_SENDRECV",
    "L1_SHARED_MEMORY_CARVEOUT",
    "LAUNCH_MODE",
    "LAUNCH_ORDER_IMPLICIT",
    "LAUNCH_RACE_FATAL",
    "LEGACY_CUDA_REGISTER",
    "LIBRARIES",
    "LIBRARY",
    "LIB_DIR",
    "LL128_BUFFSIZE",
    "LL128_C2C",
    "LL128_NTHREADS",
    "LL_BUFFSIZE",
    "LL_THRESHOLD",
    "LOCAL_REGISTER",
    "MAX_CTAS",
    "MAX_NCHANNELS",
    "MAX_NRINGS",
    "MAX_P2P_NCHANNELS",
    "MEM_SYNC_DOMAIN",
    "MIN_CTAS",
    "MIN_NCHANNELS",
    "MIN_NRINGS",
    "MIN_P2P_NCHANNELS",
    "MNNVL_CLIQUE_ID",
    "MNNVL_ENABLE",
    "MNNVL_RAIL_PER_HOST",
    "MNNVL_SCATTER_NETS_ENABLE",
    "MNNVL_UUID",
    "NCHANNELS_PER_NET_PEER",
    "NET",
    "NETDEVS_POLICY",
    "NET_DISABLE_INTRA",
    "NET_FORCE_FLUSH",
    "NET_FORCE_MERGE",
    "NET_GDR_C2C",
    "NET_GDR_LEVEL",
    "NET_GDR_READ",
    "NET_MERGE_LEVEL",
    "NET_OPTIONAL_RECV_COMPLETION",
    "NET_OVERHEAD",
    "NET_PLUGIN",
    "NET_PLUGIN_REF_COUNT",
    "NET_SHARED_BUFFERS",
    "NET_SHARED_COMMS",
    "NSOCKS_PERTHREAD",
    "NTHREADS",
    "NVB_DISABLE",
    "NVB_PRECONNECT",
    "NVLINK_UTIL_CENTRIC_SCHED_ENABLE",
    "NVLS",
    "NVLSTREE_MAX_CHUNKSIZE",
    "NVLS_CHUNKSIZE",
    "NVLS_ENABLE",
    "NVLS_NCHANNELS",
    "NVTX_DISABLE",
    "OOB_NET_ENABLE",
    "OOB_NET_IFNAME",
    "P2P_DIRECT_DISABLE",
    "P2P_DISABLE",
    "P2P_LEVEL",
    "P2P_LL_THRESHOLD",
    "P2P_NET_CHUNKSIZE",
    "P2P_NVL_CHUNKSIZE",
    "P2P_PCI_CHUNKSIZE",
    "P2P_PXN_LEVEL",
    "P2P_READ_ENABLE",
    "P2P_SCHEDULE_GROUP_SIZE",
    "P2P_USE_CUDA_MEMCPY",
    "PAT_ENABLE",
    "PROFILER_PLUGIN",
    "PROGRESS_APPENDOP_FREQ",
    "PROTO",
    "PROXY_APPEND_BATCH_SIZE",
    "PROXY_CPUSET",
    "PROXY_DISABLE",
    "PROXY_DUMP_SIGNAL",
    "PXN_C2C",
    "PXN_DISABLE",
    "RAS_ADDR",
    "RAS_ENABLE",
    "RAS_TIMEOUT_FACTOR",
    "REPORT_CONNECT_PROGRESS",
    "RINGS",
    "ROOT",
    "ROOT_DIR",
    "RUNTIME_CONNECT",
    "SET_CPU_STACK_SIZE",
    "SET_STACK_SIZE",
    "SET_THREAD_NAME",
    "SHM_DISABLE",
    "SHM_LOCALITY",
    "SHM_MEMCPY_MODE",
    "SHM_USE_CUDA_MEMCPY",
    "SINGLE_PROC_MEM_REG_ENABLE",
    "SINGLE_RING_THRESHOLD",
    "SOCKET_FAMILY",
    "SOCKET_IFNAME",
    "SOCKET_INLINE",
    "SOCKET_MIN_TASKSIZE",
    "SOCKET_NTHREADS",
    "SOCKET_RCVBUF",
    "SOCKET_RETRY_CNT",
    "SOCKET_RETRY_SLEEP_MSEC",
    "SOCKET_SNDBUF",
    "SYM_CTAS",
    "SYM_KERNEL",
    "THREAD_THRESHOLDS",
    "TOPO_DUMP_FILE",
    "TOPO_DUMP_FILE_RANK",
    "TOPO_FILE",
    "TREE_THRESHOLD",
    "TUNER_CONFIG_PATH",
    "TUNER_PLUGIN",
    "UID_STAGGER_RATE",
    "UID_STAGGER_THRESHOLD",
    "UNPACK_DOUBLE_NCHANNELS",
    "USE_COMM_NONBLOCKING",
    "VERSION",
    "WARN_ENABLE_DEBUG_INFO",
    "WIN_ENABLE",
    "WIN_STRIDE",
    "WORK_ARGS_BYTES",
    "WORK_FIFO_BYTES",
    "WORK_FIFO_DEPTH",
};

// Prefixes of the variables of NCCL plug-ins, and of programs named after NCCL.
// Variables with these prefixes are not checked.
constexpr const char* kForeign[] = {"NCCL_FASTRAK_", "NCCL_GPUDIRECTTCPX_",
                                    "NCCL_IBEXT_",   "NCCL_SHARP_",
                                    "NCCL_TESTS_",   "NCCL_TUNER_"};

constexpr char kPrefix[] = "NCCL_";

}  // namespace

std::string MeantNcclVariable(const std::string& name) {
  if (!absl::StartsWith(name, kPrefix)) return "";
  for (const char* foreign : kForeign) {
    if (absl::StartsWith(name, foreign)) return "";
  }
  const std::string rest = name.substr(sizeof(kPrefix) - 1);
  const std::vector<std::string> known(std::begin(kKnown), std::end(kKnown));
  if (std::count(known.begin(), known.end(), rest) > 0) return "";
  const std::string meant = NearestName(rest, known);
  return meant.empty() ? "" : kPrefix + meant;
}

InterfaceList ParseInterfaceList(const std::string& text) {
  InterfaceList list;
  std::string rest = text;
  if (absl::StartsWith(rest, "^")) {
    list.all_but = true;
    rest.erase(0, 1);
  }
  if (absl::StartsWith(rest, "=")) {
    list.exact = true;
    rest.erase(0, 1);
  }
  for (const auto word : absl::StrSplit(rest, ',', absl::SkipEmpty())) {
    const std::string name(word);
    list.names.push_back(name.substr(0, name.find(':')));
  }
  return list;
}

std::vector<std::string> Chosen(const InterfaceList& list,
                                const std::vector<std::string>& present) {
  if (list.names.empty()) return present;
  std::vector<std::string> chosen;
  for (const std::string& one : present) {
    bool fits = false;
    for (const std::string& name : list.names) {
      fits = fits || (list.exact ? one == name : absl::StartsWith(one, name));
    }
    if (fits != list.all_but) chosen.push_back(one);
  }
  return chosen;
}

}  // namespace muster::agent
