#include "agent/health/read_surroundings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/health/gpu_devices.h"
#include "agent/health/small_file.h"
#include "base/bounded_file.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

constexpr size_t kMaxXids = 64;
// The upper bound of valid times in the kernel log. A record with a later time
// is damaged, and its time could overflow when it is converted to nanoseconds.
constexpr std::chrono::microseconds kLongestUptime =
    std::chrono::hours(876'000);
// The maximum number of bytes read from the kernel log, which normally has a
// few MiB at most.
constexpr size_t kMaxLog = 16 << 20;
constexpr int kMaxRecords = 200'000;

Duration SinceStart() {
  timespec now = {};
  // The kernel log's times are those of CLOCK_MONOTONIC, which stops while the
  // machine sleeps.
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::nanoseconds(now.tv_nsec);
}

// Reads the kernel log from `path`, normally /dev/kmsg, of which each read
// returns one record. In tests `path` is a regular file, of which one read
// returns several records.
std::optional<std::string> ReadKernelLog(const std::string& path) {
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.open()) return std::nullopt;
  std::string log;
  std::string record(16 << 10, '\0');
  for (int i = 0; i < kMaxRecords && log.size() < kMaxLog; ++i) {
    const ssize_t n = read(fd.get(), record.data(), record.size());
    // The kernel overwrote a record during the read (EPIPE): continue with the
    // next record.
    if (n < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (n <= 0) break;
    // Keeps only records that mention an Xid (an error code of NVIDIA's
    // driver).
    const std::string text = record.substr(0, static_cast<size_t>(n));
    if (absl::StrContains(text, "Xid")) absl::StrAppend(&log, text);
  }
  return log;
}

uint32_t Word(const std::string& bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
    word |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i]))
            << (8 * i);
  }
  return word;
}

bool IsPciAddress(const std::string& name) {
  return name.size() == 12 && name[4] == ':' && name[7] == ':' &&
         name[10] == '.';
}

PciPath PathTo(const std::string& root, const std::string& address) {
  PciPath path;
  path.pci_address = address;
  const std::string link = absl::StrCat(root, "/sys/bus/pci/devices/", address);
  char real[PATH_MAX];
  if (realpath(link.c_str(), real) == nullptr) return path;
  std::string above = real;
  while (true) {
    const size_t slash = above.rfind('/');
    if (slash == std::string::npos) return path;
    above.resize(slash);
    const std::string name = above.substr(above.rfind('/') + 1);
    if (!IsPciAddress(name)) return path;
    const auto configuration = ReadBeginning(above + "/config", 4096);
    if (configuration && RedirectsPeers(*configuration)) {
      path.redirecting.push_back(name);
    }
  }
}

}  // namespace

std::vector<XidEvent> ParseXids(const std::string& log, Duration now) {
  std::vector<XidEvent> events;
  for (const auto part : absl::StrSplit(log, '\n')) {
    // Format of a record: "4,1234,5678901,-;NVRM: Xid (PCI:0000:3b:00): 79,
    // pid=1234, …"; the third number is the time in microseconds since the
    // machine's start.
    const std::string line(part);
    const size_t message = line.find(';');
    constexpr char kMark[] = "NVRM: Xid (PCI:";
    const size_t mark = line.find(kMark);
    if (message == std::string::npos || mark == std::string::npos) continue;
    const std::vector<std::string> head =
        absl::StrSplit(line.substr(0, message), ',');
    const size_t begin = mark + sizeof(kMark) - 1;
    const size_t end = line.find(')', begin);
    if (head.size() < 3 || end == std::string::npos || end - begin > 32) {
      continue;
    }
    const auto microseconds = LeadingNumber(head[2]);
    const size_t colon = line.find(':', end);
    if (!microseconds || *microseconds > kLongestUptime.count() ||
        colon == std::string::npos) {
      continue;
    }
    const auto xid = LeadingNumber(line.substr(colon + 1));
    if (!xid || *xid <= 0 || *xid > 100'000) continue;
    XidEvent event;
    event.pci_address = absl::AsciiStrToLower(line.substr(begin, end - begin));
    event.xid = static_cast<int>(*xid);
    event.ago = now - std::chrono::microseconds(*microseconds);
    events.push_back(std::move(event));
    if (events.size() > kMaxXids) events.erase(events.begin());
  }
  return events;
}

bool RedirectsPeers(const std::string& configuration) {
  constexpr uint32_t kAccessControl = 0x000d;
  // The ACS bits "request redirect" and "completion redirect" send peers'
  // traffic to the root complex. The bit "upstream forwarding" does not count,
  // because every bridge sets it.
  constexpr uint32_t kRedirects = 0x4 | 0x8;
  // Follows the chain of PCI extended capabilities. The number of steps is
  // limited, because a broken device may report a cycle.
  size_t at = 0x100;
  for (int i = 0; i < 64 && at >= 0x100 && at + 8 <= configuration.size();
       ++i) {
    const uint32_t header = Word(configuration, at);
    if ((header & 0xffff) == kAccessControl) {
      return ((Word(configuration, at + 4) >> 16) & kRedirects) != 0;
    }
    at = header >> 20;
  }
  return false;
}

GpuSurroundings ReadSurroundings(
    const std::string& root, const std::vector<std::string>& pci_addresses) {
  GpuSurroundings facts;
  facts.visible_devices = CountGpuDevices(root + "/dev");
  if (pci_addresses.empty()) return facts;
  const auto log = ReadKernelLog(root + "/dev/kmsg");
  facts.kernel_log_read = log.has_value();
  if (log) facts.xids = ParseXids(*log, SinceStart());
  for (const std::string& address : pci_addresses) {
    if (IsPciAddress(address)) facts.paths.push_back(PathTo(root, address));
  }
  return facts;
}

}  // namespace muster::agent
