// Tests of attacks on the store of a real job. Clients connect from hosts or
// addresses that the job does not have, set keys before the round that reads
// them begins, or fill the store beyond the job's memory limit.

#include <arpa/inet.h>
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/owned_fd.h"
#include "base/poll.h"
#include "store/wire/request.h"
#include "tests/integration/harness/subprocess.h"
#include "tests/namespaces/hosts.h"

namespace muster {
namespace {

using store::AppendRequest;
using store::StoreCommand;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLaunch[] = "launcher/launch";
constexpr char kVictim[] = "tests/security/store_victim";

// A client of a store; the store may refuse the client. `from`: the client's
// IPv4 address; empty: the kernel chooses one.
class Client {
 public:
  Client(const std::string& host, int port, const std::string& from = "")
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const SocketAddress to = *NumericAddress(host, port);
    bool bound = true;
    if (!from.empty()) {
      const SocketAddress own = *NumericAddress(from, 0);
      bound = bind(fd_.get(), own.get(), own.size) == 0;
    }
    if (!bound || connect(fd_.get(), to.get(), to.size) != 0) fd_.Close();
    Send({.command = StoreCommand::kValidate, .number = store::kStoreMagic});
  }

  bool is_connected() const { return fd_.open(); }

  // Sends `request`. Returns false if the connection is closed.
  bool Send(const store::StoreRequest& request) {
    std::string bytes;
    AppendRequest(request, &bytes);
    std::string_view rest = bytes;
    while (!rest.empty() && fd_.open()) {
      const ssize_t count =
          send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      rest.remove_prefix(static_cast<size_t>(count));
    }
    return fd_.open();
  }
  bool Set(const std::string& key, const std::string& value) {
    return Send({.command = StoreCommand::kSet, .key = key, .value = value});
  }
  bool Delete(const std::string& key) {
    constexpr size_t kReplyBytes = 8;
    return Send({.command = StoreCommand::kDelete, .key = key}) &&
           Receive(kReplyBytes).size() == kReplyBytes;
  }
  // Waits until the store has handled all earlier requests of this client that
  // have no reply. Returns false if the store has closed the connection.
  bool Settle() {
    if (!Send({.command = StoreCommand::kPing, .number = 7})) return false;
    return Receive(4).size() == 4;
  }
  // Shuts down the sending direction of the connection, and returns all bytes
  // that the store still sends.
  std::string Rest() {
    if (fd_.open()) shutdown(fd_.get(), SHUT_WR);
    return Receive(SIZE_MAX);
  }

 private:
  std::string Receive(size_t bytes) {
    std::string received;
    char buffer[4096];
    while (fd_.open() && received.size() < bytes) {
      if (!PollUntil(fd_.get(), POLLIN, MonotonicNow() + kEventTimeout)) {
        ADD_FAILURE() << "the store neither answers nor closes";
        break;
      }
      const ssize_t count =
          recv(fd_.get(), buffer, std::min(sizeof(buffer), bytes), 0);
      if (count <= 0) break;
      received.append(buffer, static_cast<size_t>(count));
    }
    return received;
  }

  OwnedFd fd_;
};

// Connects to the store at host:port from address `from`, sets the key "forged"
// and lists the keys. Returns the store's answer; empty: the store has refused
// the client.
std::string AnswerTo(const std::string& host, int port,
                     const std::string& from = "") {
  Client client(host, port, from);
  client.Set("/forged", "by a stranger");
  client.Send({.command = StoreCommand::kListKeys});
  return client.Rest();
}

// Sets the key "go" to `code`. The workers wait for this key and then exit with
// `code`.
void LetGo(const std::string& host, int port, int code) {
  Client member(host, port);
  EXPECT_TRUE(member.Set("/go", std::to_string(code)));
  EXPECT_TRUE(member.Settle());
}

// Waits for the line that the worker prints in `round`, and returns it.
std::string LineOf(Subprocess& job, int round) {
  const std::string what = absl::StrCat("round=", round, " ");
  EXPECT_TRUE(job.Printed(what)) << job.Output();
  const std::vector<std::string> lines = job.Lines(what);
  return lines.empty() ? "" : lines[0];
}

int PortIn(const std::string& line) {
  return std::atoi(Field(line, "port").c_str());
}

// The local addresses of the TCP sockets on which process `pid` listens, as
// hexadecimal digits as in /proc/net/tcp.
std::vector<std::string> ListeningAddresses(pid_t pid) {
  std::set<std::string> inodes;
  const std::string folder = absl::StrCat("/proc/", pid, "/fd");
  DIR* const listing = opendir(folder.c_str());
  EXPECT_NE(listing, nullptr);
  if (listing == nullptr) return {};
  while (const dirent* entry = readdir(listing)) {
    char target[64] = {};
    const std::string path = absl::StrCat(folder, "/", entry->d_name);
    if (readlink(path.c_str(), target, sizeof(target) - 1) <= 0) continue;
    unsigned long inode = 0;
    if (std::sscanf(target, "socket:[%lu]", &inode) == 1) {
      inodes.insert(std::to_string(inode));
    }
  }
  closedir(listing);
  std::vector<std::string> addresses;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, retries, uid,
          timeout, inode;
      words >> number >> local >> remote >> state >> queues >> timer >>
          retries >> uid >> timeout >> inode;
      constexpr char kListens[] = "0A";
      if (state == kListens && inodes.contains(inode)) {
        addresses.push_back(local.substr(0, local.find(':')));
      }
    }
  }
  return addresses;
}

// The resident memory of process `pid` in MiB.
size_t ResidentMiB(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/statm"));
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

std::unique_ptr<Subprocess> StandaloneVictim(
    const std::vector<std::string>& flags = {}) {
  std::vector<std::string> argv = {kLaunch, "--standalone", "--no-python"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.push_back(kVictim);
  return std::make_unique<Subprocess>(argv);
}

TEST(StoreOfOneNode, RefusesAnotherAddressAndListensOnLoopbackAlone) {
  const auto job = StandaloneVictim();
  const std::string line = LineOf(*job, 0);
  const int port = PortIn(line);
  EXPECT_EQ(Field(line, "host"), "127.0.0.1");
  // ListeningAddresses reads the descriptors of `launch` in /proc. Only root
  // may read them, because `launch` hides them from its own user
  // (HideFromOtherProcesses).
  const bool may_look = geteuid() == 0;
  const std::vector<std::string> listens =
      may_look ? ListeningAddresses(job->pid()) : std::vector<std::string>();
  EXPECT_EQ(!listens.empty(), may_look);
  // 127.0.0.1 in the format of /proc/net/tcp (little-endian): as an IPv4
  // address for the store, and as an IPv4-mapped IPv6 address for the
  // coordinator.
  EXPECT_THAT(listens,
              Each(AnyOf("0100007F", "0000000000000000FFFF00000100007F")));
  EXPECT_EQ(AnswerTo("127.0.0.1", port, "127.0.0.2"), "");
  for (const std::string& address : InterfaceAddresses()) {
    if (address == "127.0.0.1" || absl::StrContains(address, ':')) continue;
    EXPECT_FALSE(Client(address, port).is_connected()) << address;
  }
  Client member("127.0.0.1", port);
  member.Send({.command = StoreCommand::kListKeys});
  EXPECT_THAT(member.Rest(), Not(HasSubstr("forged")));
  LetGo("127.0.0.1", port, 0);
  EXPECT_EQ(job->ExitCode(), 0) << job->Output();
  EXPECT_THAT(job->Output(), HasSubstr("refused a connection from 127.0.0.2"));
}

TEST(StoreOfOneNode, MemoryIsBoundedByTheJobAndReturned) {
  const auto job = StandaloneVictim();
  const int port = PortIn(LineOf(*job, 0));
  const size_t before = ResidentMiB(job->pid());
  Client member("127.0.0.1", port);
  const std::string value(size_t{1} << 20, 'v');
  int keys = 0;
  while (keys < 960 && member.Set(absl::StrCat("/k", keys), value) &&
         member.Settle()) {
    ++keys;
  }
  // Each value has 1 MiB. The limit is 64 MiB for the job plus 8 MiB for each
  // of its workers; this job has one worker.
  EXPECT_GT(keys, 64);
  EXPECT_LE(keys, 72);
  const size_t full = ResidentMiB(job->pid());
  EXPECT_GT(full, before + 48);
  EXPECT_TRUE(job->Printed("the store is full")) << job->Output();
  Client cleaner("127.0.0.1", port);
  for (int i = 0; i < keys; ++i) {
    EXPECT_TRUE(cleaner.Delete(absl::StrCat("/k", i)));
  }
  // The store handles requests in order. So once Settle returns, the store has
  // freed the memory of all deleted values.
  EXPECT_TRUE(cleaner.Settle());
  // The allocator does not return all freed memory to the system. So require
  // only that the resident memory has shrunk by more than half of the values'
  // size.
  EXPECT_LT(ResidentMiB(job->pid()) + static_cast<size_t>(keys) / 2, full);
  LetGo("127.0.0.1", port, 0);
  EXPECT_EQ(job->ExitCode(), 0) << job->Output();
}

class StoreOnHosts : public testing::Test {
 protected:
  // Creates `count` simulated hosts, and moves the calling thread to host 0.
  void Make(int count) {
    auto hosts = Hosts::Make(count);
    if (!hosts.ok()) {
      GTEST_SKIP() << "hosts of their own need network namespaces and TUN "
                      "interfaces: "
                   << hosts.status();
    }
    hosts_ = *std::move(hosts);
    ASSERT_TRUE(hosts_->Enter(0).ok());
  }

  std::unique_ptr<Subprocess> Node(int host) {
    EXPECT_TRUE(hosts_->Enter(host).ok());
    return std::make_unique<Subprocess>(std::vector<std::string>{
        kLaunch, "--nnodes=2", "--rdzv-backend=c10d",
        absl::StrCat("--rdzv-endpoint=", hosts_->Address(0), ":29400"),
        absl::StrCat("--node-rank=", host), "--no-python", kVictim});
  }

  std::unique_ptr<Hosts> hosts_;
};

TEST_F(StoreOnHosts, RefusesAHostThatHasNoNodeOfTheRound) {
  Make(3);
  if (IsSkipped()) return;
  const auto first = Node(0);
  const auto second = Node(1);
  const std::string line = LineOf(*first, 0);
  const int port = PortIn(line);
  EXPECT_EQ(Field(line, "host"), hosts_->Address(0));
  EXPECT_EQ(PortIn(LineOf(*second, 0)), port);
  ASSERT_TRUE(hosts_->Enter(2).ok());
  EXPECT_EQ(AnswerTo(hosts_->Address(0), port), "");
  ASSERT_TRUE(hosts_->Enter(0).ok());
  // The store listens on the node's own address only, not on loopback.
  EXPECT_FALSE(Client("127.0.0.1", port).is_connected());
  ASSERT_TRUE(hosts_->Enter(1).ok());
  Client member(hosts_->Address(0), port);
  member.Send({.command = StoreCommand::kListKeys});
  EXPECT_THAT(member.Rest(), Not(HasSubstr("forged")));
  LetGo(hosts_->Address(0), port, 0);
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
  EXPECT_THAT(first->Output(),
              HasSubstr(absl::StrCat("refused a connection from ",
                                     hosts_->Address(2))));
}

// A stranger sets the key "forged" before the next round, on each port on which
// the store of that round might listen. The test can try all of these ports,
// because it limits its network namespace to 64 of them. The workers of the
// next round must not find the key.
TEST_F(StoreOnHosts, AKeyThatIsSetBeforeItsRoundIsNotRead) {
  constexpr int kFirstPort = 40'000;
  constexpr int kPorts = 64;
  Make(1);
  if (IsSkipped()) return;
  std::ofstream("/proc/sys/net/ipv4/ip_local_port_range")
      << kFirstPort << " " << kFirstPort + kPorts - 1;
  const auto job = StandaloneVictim({"--max-restarts=1"});
  const int port = PortIn(LineOf(*job, 0));
  ASSERT_GE(port, kFirstPort);
  ASSERT_LT(port, kFirstPort + kPorts);
  for (int other = kFirstPort; other < kFirstPort + kPorts; ++other) {
    if (other != port) AnswerTo("127.0.0.1", other);
  }
  LetGo("127.0.0.1", port, 3);
  const std::string next = LineOf(*job, 1);
  EXPECT_NE(PortIn(next), port);
  EXPECT_EQ(Field(next, "forged"), "no") << job->Output();
  LetGo("127.0.0.1", PortIn(next), 0);
  EXPECT_EQ(job->ExitCode(), 0) << job->Output();
}

}  // namespace
}  // namespace muster
