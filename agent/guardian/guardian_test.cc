#include "agent/guardian/guardian.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>

#include "agent/guardian/guardian_harness.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

// Whether this system refuses memory policies. Possible reasons: its kernel has
// no NUMA support, or a container's seccomp profile forbids the calls.
bool RefusesMemoryPolicies() {
  return syscall(SYS_set_mempolicy, 0, nullptr, 0) != 0;
}

class GuardianTest : public ::testing::Test {
 protected:
  GuardianTest() : guardian_(*Guardian::Fork()), events_(guardian_.get()) {}

  ~GuardianTest() override {
    for (const std::string& path : files_) unlink(path.c_str());
  }

  void Start(int local_rank, std::vector<std::string> acts) {
    ASSERT_TRUE(
        guardian_->Start(Staged(local_rank, std::move(acts), out_)).ok());
  }

  // Runs a worker that performs `acts` and must exit with 0. Returns its first
  // line of output.
  std::string OutputOf(std::vector<std::string> acts) {
    Start(0, std::move(acts));
    std::string line = out_.Line();
    EXPECT_EQ(events_.Await<WorkerEnded>().wait_status, 0);
    events_.Await<AllGone>();
    return line;
  }

  WorkerNotStarted Failure(const WorkerSpec& spec) {
    EXPECT_TRUE(guardian_->Start(spec).ok());
    std::vector<GuardianEvent> before;
    auto failure = events_.Await<WorkerNotStarted>(&before);
    EXPECT_TRUE(before.empty()) << "started, and then did not";
    events_.Await<AllGone>();
    return failure;
  }

  // Creates a file with the given content and mode in this test's folder.
  // Returns its path.
  std::string File(const std::string& name, const std::string& content,
                   mode_t mode) {
    std::string path = ::testing::TempDir() + "/guardian_test_" +
                       std::to_string(getpid()) + "_" + name;
    std::ofstream(path) << content;
    chmod(path.c_str(), mode);
    files_.push_back(path);
    return path;
  }

  OutputPipe out_;
  std::unique_ptr<Guardian> guardian_;
  EventReader events_;
  std::vector<std::string> files_;
};

TEST_F(GuardianTest, StartEndAndAllGoneArriveInThisOrder) {
  Start(3, {"exit", "0"});
  const auto started = std::get<WorkerStarted>(events_.Next());
  EXPECT_EQ(started.local_rank, 3);
  const auto ended = std::get<WorkerEnded>(events_.Next());
  EXPECT_EQ(ended.local_rank, 3);
  EXPECT_EQ(ended.pid, started.pid);
  EXPECT_EQ(ended.wait_status, 0);
  EXPECT_TRUE(std::holds_alternative<AllGone>(events_.Next()));
}

TEST_F(GuardianTest, ExitCodesAndSignalsAreReported) {
  Start(0, {"exit", "37"});
  int status = events_.Await<WorkerEnded>().wait_status;
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 37);
  Start(0, {"raise", "10"});
  status = events_.Await<WorkerEnded>().wait_status;
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGUSR1);
  Start(0, {"raise", "9"});
  status = events_.Await<WorkerEnded>().wait_status;
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(GuardianTest, BindsAWorkerToTheCpusItIsGiven) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &own)) last = cpu;
  }
  WorkerSpec spec = Staged(0, {"say-cpus"}, out_);
  spec.cpus = {last};
  ASSERT_TRUE(guardian_->Start(spec).ok());
  EXPECT_EQ(out_.Line(), std::to_string(last));
  events_.Await<AllGone>();
  // A second worker, without `cpus`, must not be bound to the CPU of the first
  // one: binding a worker must not change the CPU affinity of the guardian.
  const std::string bound = OutputOf({"say-cpus"});
  EXPECT_EQ(bound == std::to_string(last), CPU_COUNT(&own) == 1) << bound;
}

TEST_F(GuardianTest, MissingCpusAreReported) {
  WorkerSpec spec = Staged(0, {"exit", "0"}, out_);
  spec.cpus = {60001, 60002, 60003};
  const WorkerNotStarted failure = Failure(spec);
  EXPECT_EQ(failure.step, "bind");
  EXPECT_EQ(failure.path, "60001-60003");
  EXPECT_EQ(failure.error, EINVAL);
}

TEST_F(GuardianTest, WorkerIgnoresTheGivenSignals) {
  WorkerSpec spec = Staged(0, {"say-signals"}, out_);
  spec.ignored_signals = uint64_t{1} << (SIGUSR1 - 1);
  ASSERT_TRUE(guardian_->Start(spec).ok());
  EXPECT_EQ(out_.Line(), std::to_string(SIGUSR1) + " ignored end");
}

TEST_F(GuardianTest, PrefersAMemoryNodeWhereTheKernelLetsIt) {
  WorkerSpec spec = Staged(0, {"say-memory"}, out_);
  spec.memory_node = 0;
  ASSERT_TRUE(guardian_->Start(spec).ok());
  const std::string policy = out_.Line();
  EXPECT_TRUE(policy == "1 of 1" || RefusesMemoryPolicies()) << policy;
  events_.Await<AllGone>();
  // The guardian ignores a NUMA node that does not exist.
  spec.memory_node = 1023;
  ASSERT_TRUE(guardian_->Start(spec).ok());
  EXPECT_NE(out_.Line(), "1 of 1");
  EXPECT_EQ(events_.Await<WorkerEnded>().wait_status, 0);
}

TEST_F(GuardianTest, MissingProgramIsReported) {
  WorkerSpec spec;
  spec.argv = {"/nowhere/program"};
  const auto failure = Failure(spec);
  EXPECT_EQ(failure.step, "exec");
  EXPECT_EQ(failure.path, "/nowhere/program");
  EXPECT_EQ(failure.error, ENOENT);
  spec.argv = {"no-such-program-anywhere"};
  EXPECT_EQ(Failure(spec).error, ENOENT);
  spec.argv = {""};
  EXPECT_EQ(Failure(spec).error, ENOENT);
}

TEST_F(GuardianTest, ProgramWithoutPermissionIsReported) {
  WorkerSpec spec;
  spec.argv = {File("plain", "text", 0644)};
  auto failure = Failure(spec);
  EXPECT_EQ(failure.step, "exec");
  EXPECT_EQ(failure.path, spec.argv[0]);
  EXPECT_EQ(failure.error, EACCES);
  spec.argv = {"/tmp"};
  EXPECT_EQ(Failure(spec).error, EISDIR);
}

TEST_F(GuardianTest, ScriptWithoutInterpreterIsReported) {
  WorkerSpec spec;
  spec.argv = {File("bad", "#! /no/such/python -u\nprint(1)\n", 0755)};
  auto failure = Failure(spec);
  EXPECT_EQ(failure.step, "interpreter");
  EXPECT_EQ(failure.path, "/no/such/python");
  EXPECT_EQ(failure.error, ENOENT);
  spec.argv = {File("none", "print(1)\n", 0755)};
  failure = Failure(spec);
  EXPECT_EQ(failure.step, "exec");
  EXPECT_EQ(failure.error, ENOEXEC);
}

TEST_F(GuardianTest, LooksTheProgramUpInTheWorkersPath) {
  const std::string program =
      File("tool", "#!/bin/sh\necho found \"$1\"\n", 0755);
  const std::string forbidden = File("forbidden", "text", 0644);
  const size_t slash = program.rfind('/');
  WorkerSpec spec;
  spec.argv = {program.substr(slash + 1), "argument"};
  spec.environment = {{"PATH", "/nowhere:" + program.substr(0, slash)}};
  spec.stdout_fd = out_.write_end();
  ASSERT_TRUE(guardian_->Start(spec).ok());
  EXPECT_EQ(out_.Line(), "found argument");
  events_.Await<AllGone>();
  spec.argv = {forbidden.substr(slash + 1)};
  const auto failure = Failure(spec);
  EXPECT_EQ(failure.path, forbidden);
  EXPECT_EQ(failure.error, EACCES);
}

TEST_F(GuardianTest, MissingWorkingDirectoryIsReported) {
  WorkerSpec spec;
  spec.argv = {"/bin/true"};
  spec.working_directory = "/nowhere";
  const auto failure = Failure(spec);
  EXPECT_EQ(failure.step, "chdir");
  EXPECT_EQ(failure.path, "/nowhere");
  EXPECT_EQ(failure.error, ENOENT);
}

TEST_F(GuardianTest, TooLongArgumentsAreReported) {
  WorkerSpec spec;
  spec.argv = {"/bin/true", std::string(256 << 10, 'x')};
  EXPECT_EQ(Failure(spec).error, E2BIG);
}

TEST_F(GuardianTest, RefusesWhatNoProcessCanBeGiven) {
  WorkerSpec spec;
  EXPECT_THAT(std::string(guardian_->Start(spec).message()),
              HasSubstr("no program is given"));
  spec.argv = {"/bin/true", std::string("a\0b", 3)};
  EXPECT_THAT(std::string(guardian_->Start(spec).message()),
              HasSubstr("argument 1 holds a NUL"));
  spec.argv = {"/bin/true"};
  spec.environment = {{"A=B", "c"}};
  EXPECT_THAT(std::string(guardian_->Start(spec).message()),
              HasSubstr("\"A=B\" is no name"));
  spec.environment = {{"A", std::string(9 << 20, 'x')}};
  EXPECT_THAT(std::string(guardian_->Start(spec).message()),
              HasSubstr("bytes, more than 8388608"));
  // The guardian is not affected by the invalid requests, which Start has
  // refused: it still starts a valid worker.
  EXPECT_EQ(OutputOf({"say-stdin"}), "null");
}

TEST_F(GuardianTest, WorkersGetNothingButTheirThreeDescriptors) {
  // a pipe of the agent, which is open during the start and which the worker
  // must not inherit
  const OutputPipe another;
  EXPECT_EQ(OutputOf({"say-descriptors"}), "0 1 2 ");
}

TEST_F(GuardianTest, OneWorkerReadsItsKeyAndNoOtherWorkerHasIt) {
  int pipe[2] = {-1, -1};
  ASSERT_EQ(pipe2(pipe, O_CLOEXEC), 0);
  const OwnedFd read_end(pipe[0]);
  OwnedFd write_end(pipe[1]);
  ASSERT_EQ(write(write_end.get(), "the key", 7), 7);
  write_end.Close();
  WorkerSpec spec = Staged(0, {"say-key"}, out_);
  spec.key_fd = read_end.get();
  // stdin is set as well, so that the frame carries the maximum of four
  // descriptors
  spec.stdin_fd = read_end.get();
  spec.unset = {"MUSTER_CHANNEL_KEY_PIPE"};
  ASSERT_TRUE(guardian_->Start(spec).ok());
  Start(1, {"say-variable", "MUSTER_CHANNEL_KEY_PIPE", "say-descriptors"});
  std::set<std::string> lines;
  for (int i = 0; i < 3; ++i) lines.insert(out_.Line());
  EXPECT_EQ(lines, (std::set<std::string>{"the key", "(unset)", "0 1 2 "}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(events_.Await<WorkerEnded>().wait_status, 0);
  }
}

TEST_F(GuardianTest, WorkersReadNothingFromStdin) {
  EXPECT_EQ(OutputOf({"say-stdin"}), "null");
}

TEST_F(GuardianTest, WorkersHaveNoSignalBlockedOrIgnored) {
  // The guardian inherits the signals that its agent ignores, for instance
  // because of nohup. The guardian's workers must not ignore them.
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  guardian_ = *Guardian::Fork();
  std::signal(SIGHUP, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  events_ = EventReader(guardian_.get());
  EXPECT_EQ(OutputOf({"say-signals"}), "end");
}

TEST_F(GuardianTest, WorkersStartInTheirDirectory) {
  WorkerSpec spec = Staged(0, {"say-directory"}, out_);
  char* const here = get_current_dir_name();
  spec.argv[0] = std::string(here) + "/" + spec.argv[0];
  free(here);
  spec.working_directory = "/";
  ASSERT_TRUE(guardian_->Start(spec).ok());
  EXPECT_EQ(out_.Line(), "/");
}

TEST_F(GuardianTest, TheEnvironmentIsTheAgentsWithTheDifferences) {
  WorkerSpec spec = Staged(
      0, {"say-variable", "NEW", "say-variable", "PATH", "say-variable", "PWD"},
      out_);
  spec.environment = {{"NEW", "first=second"}, {"EMPTY", ""}};
  spec.unset = {"PWD"};
  ASSERT_TRUE(guardian_->Start(spec).ok());
  EXPECT_EQ(out_.Line(), "first=second");
  EXPECT_EQ(out_.Line(), getenv("PATH"));
  EXPECT_EQ(out_.Line(), "(unset)");
}

TEST_F(GuardianTest, CarriesArgumentsAndEnvironmentOfNearlyAMegabyteEach) {
  rlimit stack = {};
  getrlimit(RLIMIT_STACK, &stack);
  // The kernel limits arguments and environment together to a quarter of the
  // stack limit. They have about 1.8 MB in this test, so the stack limit must
  // be at least 8 MiB.
  if (stack.rlim_cur < 8 << 20) GTEST_SKIP() << "needs ulimit -s 8192";
  std::vector<std::string> acts = {"say-sizes", "ignore-rest"};
  for (int i = 0; i < 9; ++i) acts.emplace_back(100000, 'a');
  WorkerSpec spec = Staged(0, acts, out_);
  for (int i = 0; i < 9; ++i) {
    spec.environment.emplace_back("BIG_" + std::to_string(i),
                                  std::string(100000, 'e'));
  }
  ASSERT_TRUE(guardian_->Start(spec).ok());
  std::istringstream sizes(out_.Line());
  size_t arguments = 0;
  size_t variables = 0;
  sizes >> arguments >> variables;
  EXPECT_EQ(arguments, 900000 + StagedWorker().size() + 20);
  EXPECT_GE(variables, 900000u);
  EXPECT_EQ(events_.Await<WorkerEnded>().wait_status, 0);
}

TEST_F(GuardianTest, AWorkerLeadsASession) {
  Start(0, {"say-session"});
  const std::string session = out_.Line();
  EXPECT_EQ(session, std::to_string(events_.Await<WorkerStarted>().pid));
}

// The guardian gets two requests at the same time: to start the worker, and to
// signal the worker. The guardian sends the signal just after the worker's
// fork. The signal must end the worker nevertheless.
TEST_F(GuardianTest, ASignalRightAfterTheStartIsNotLost) {
  for (int i = 0; i < 50; ++i) {
    Start(0, {"pause"});
    guardian_->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
    EXPECT_EQ(WTERMSIG(events_.Await<WorkerEnded>().wait_status), SIGTERM);
    events_.Await<AllGone>();
  }
}

TEST_F(GuardianTest, ExitSaysWhetherTheWorkerWasSignalled) {
  Start(0, {"say-pid", "pause"});
  const int pid = std::stoi(out_.Line());
  const OwnedFd process = OpenPidFd(pid);
  // While the guardian is stopped (SIGSTOP), kill the worker and request a
  // signal to the worker. After SIGCONT the guardian finds the worker's exit
  // and the request at the same time. The guardian must not report the worker
  // as signalled.
  ASSERT_EQ(kill(guardian_->pid(), SIGSTOP), 0);
  ASSERT_EQ(kill(pid, SIGKILL), 0);
  EXPECT_TRUE(!process.open() || Ends(process));
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
  ASSERT_EQ(kill(guardian_->pid(), SIGCONT), 0);
  EXPECT_FALSE(events_.Await<WorkerEnded>().signalled);
  events_.Await<AllGone>();
  Start(0, {"say-pid", "pause"});
  out_.Line();
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
  EXPECT_TRUE(events_.Await<WorkerEnded>().signalled);
}

TEST_F(GuardianTest, AStoppedWorkerTakesASignalThatAsksItToEnd) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    Start(0, {"say-pid", "pause"});
    ASSERT_EQ(kill(std::stoi(out_.Line()), SIGSTOP), 0);
    guardian_->SignalAll(signal, Guardian::Reach::kProcessGroups);
    EXPECT_EQ(WTERMSIG(events_.Await<WorkerEnded>().wait_status), signal);
    events_.Await<AllGone>();
  }
}

TEST_F(GuardianTest, StoppedLeftoverProcessesAreNamed) {
  WorkerSpec spec = Staged(0, {"fork-and-exit", "say-pid", "pause"}, out_);
  spec.environment.emplace_back("RANK", "7");
  ASSERT_TRUE(guardian_->Start(spec).ok());
  out_.Line();
  events_.Await<WorkerEnded>();
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kEverything);
  EXPECT_EQ(events_.Await<AllGone>().left_behind,
            (std::vector<LeftBehind>{{7, "staged_worker"}}));
  Start(0, {"fork-and-exit", "say-pid"});
  out_.Line();
  EXPECT_TRUE(events_.Await<AllGone>().left_behind.empty())
      << "ended by itself";
}

TEST_F(GuardianTest, AStoppedProcessInASessionOfItsOwnTakesItToo) {
  Start(0, {"fork-and-exit", "setsid", "say-pid", "pause"});
  const int pid = std::stoi(out_.Line());
  const OwnedFd process = OpenPidFd(pid);
  ASSERT_EQ(kill(pid, SIGSTOP), 0);
  events_.Await<WorkerEnded>();
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kEverything);
  EXPECT_TRUE(!process.open() || Ends(process));
  events_.Await<AllGone>();
}

TEST_F(GuardianTest, ASignalToOneWorkerLeavesTheOthers) {
  Start(0, {"say-pid", "pause"});
  Start(1, {"say-pid", "pause"});
  out_.Line();
  out_.Line();
  guardian_->SignalOne(1, SIGKILL);
  EXPECT_EQ(events_.Await<WorkerEnded>().local_rank, 1);
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
  const auto other = events_.Await<WorkerEnded>();
  EXPECT_EQ(other.local_rank, 0);
  EXPECT_EQ(WTERMSIG(other.wait_status), SIGTERM);
}

TEST_F(GuardianTest, StartsSixtyFourWorkersEachLeadingItsGroup) {
  std::set<std::string> groups;
  for (int i = 0; i < 64; ++i) Start(i, {"say-group", "pause"});
  std::set<std::string> pids;
  for (int i = 0; i < 64; ++i) {
    groups.insert(out_.Line());
    pids.insert(std::to_string(events_.Await<WorkerStarted>().pid));
  }
  EXPECT_EQ(groups.size(), 64u);
  EXPECT_EQ(groups, pids);
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
  std::set<int> ended;
  std::vector<GuardianEvent> events;
  events_.Await<AllGone>(&events);
  for (const GuardianEvent& event : events) {
    ended.insert(std::get<WorkerEnded>(event).local_rank);
  }
  EXPECT_EQ(ended.size(), 64u);
}

TEST_F(GuardianTest, StartsManyWithFewDescriptors) {
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 128;
  setrlimit(RLIMIT_NOFILE, &few);
  guardian_ = *Guardian::Fork();
  setrlimit(RLIMIT_NOFILE, &before);
  events_ = EventReader(guardian_.get());
  for (int i = 0; i < 300; ++i) Start(i, {"pause"});
  for (int i = 0; i < 300; ++i) events_.Await<WorkerStarted>();
  guardian_->SignalAll(SIGKILL, Guardian::Reach::kEverything);
  events_.Await<AllGone>();
}

TEST_F(GuardianTest, SaysAllGoneOnceForManyThatEndWhileOthersStart) {
  for (int i = 0; i < 32; ++i) Start(i, {"exit", "0"});
  std::vector<GuardianEvent> before;
  events_.Await<AllGone>(&before);
  // 32 events WorkerStarted and 32 events WorkerEnded
  EXPECT_EQ(before.size(), 64u);
}

TEST_F(GuardianTest, StaleAllGoneIsDropped) {
  Start(0, {"say-pid", "exit", "0"});
  // Waits until worker 0 has exited, so that the guardian reaps worker 0 before
  // it handles the start of worker 1.
  const OwnedFd worker = OpenPidFd(std::stoi(out_.Line()));
  ASSERT_TRUE(!worker.open() || Ends(worker));
  Start(1, {"say-pid", "pause"});
  out_.Line();
  guardian_->SignalAll(SIGKILL, Guardian::Reach::kProcessGroups);
  std::vector<GuardianEvent> before;
  events_.Await<AllGone>(&before);
  EXPECT_EQ(before.size(), 4u);
}

TEST_F(GuardianTest, TermLeavesWhoIgnoresItAndKillDoesNot) {
  Start(0, {"ignore-term", "say-pid", "pause"});
  Start(1, {"say-pid", "pause"});
  out_.Line();
  out_.Line();
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
  const auto first = events_.Await<WorkerEnded>();
  EXPECT_EQ(first.local_rank, 1);
  EXPECT_EQ(WTERMSIG(first.wait_status), SIGTERM);
  guardian_->SignalAll(SIGKILL, Guardian::Reach::kProcessGroups);
  const auto second = events_.Await<WorkerEnded>();
  EXPECT_EQ(second.local_rank, 0);
  EXPECT_EQ(WTERMSIG(second.wait_status), SIGKILL);
}

TEST_F(GuardianTest, LocalRankCanBeReusedAfterItsExitWasReported) {
  Start(0, {"say-pid", "pause"});
  out_.Line();
  EXPECT_TRUE(guardian_->Start(Staged(0, {"exit", "0"}, out_)).ok());
  EXPECT_EQ(events_.Await<WorkerNotStarted>().error, EBUSY);
  guardian_->SignalAll(SIGKILL, Guardian::Reach::kProcessGroups);
  events_.Await<WorkerEnded>();
  EXPECT_TRUE(guardian_->Start(Staged(0, {"exit", "0"}, out_)).ok());
  EXPECT_EQ(events_.Await<WorkerEnded>().wait_status, 0);
}

TEST_F(GuardianTest, IsDeafToTheSignalsThatEndAnAgent) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) {
    kill(guardian_->pid(), signal);
  }
  EXPECT_EQ(OutputOf({"say-stdin"}), "null");
}

TEST_F(GuardianTest, SignalsWithoutWorkersHaveNoEffect) {
  guardian_->SignalAll(SIGTERM, Guardian::Reach::kProcessGroups);
  guardian_->SignalAll(SIGKILL, Guardian::Reach::kEverything);
  // SIGTERM and SIGKILL were sent while there was no worker. A worker that
  // starts later must not get these signals: it runs to its end.
  EXPECT_EQ(OutputOf({"say-stdin"}), "null");
}

}  // namespace
}  // namespace muster::agent
