// Tests of `launch doctor --nodes` on hosts in network namespaces. Two of the
// hosts cannot reach each other, as if a firewall were between them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/owned_fd.h"
#include "tests/namespaces/hosts.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kHosts = 3;
constexpr int kExitTimeoutMs = 90'000;

std::string OutputPath(int host) {
  return absl::StrCat(testing::TempDir(), "doctor_", host);
}

std::string Output(int host) {
  std::ifstream file(OutputPath(host));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class DoctorNodes : public testing::Test {
 protected:
  void SetUp() override {
    auto hosts = Hosts::Make(kHosts);
    if (!hosts.ok()) {
      GTEST_SKIP() << "hosts of their own need network namespaces and TUN "
                      "interfaces: "
                   << hosts.status();
    }
    hosts_ = *std::move(hosts);
  }

  // Runs `launch doctor --nodes` on every host, and returns the exit codes.
  // Rank 0 is host 2, which all hosts can reach. `form`: the flag that selects
  // the output format. `local_addr`: the value of --local-addr for host 0;
  // empty: no such flag.
  std::array<int, kHosts> Run(const char* form = "--quiet",
                              const std::string& local_addr = "") {
    std::array<pid_t, kHosts> pids = {};
    for (int host = 0; host < kHosts; ++host) {
      pids[host] = Start(host, form, host == 0 ? local_addr : "");
    }
    std::array<int, kHosts> codes = {};
    for (int host = 0; host < kHosts; ++host) codes[host] = End(pids[host]);
    return codes;
  }

 private:
  pid_t Start(int host, const char* form, const std::string& local_addr) {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const OwnedFd output(open(OutputPath(host).c_str(),
                              O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (getppid() != parent || !hosts_->Enter(host).ok() || !output.open()) {
      _exit(99);
    }
    dup2(output.get(), STDOUT_FILENO);
    dup2(output.get(), STDERR_FILENO);
    const std::string endpoint =
        absl::StrCat("--rdzv-endpoint=", hosts_->Address(2), ":29400");
    const std::string rank = absl::StrCat("--node-rank=", (host + 1) % kHosts);
    const std::string id = absl::StrCat("--node-id=n", host);
    const std::string address = absl::StrCat("--local-addr=", local_addr);
    execl("launcher/launch", "launch", "doctor", "--nodes", "--nnodes=3",
          "--rdzv-backend=c10d", form, endpoint.c_str(), rank.c_str(),
          id.c_str(), local_addr.empty() ? nullptr : address.c_str(), nullptr);
    _exit(98);
  }

  int End(pid_t pid) {
    const OwnedFd life(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    pollfd waiting = {life.get(), POLLIN, 0};
    if (poll(&waiting, 1, kExitTimeoutMs) != 1) kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 protected:
  std::unique_ptr<Hosts> hosts_;
};

TEST_F(DoctorNodes, ReachableHostsHaveNoFinding) {
  for (const int code : Run()) EXPECT_NE(code, 1);
  EXPECT_THAT(Output(2), HasSubstr("launch doctor on 3 nodes"));
  EXPECT_THAT(Output(2), Not(HasSubstr("cannot connect")));
  EXPECT_EQ(Output(0), "");
  EXPECT_EQ(Output(1), "");
}

TEST_F(DoctorNodes, APairSeparatedByAFirewallIsNamed) {
  hosts_->Cut();
  for (const int code : Run()) EXPECT_EQ(code, 4);
  const std::string page = Output(2);
  EXPECT_THAT(page, HasSubstr("[nodes-unreachable]"));
  // All hosts have the same host name, so the output of `launch doctor` names
  // them by their node ids.
  EXPECT_THAT(page, HasSubstr(absl::StrCat("n0 cannot connect to n1 (",
                                           hosts_->Address(1), ")")));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("n1 cannot connect to n0 (",
                                           hosts_->Address(0), ")")));
  EXPECT_THAT(page, Not(HasSubstr("n2 cannot connect")));
}

TEST_F(DoctorNodes, AnAddressOtherThanTheSeenOneIsFound) {
  for (const int code : Run("--json", "127.0.0.1")) EXPECT_EQ(code, 4);
  const std::string json = Output(2);
  EXPECT_THAT(json, HasSubstr(absl::StrCat(
                        R"("addresses":{"advertised":"127.0.0.1","seen":")",
                        hosts_->Address(0), "\"}")));
  EXPECT_THAT(json, HasSubstr(absl::StrCat(R"("addresses":{"advertised":")",
                                           hosts_->Address(1), R"(","seen":")",
                                           hosts_->Address(1), "\"}")));
  EXPECT_THAT(json,
              HasSubstr(absl::StrCat(
                  "peers dial 127.0.0.1, the coordinator sees this node as ",
                  hosts_->Address(0))));
}

}  // namespace
}  // namespace muster
