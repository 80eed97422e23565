#include "tests/namespaces/hosts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tests/namespaces/wire.h"

namespace muster {
namespace {

constexpr char kDevice[] = "wire";
constexpr int kMtu = 9000;

std::string AddressOf(int host) {
  return absl::StrCat("10.213.0.", AddressByte(host));
}

absl::Status SystemError(const std::string& what) {
  const std::string message = absl::StrCat(what, ": ", std::strerror(errno));
  return errno == EPERM || errno == EACCES
             ? absl::PermissionDeniedError(message)
             : absl::NotFoundError(message);
}

absl::Status Up(const char* device, const std::string& address) {
  const OwnedFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
  auto* const ipv4 = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  if (!address.empty()) {
    ipv4->sin_family = AF_INET;
    inet_pton(AF_INET, address.c_str(), &ipv4->sin_addr);
    if (ioctl(fd.get(), SIOCSIFADDR, &request) != 0) {
      return SystemError("an interface's address");
    }
    inet_pton(AF_INET, "255.255.255.0", &ipv4->sin_addr);
    if (ioctl(fd.get(), SIOCSIFNETMASK, &request) != 0) {
      return SystemError("an interface's mask");
    }
    request.ifr_mtu = kMtu;
    if (ioctl(fd.get(), SIOCSIFMTU, &request) != 0) {
      return SystemError("an interface's MTU");
    }
  }
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0
             ? absl::OkStatus()
             : SystemError("taking an interface up");
}

// Creates the TUN interface of `host`. The calling thread must be in a new
// network namespace. Returns the device from which the interface's packets are
// read.
absl::StatusOr<OwnedFd> MakeInterface(int host) {
  OwnedFd tunnel(open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (!tunnel.open()) return SystemError("/dev/net/tun");
  ifreq request{};
  std::strncpy(request.ifr_name, kDevice, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(tunnel.get(), TUNSETIFF, &request) != 0) {
    return SystemError("a TUN interface");
  }
  absl::Status s = Up(kDevice, AddressOf(host));
  if (s.ok()) s = Up("lo", "");
  if (!s.ok()) return s;
  return tunnel;
}

Weather* SharedWeather() {
  void* const memory = mmap(nullptr, sizeof(Weather), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUSTER_CHECK(memory != MAP_FAILED) << std::strerror(errno);
  return new (memory) Weather();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Hosts>> Hosts::Make(int count) {
  const OwnedFd home(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!home.open()) return SystemError("/proc/self/ns/net");
  std::vector<OwnedFd> namespaces, tunnels;
  absl::Status s;
  for (int host = 0; s.ok() && host < count; ++host) {
    if (unshare(CLONE_NEWNET) != 0) {
      s = SystemError("a network namespace");
      break;
    }
    namespaces.emplace_back(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
    absl::StatusOr<OwnedFd> tunnel = MakeInterface(host);
    s = tunnel.status();
    if (s.ok()) tunnels.push_back(*std::move(tunnel));
  }
  // Return the thread to its former network namespace. An error is ignored: if
  // setns fails with EPERM, unshare has failed with EPERM as well, so the
  // thread has never left that namespace.
  (void)setns(home.get(), CLONE_NEWNET);
  if (!s.ok()) return s;
  return std::unique_ptr<Hosts>(
      new Hosts(std::move(namespaces), std::move(tunnels)));
}

Hosts::Hosts(std::vector<OwnedFd> namespaces, std::vector<OwnedFd> tunnels)
    : namespaces_(std::move(namespaces)),
      tunnels_(std::move(tunnels)),
      weather_(SharedWeather()) {
  const pid_t parent = getpid();
  wire_ = fork();
  MUSTER_CHECK(wire_ >= 0) << std::strerror(errno);
  if (wire_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  std::vector<int> fds;
  for (const OwnedFd& tunnel : tunnels_) fds.push_back(tunnel.get());
  CarryPackets(fds, *weather_);
}

Hosts::~Hosts() {
  kill(wire_, SIGKILL);
  waitpid(wire_, nullptr, 0);
  munmap(weather_, sizeof(Weather));
}

std::string Hosts::Address(int host) const { return AddressOf(host); }

absl::Status Hosts::Enter(int host) const {
  return setns(namespaces_[host].get(), CLONE_NEWNET) == 0
             ? absl::OkStatus()
             : SystemError("entering a network namespace");
}

void Hosts::Delay(Duration delay) { weather_->delay_ns.store(delay.count()); }
void Hosts::Lose(int of_a_thousand) {
  weather_->lost_of_a_thousand.store(of_a_thousand);
}
void Hosts::Cut() { weather_->cut.store(true); }

}  // namespace muster
