// Tests a group of two ranks in which one rank gives up while Gloo connects the
// two ranks.
#include "trainer_sdk/gloo/gloo_plugin.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/owned_fd.h"

namespace muster {
namespace {

const GlooPlugin& Gloo() { return *LoadGlooPlugin().value(); }

void* NewContext(int rank, int64_t timeout_ms) {
  GlooText why;
  void* const context =
      Gloo().new_context("127.0.0.1", rank, 2, timeout_ms, &why);
  EXPECT_NE(context, nullptr) << why.Text();
  return context;
}

// Returns the address to which `peer` must connect to reach the rank that owns
// `context`.
std::string AddressFor(int peer, void* context) {
  GlooText address;
  Gloo().address(context, peer, &address);
  return address.Text();
}

// Rank 1 as a child process. The child receives rank 0's address, tries to
// connect to rank 0, and exits with 0, even if the attempt fails.
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
  // Lets the stopped process of rank 1 continue, and returns the process's exit
  // status, or the negative number of the signal that killed the process.
  int End() {
    EXPECT_EQ(kill(pid_, SIGCONT), 0);
    siginfo_t info{};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT),
              0);
    return info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
  }

 private:
  [[noreturn]] static void Run(OwnedFd in, OwnedFd out) {
    void* const context = NewContext(1, 10'000);
    const std::string own = AddressFor(0, context);
    if (write(out.get(), own.data(), own.size()) < 0) _exit(3);
    char buffer[512];
    const ssize_t size = read(in.get(), buffer, sizeof(buffer));
    if (size <= 0) _exit(4);
    GlooText why;
    // Whether the connection succeeds does not matter. But if Gloo's thread
    // throws an exception, this process dies instead of exiting with 0.
    Gloo().connect(context, 0, buffer, static_cast<size_t>(size), &why);
    _exit(0);
  }

  pid_t pid_ = -1;
  OwnedFd to_child_;
  std::string address_;
};

// Regression: rank 0 reset a connection that rank 1 had not accepted yet. Then
// Gloo's thread in rank 1 threw an exception, which ended the process.
TEST(GlooPluginTest, APeerThatHasNotAcceptedACallOutlivesItsCaller) {
  // The ranks' ports, which are random, decide which rank opens the connection.
  // Repeat the test until rank 0 opens the connection.
  for (bool called = false; !called;) {
    Called peer;
    // The timeout is short, because the ranks' ports may require that rank 1,
    // which is stopped, opens the connection. Gloo then waits in vain for five
    // times the timeout.
    void* const context = NewContext(0, 40);
    const std::string own = AddressFor(1, context);
    peer.Stop();
    GlooText why;
    called = Gloo().connect(context, 1, peer.address().data(),
                            peer.address().size(), &why) == GlooOutcome::kDone;
    Gloo().delete_context(context);
    if (!called) continue;
    peer.Tell(own);
    EXPECT_EQ(peer.End(), 0);
  }
}

// Regression: a connection was reset while Gloo's thread was accepting it. The
// thread threw an exception, which ended the process.
TEST(GlooPluginTest, AConnectionResetWhileItIsAcceptedFailsOnlyThePair) {
  for (int i = 0; i < 300; ++i) {
    void* const context = NewContext(0, 1'000);
    const std::string own = AddressFor(1, context);
    sockaddr_in address;
    ASSERT_GE(own.size(), sizeof(address));
    std::memcpy(&address, own.data(), sizeof(address));
    {
      const OwnedFd stranger(socket(AF_INET, SOCK_STREAM, 0));
      const linger reset{.l_onoff = 1, .l_linger = 0};
      ASSERT_EQ(setsockopt(stranger.get(), SOL_SOCKET, SO_LINGER, &reset,
                           sizeof(reset)),
                0);
      ASSERT_EQ(connect(stranger.get(), reinterpret_cast<sockaddr*>(&address),
                        sizeof(address)),
                0);
    }
    Gloo().delete_context(context);
  }
}

}  // namespace
}  // namespace muster
