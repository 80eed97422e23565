// Tests of --encrypt=workers between hosts. An eavesdropper must read no data.
// The store must refuse a program that does not have the key, even if it runs
// on a host of the job.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
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
using ::testing::HasSubstr;

constexpr char kLaunch[] = "launcher/launch";
constexpr char kWorker[] = "tests/security/sealed_worker";
constexpr char kVictim[] = "tests/security/store_victim";
constexpr char kSealed[] = "--encrypt=workers";

// Captures all packets that a host sends to or receives from other hosts.
class Wiretap {
 public:
  // Begins to capture the packets of the host that the calling thread has
  // entered.
  Wiretap()
      : socket_(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL))),
        end_(eventfd(0, EFD_CLOEXEC)) {
    EXPECT_TRUE(socket_.open());
    const int bytes = 256 << 20;
    (void)setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes,
                     sizeof(bytes));
    thread_ = std::thread([this] { Collect(); });
  }

  ~Wiretap() { End(); }

  // Stops the capture and returns the bytes of all packets.
  const std::string& End() {
    const uint64_t one = 1;
    (void)!write(end_.get(), &one, sizeof(one));
    if (thread_.joinable()) thread_.join();
    return heard_;
  }

 private:
  void Collect() {
    std::vector<char> packet(size_t{1} << 17);
    while (true) {
      std::array<pollfd, 2> fds = {pollfd{socket_.get(), POLLIN, 0},
                                   pollfd{end_.get(), POLLIN, 0}};
      PollUntil(fds, kNoDeadline);
      sockaddr_ll link = {};
      socklen_t length = sizeof(link);
      const ssize_t count =
          recvfrom(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT,
                   reinterpret_cast<sockaddr*>(&link), &length);
      // Skip the loopback interface. On it, a worker and the store relay of its
      // node exchange clear text.
      if (count > 0 && link.sll_hatype == ARPHRD_LOOPBACK) continue;
      if (count > 0) {
        heard_.append(packet.data(), static_cast<size_t>(count));
      } else if (fds[1].revents != 0) {
        return;
      }
    }
  }

  const OwnedFd socket_;
  const OwnedFd end_;
  std::string heard_;
  std::thread thread_;
};

class SealedWorkers : public testing::Test {
 protected:
  void SetUp() override {
    auto hosts = Hosts::Make(2);
    if (!hosts.ok()) {
      GTEST_SKIP() << "hosts of their own need network namespaces and TUN "
                      "interfaces: "
                   << hosts.status();
    }
    hosts_ = *std::move(hosts);
  }

  std::unique_ptr<Subprocess> Node(int host,
                                   const std::vector<std::string>& flags,
                                   const std::string& program) {
    EXPECT_TRUE(hosts_->Enter(host).ok());
    std::vector<std::string> argv = {
        kLaunch,
        "--nnodes=2",
        "--rdzv-backend=c10d",
        absl::StrCat("--rdzv-endpoint=", hosts_->Address(0), ":29400"),
        absl::StrCat("--node-rank=", host),
        "--no-python"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.push_back(program);
    return std::make_unique<Subprocess>(
        argv, std::map<std::string, std::string>{
                  {"MUSTER_TOKEN", "the-secret-of-the-sealed-job"}});
  }

  // Runs the workers on both hosts, and returns the bytes that passed host 1's
  // network interface.
  std::string Overheard(const std::vector<std::string>& flags) {
    EXPECT_TRUE(hosts_->Enter(1).ok());
    Wiretap tap;
    const auto second = Node(1, flags, kWorker);
    const auto first = Node(0, flags, kWorker);
    for (const auto& node : {first.get(), second.get()}) {
      EXPECT_EQ(node->ExitCode(), 0) << node->Output();
      EXPECT_THAT(node->Output(), HasSubstr("text=right sum=right pipes=0"));
    }
    return tap.End();
  }

  std::unique_ptr<Hosts> hosts_;
};

TEST_F(SealedWorkers, AListenerOnTheWireSeesNeitherNumbersNorTexts) {
  const std::string clear = Overheard({});
  EXPECT_TRUE(absl::StrContains(clear, "numbers!numbers!"));
  EXPECT_TRUE(absl::StrContains(clear, "a text in the store"));
  const std::string sealed = Overheard({kSealed});
  EXPECT_GT(sealed.size(), size_t{800'000}) << "the numbers passed";
  EXPECT_FALSE(absl::StrContains(sealed, "numbers!"));
  EXPECT_FALSE(absl::StrContains(sealed, "a text in the store"));
  EXPECT_FALSE(absl::StrContains(sealed, "tcp/secret"));
}

// An address is not enough for access: any user of a member's host can send
// from the host's address.
TEST_F(SealedWorkers, TheStoreRefusesClearTextFromAMembersHost) {
  const auto first = Node(0, {kSealed}, kVictim);
  const auto second = Node(1, {kSealed}, kVictim);
  ASSERT_TRUE(first->Printed("up rank=0")) << first->Output();
  ASSERT_TRUE(second->Printed("up rank=1")) << second->Output();
  const std::string line = first->Lines("up rank=0").at(0);
  const SocketAddress store = *NumericAddress(
      hosts_->Address(0), std::atoi(Field(line, "port").c_str()));
  const auto ask = [&](int host, const store::StoreRequest& request) {
    EXPECT_TRUE(hosts_->Enter(host).ok());
    const OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), store.get(), store.size), 0);
    std::string bytes;
    AppendRequest({.command = store::StoreCommand::kValidate,
                   .number = store::kStoreMagic},
                  &bytes);
    AppendRequest(request, &bytes);
    AppendRequest({.command = store::StoreCommand::kPing, .number = 7}, &bytes);
    (void)send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    char answer[4];
    EXPECT_TRUE(PollUntil(fd.get(), POLLIN, MonotonicNow() + kEventTimeout));
    return recv(fd.get(), answer, sizeof(answer), MSG_WAITALL);
  };
  const store::StoreRequest go = {
      .command = store::StoreCommand::kSet, .key = "/go", .value = "0"};
  EXPECT_LE(ask(1, go), 0) << "closed without an answer";
  EXPECT_EQ(ask(0, go), 4) << "on the store's own host it is local";
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
  EXPECT_THAT(first->Output(), HasSubstr("key of this round"));
}

TEST_F(SealedWorkers, ANodeThatDoesNotEncryptIsRefusedWithASentence) {
  const auto first = Node(0, {kSealed}, kWorker);
  ASSERT_TRUE(first->Printed("1 of 2 nodes here")) << first->Output();
  const auto second = Node(1, {}, kWorker);
  EXPECT_EQ(second->ExitCode(), 1) << second->Output();
  EXPECT_THAT(second->Output(),
              HasSubstr("this job runs with --encrypt=workers, but this node "
                        "was started with --encrypt=none"));
}

}  // namespace
}  // namespace muster
