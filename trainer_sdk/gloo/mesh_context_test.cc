// A mesh that is given up while it is being connected.
#include "trainer_sdk/gloo/mesh_context.h"

#include <gloo/transport/tcp/device.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "base/owned_fd.h"

namespace muster {
namespace {

std::unique_ptr<MeshContext> NewContext(int rank,
                                        std::chrono::milliseconds patience) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  return std::make_unique<MeshContext>(
      rank, 2, gloo::transport::tcp::CreateDevice(attributes), patience);
}

// Rank 1: a process that connects to rank 0 once it has its address, and exits
// with 0 whatever happens.
class Called {
 public:
  Called() {
    int to_child[2];
    int to_parent[2];
    EXPECT_EQ(pipe(to_child) + pipe(to_parent), 0);
    pid_ = fork();
    if (pid_ == 0) Run(OwnedFd(to_child[0]), OwnedFd(to_parent[1]));
    close(to_child[0]);
    close(to_parent[1]);
    to_child_ = OwnedFd(to_child[1]);
    char buffer[512];
    const ssize_t size = read(to_parent[0], buffer, sizeof(buffer));
    close(to_parent[0]);
    address_.assign(buffer, size > 0 ? static_cast<size_t>(size) : 0);
  }
  ~Called() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  const std::string& address() const { return address_; }
  void Tell(const std::string& address) {
    EXPECT_EQ(write(to_child_.get(), address.data(), address.size()),
              static_cast<ssize_t>(address.size()));
  }
  void Stop() {
    int status = 0;
    EXPECT_EQ(kill(pid_, SIGSTOP), 0);
    EXPECT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  // Continues it and returns its wait status.
  int End() {
    EXPECT_EQ(kill(pid_, SIGCONT), 0);
    siginfo_t info{};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT),
              0);
    return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
  }

 private:
  [[noreturn]] static void Run(OwnedFd in, OwnedFd out) {
    const auto context = NewContext(1, std::chrono::seconds(10));
    const std::string own = context->Addresses()[0];
    if (write(out.get(), own.data(), own.size()) < 0) _exit(3);
    char buffer[512];
    const ssize_t size = read(in.get(), buffer, sizeof(buffer));
    if (size <= 0) _exit(4);
    try {
      context->Connect(0, std::string(buffer, static_cast<size_t>(size)));
    } catch (const std::exception&) {
      // The calling rank may be gone.
    }
    _exit(0);
  }

  pid_t pid_ = -1;
  OwnedFd to_child_;
  std::string address_;
};

// Regression: Gloo's thread found the reset connection without a peer's name,
// and its exception ended the process.
TEST(MeshContextTest, WhoHasNotAcceptedACallOutlivesItsCaller) {
  // Which of the two ranks dials the other depends on their ports.
  for (bool called = false; !called;) {
    Called peer;
    // The wait for a connection, which cannot come, is five times as long.
    auto context = NewContext(0, std::chrono::milliseconds(40));
    const std::string own = context->Addresses()[1];
    peer.Stop();
    try {
      context->Connect(1, peer.address());
      called = true;
    } catch (const std::exception&) {
      continue;
    }
    context.reset();
    peer.Tell(own);
    EXPECT_EQ(peer.End(), 0);
  }
}

}  // namespace
}  // namespace muster
