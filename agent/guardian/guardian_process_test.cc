// Tests of the guardian's process: memory, descriptors, signals, and its
// behaviour under PID 1.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "agent/guardian/guardian.h"
#include "agent/guardian/guardian_harness.h"

namespace muster::agent {
namespace {

// Waits until the guardian has handled a command, which shows that its set-up
// is complete.
void Settle(Guardian* guardian) {
  const OutputPipe out;
  EventReader events(guardian);
  ASSERT_TRUE(guardian->Start(Staged(0, {"exit", "0"}, out)).ok());
  events.Await<AllGone>();
}

std::string Proc(const Guardian& guardian) {
  return "/proc/" + std::to_string(guardian.pid());
}

TEST(GuardianProcess, HasItsNameAndASessionOfItsOwn) {
  auto guardian = *Guardian::Fork();
  Settle(guardian.get());
  std::string name;
  std::ifstream(Proc(*guardian) + "/comm") >> name;
  EXPECT_EQ(name, "muster-guardian");
  EXPECT_EQ(getsid(guardian->pid()), guardian->pid());
  std::string command_line;
  std::getline(std::ifstream(Proc(*guardian) + "/cmdline"), command_line);
  EXPECT_EQ(std::string(command_line.c_str()), "muster-guardian");
  EXPECT_EQ(command_line.find("guardian_process_test"), std::string::npos);
}

TEST(GuardianProcess, HoldsNothingOfTheAgentsOpen) {
  const OutputPipe of_the_agent;
  auto guardian = *Guardian::Fork();
  Settle(guardian.get());
  std::multiset<std::string> held;
  for (const auto& entry :
       std::filesystem::directory_iterator(Proc(*guardian) + "/fd")) {
    const std::string target = std::filesystem::read_symlink(entry).string();
    // Keep only the kind of the open file, such as "socket" for
    // "socket:[1234]": the part after the colon depends on the kernel.
    held.insert(target.substr(0, target.find(':')));
  }
  EXPECT_EQ(held,
            (std::multiset<std::string>{"/dev/null", "/dev/null", "/dev/null",
                                        "socket", "anon_inode", "anon_inode"}));
}

TEST(GuardianProcess, TakesLittleMemoryEvenAfterALargeEnvironment) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory counts";
#endif
  auto guardian = *Guardian::Fork();
  const OutputPipe out;
  EventReader events(guardian.get());
  WorkerSpec spec = Staged(0, {"exit", "0"}, out);
  for (int i = 0; i < 15; ++i) {
    spec.environment.emplace_back("BIG_" + std::to_string(i),
                                  std::string(100000, 'e'));
  }
  ASSERT_TRUE(guardian->Start(spec).ok());
  events.Await<AllGone>();
  std::ifstream rollup(Proc(*guardian) + "/smaps_rollup");
  std::string line;
  int kib = 0;
  while (std::getline(rollup, line)) {
    if (line.rfind("Private_", 0) == 0) {
      kib += std::stoi(line.substr(line.find(':') + 1));
    }
  }
  EXPECT_GT(kib, 0);
  EXPECT_LT(kib, 1024);
}

// The main function of PID 1 of a container. The kernel makes this process the
// parent of every orphan, so it must reap the orphans. Returns 0 if all checks
// succeed, else a number that identifies the failed check.
int RunAsPid1() {
  if (getpid() != 1) return 10;
  // Mounts a /proc of this PID namespace, because the guardian searches /proc
  // for descendants.
  mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  if (mount("proc", "/proc", "proc", 0, nullptr) != 0) return 11;
  auto guardian = *Guardian::Fork();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return 12;
  const pid_t stranger = fork();
  if (stranger == 0) {
    if (fork() != 0) _exit(0);
    const pid_t orphan = getpid();
    if (write(ends[1], &orphan, sizeof orphan) < 0) _exit(1);
    _exit(0);
  }
  pid_t orphan = 0;
  if (read(ends[0], &orphan, sizeof orphan) != sizeof orphan) return 13;
  // Waits until two exited processes, `stranger` and its orphaned child, have
  // been reaped: kill then finds no process with their pids.
  while (kill(stranger, 0) == 0 || kill(orphan, 0) == 0) {
    pollfd fd = {guardian->fd(), POLLIN, 0};
    if (poll(&fd, 1, 30000) != 1) return 14;
    if (!guardian->Next().empty()) return 15;
  }
  // If the agent is PID 1, its guardian must still start a worker and report
  // the worker's exit.
  const OutputPipe out;
  EventReader events(guardian.get());
  if (!guardian->Start(Staged(0, {"exit", "5"}, out)).ok()) return 16;
  if (WEXITSTATUS(events.Await<WorkerEnded>().wait_status) != 5) return 17;
  kill(guardian->pid(), SIGKILL);
  events.Await<GuardianLost>();
  return 0;
}

TEST(GuardianProcess, ReapsStrangersAsTheFirstProcessOfAPod) {
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(77);
    const pid_t first = fork();
    if (first == 0) _exit(RunAsPid1());
    int status = 0;
    waitpid(first, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
  }
  int status = 0;
  ASSERT_EQ(waitpid(outer, &status, 0), outer);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "making a pid namespace takes root here";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace muster::agent
