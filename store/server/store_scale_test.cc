// Tests a store server, in a process of its own, with as many connections as a
// process may have descriptors (at most 20,000). All clients wait for one key
// and are released. Connections beyond the limit are served when others end.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "store/server/listening_socket.h"
#include "store/server/store_server.h"
#include "store/testing/raw_client.h"

namespace muster::store {
namespace {

using C = StoreCommand;

constexpr size_t kAtOnce = 500;
constexpr size_t kBeyond = 100;

// A server process that may open at most `descriptors` descriptors. The
// destructor ends the process.
class ServerProcess {
 public:
  explicit ServerProcess(rlim_t descriptors) {
    int told[2];
    int held[2];
    EXPECT_EQ(pipe(told), 0);
    EXPECT_EQ(pipe(held), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(held[1]);
      Serve(descriptors, told[1], held[0]);
    }
    close(told[1]);
    close(held[0]);
    held_ = OwnedFd(held[1]);
    const OwnedFd port(told[0]);
    EXPECT_EQ(read(port.get(), &port_, sizeof(port_)), sizeof(port_));
  }
  ~ServerProcess() {
    held_.Close();
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_EQ(status, 0);
  }

  int port() const { return port_; }
  size_t ResidentBytes() const {
    std::ifstream statm("/proc/" + std::to_string(pid_) + "/statm");
    size_t total = 0;
    size_t resident = 0;
    statm >> total >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }

 private:
  [[noreturn]] static void Serve(rlim_t descriptors, int tell, int hold) {
    const rlimit limit{.rlim_cur = descriptors, .rlim_max = descriptors};
    setrlimit(RLIMIT_NOFILE, &limit);
    const auto server = StoreServer::Start({});
    if (!server.ok()) _exit(1);
    const int port = (*server)->port();
    if (write(tell, &port, sizeof(port)) != sizeof(port)) _exit(2);
    char byte;
    while (read(hold, &byte, 1) > 0) {
    }
    _exit(0);
  }

  pid_t pid_ = -1;
  int port_ = 0;
  // The write end of a pipe. The server exits when this end is closed.
  OwnedFd held_;
};

TEST(StoreScaleTest, AsManyConnectionsAsThereAreDescriptors) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlim_t descriptors = std::min<rlim_t>(limit.rlim_max, 20'000);
  ASSERT_GT(descriptors, 2 * kDescriptorsForOthers);
  const ServerProcess server(descriptors);
  RawClient setter(server.port());
  const size_t before = server.ResidentBytes();

  std::string words;
  AppendRequest({.command = C::kValidate, .number = kStoreMagic}, &words);
  AppendRequest({.command = C::kPing, .number = 5}, &words);
  AppendRequest({.command = C::kWait, .keys = {"k"}}, &words);
  const std::string greeting("\5\0\0\0", 4);
  const std::string released(1, '\0');
  constexpr auto kSilent = RawClient::Greeting::kNone;
  std::vector<std::unique_ptr<ManyClients>> crowds;
  size_t left = descriptors - kDescriptorsForOthers - 1;
  const size_t waiters = left;
  while (left > 0) {
    const size_t count = std::min(left, kAtOnce);
    // Each group of clients connects from its own loopback address. With one
    // address, few ports would be left, and the kernel would be slow to find a
    // free one.
    crowds.push_back(std::make_unique<ManyClients>(
        server.port(), count, kSilent,
        RawClient::kLoopback + static_cast<uint32_t>(crowds.size())));
    crowds.back()->SendByAll(words);
    // Each client has sent PING and WAIT in one message. So its reply to PING
    // (`greeting`) shows that the server has received its WAIT.
    ASSERT_EQ(crowds.back()->CountReceivers(greeting), count);
    left -= count;
  }
  const size_t each = (server.ResidentBytes() - before) / waiters;
  std::printf("%zu connections, %zu bytes each\n", waiters, each);
  RecordProperty("bytes_per_connection", static_cast<int>(each));

  ManyClients beyond(server.port(), kBeyond, kSilent);
  beyond.SendByAll(words);
  EXPECT_EQ(setter.Add("n", 1), 1);
  EXPECT_FALSE(beyond.HasInput());

  setter.Set("k", "v");
  for (size_t i = 0; i < crowds.size(); ++i) {
    const size_t count = std::min(kAtOnce, waiters - i * kAtOnce);
    ASSERT_EQ(crowds[i]->CountReceivers(released), count);
  }
  EXPECT_FALSE(beyond.HasInput());
  crowds.pop_back();
  crowds.pop_back();
  EXPECT_EQ(beyond.CountReceivers(greeting + released), kBeyond);
}

}  // namespace
}  // namespace muster::store
