// Reads the facts about a host: cores, memory, limits, clock and disks.

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/health/read_node.h"
#include "agent/health/small_file.h"
#include "agent/health/within.h"
#include "base/bounded_file.h"

namespace muster::agent {
namespace {

// cgroup version 1 reports "no limit" as a number above kNoLimit.
constexpr int64_t kNoLimit = int64_t{1} << 60;

int64_t SoftLimit(int resource) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return -1;
  }
  return static_cast<int64_t>(limit.rlim_cur);
}

int64_t HardLimit(int resource) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) {
    return -1;
  }
  return static_cast<int64_t>(limit.rlim_max);
}

// The bytes in a line such as "MemTotal:       16314924 kB"; 0 if there is no
// such line.
int64_t MemoryLine(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + ":");
  if (at == std::string::npos) return 0;
  return LeadingNumber(text.substr(at + name.size() + 2)).value_or(0) << 10;
}

void ReadMemory(const std::string& root, HostFacts& facts) {
  const std::string text =
      "\n" +
      ReadBeginning(root + "/proc/meminfo", kMaxKernelFileBytes).value_or("");
  facts.memory = MemoryLine(text, "MemTotal");
  facts.memory_available = MemoryLine(text, "MemAvailable");
  facts.swap_used =
      MemoryLine(text, "SwapTotal") - MemoryLine(text, "SwapFree");
}

// The folder of this process's control group (cgroup). /proc/self/cgroup has
// "0::/a/b" in cgroup version 2, "5:memory:/a/b" in version 1. In a container
// the folder with this path often does not exist; then the root of the
// hierarchy is the group's folder.
std::string GroupFolder(const std::string& root, const std::string& kind) {
  const std::string text =
      ReadBeginning(root + "/proc/self/cgroup", kMaxKernelFileBytes)
          .value_or("");
  const std::string base =
      root + "/sys/fs/cgroup" + (kind.empty() ? "" : "/" + kind);
  for (const auto part : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> fields =
        absl::StrSplit(part, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const bool matches = kind.empty() ? fields[1].empty() && fields[0] == "0"
                                      : absl::StrContains("," + fields[1] + ",",
                                                          "," + kind + ",");
    if (!matches) continue;
    const std::string folder = base + fields[2];
    if (access(folder.c_str(), R_OK) == 0) return folder;
  }
  return base;
}

// The folders of a control group and of all its parents. In cgroup version 2
// the limits of all parents apply as well.
std::vector<std::string> GroupsUpwards(std::string folder,
                                       const std::string& base) {
  std::vector<std::string> folders;
  while (folder.size() >= base.size() && folders.size() < 32) {
    folders.push_back(folder);
    const size_t slash = folder.rfind('/');
    if (slash == std::string::npos) break;
    folder.resize(slash);
  }
  return folders;
}

void ReadGroupsOfVersion2(const std::string& root, HostFacts& facts) {
  for (const std::string& folder :
       GroupsUpwards(GroupFolder(root, ""), root + "/sys/fs/cgroup")) {
    const auto limit = ReadCount(folder + "/memory.max");
    if (limit && (facts.memory_limit == 0 || *limit < facts.memory_limit)) {
      facts.memory_limit = *limit;
      facts.memory_in_use = ReadCount(folder + "/memory.current").value_or(0);
    }
    const std::vector<std::string> cpu =
        absl::StrSplit(ReadWord(folder + "/cpu.max"), ' ');
    if (cpu.size() != 2) continue;
    const auto quota = LeadingNumber(cpu[0]);
    const auto period = LeadingNumber(cpu[1]);
    if (!quota || !period || *quota <= 0 || *period <= 0) continue;
    const double cores =
        static_cast<double>(*quota) / static_cast<double>(*period);
    if (facts.quota_cores == 0 || cores < facts.quota_cores) {
      facts.quota_cores = cores;
    }
  }
}

void ReadGroupsOfVersion1(const std::string& root, HostFacts& facts) {
  const std::string memory = GroupFolder(root, "memory");
  const auto limit = ReadCount(memory + "/memory.limit_in_bytes");
  if (limit && *limit < kNoLimit) {
    facts.memory_limit = *limit;
    facts.memory_in_use =
        ReadCount(memory + "/memory.usage_in_bytes").value_or(0);
  }
  const std::string cpu = GroupFolder(root, "cpu");
  const auto quota = ReadCount(cpu + "/cpu.cfs_quota_us");
  const auto period = ReadCount(cpu + "/cpu.cfs_period_us");
  if (quota && period && *quota > 0 && *period > 0) {
    facts.quota_cores =
        static_cast<double>(*quota) / static_cast<double>(*period);
  }
}

// Returns the number of cores on which this process may run. On a machine with
// more than CPU_SETSIZE cores, sched_getaffinity fails, and the result is
// `all`, the number of the machine's cores.
int OwnCores(int all) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return all;
  return CPU_COUNT(&set);
}

std::optional<bool> ClockSynchronised() {
  timex state = {};  // modes = 0: adjtimex only reads the clock's state
  const int answer = adjtimex(&state);
  if (answer < 0) return std::nullopt;
  return answer != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

}  // namespace

HostFacts ReadHost(const std::string& root) {
  HostFacts facts;
  utsname name = {};
  if (uname(&name) == 0) facts.kernel = name.release;
  facts.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  facts.own_cores = OwnCores(facts.cores);
  ReadMemory(root, facts);
  if (access((root + "/sys/fs/cgroup/cgroup.controllers").c_str(), R_OK) == 0) {
    ReadGroupsOfVersion2(root, facts);
  } else {
    ReadGroupsOfVersion1(root, facts);
  }
  facts.open_files = SoftLimit(RLIMIT_NOFILE);
  facts.max_open_files = HardLimit(RLIMIT_NOFILE);
  facts.processes = SoftLimit(RLIMIT_NPROC);
  facts.locked_memory = SoftLimit(RLIMIT_MEMLOCK);
  facts.governor =
      ReadWord(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  facts.clock_synchronised = ClockSynchronised();
  return facts;
}

namespace {

// Returns `path` itself, or its nearest parent that exists.
std::string NearestThere(std::string path) {
  while (path.size() > 1 && access(path.c_str(), F_OK) != 0 &&
         (errno == ENOENT || errno == ENOTDIR)) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    path.resize(slash == 0 ? 1 : slash);
  }
  return path;
}

// Whether the file system that contains `path` is writable, whatever the
// options of its mount. /proc/self/mountinfo lists the options of the file
// system and of the mount separately.
bool IsWritableFileSystem(const std::string& path) {
  struct statx status = {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &status) != 0 ||
      (status.stx_mask & STATX_MNT_ID) == 0) {
    return false;
  }
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string start = absl::StrCat(status.stx_mnt_id, " ");
  for (std::string line; std::getline(mounts, line);) {
    if (!absl::StartsWith(line, start)) continue;
    return IsWritableByMountInfo(line);
  }
  return false;
}

FolderFacts Look(const std::string& path) {
  FolderFacts facts;
  const std::string there = NearestThere(path);
  if (there != path) facts.above = there;
  struct statvfs space = {};
  if (statvfs(there.c_str(), &space) != 0) {
    facts.error = std::strerror(errno);
    return facts;
  }
  struct stat status = {};
  if (stat(there.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    facts.error = there + " is no folder";
    return facts;
  }
  const auto block = static_cast<int64_t>(space.f_frsize);
  facts.total = static_cast<int64_t>(space.f_blocks) * block;
  facts.free = static_cast<int64_t>(space.f_bavail) * block;
  facts.files = static_cast<int64_t>(space.f_files);
  facts.files_free = static_cast<int64_t>(space.f_favail);
  facts.read_only = (space.f_flag & ST_RDONLY) != 0;
  facts.mounted_read_only = facts.read_only && IsWritableFileSystem(there);
  facts.writable = access(there.c_str(), W_OK | X_OK) == 0;
  return facts;
}

}  // namespace

bool IsWritableByMountInfo(const std::string& line) {
  const size_t dash = line.find(" - ");
  if (dash == std::string::npos) return false;
  // In a line of mountinfo, the fields after the dash are the type, source and
  // options of the file system.
  const std::vector<std::string> fields =
      absl::StrSplit(line.substr(dash + 3), ' ');
  if (fields.size() < 3) return false;
  const std::vector<std::string> options = absl::StrSplit(fields[2], ',');
  return std::find(options.begin(), options.end(), "rw") != options.end();
}

FolderFacts ReadFolder(const std::string& purpose, const std::string& path,
                       Instant deadline) {
  const std::optional<FolderFacts> looked =
      Within<FolderFacts>(deadline, [path] { return Look(path); });
  FolderFacts facts;
  if (looked) {
    facts = *looked;
  } else {
    facts.error = "the file system does not answer";
  }
  facts.purpose = purpose;
  facts.path = path;
  return facts;
}

}  // namespace muster::agent
