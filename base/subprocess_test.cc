#include "base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::ElementsAre;

SubprocessPlan Shell(std::string script) {
  SubprocessPlan plan;
  plan.argv = {"sh", "-c", std::move(script)};
  plan.environment = EnvironmentWith({});
  return plan;
}

struct Ended {
  int exit_code = -1;
  std::string output;
};

// Runs `plan` to its end; returns the exit code and the output.
Ended RunToEnd(SubprocessPlan plan) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const OwnedFd output(ends[0]);
  OwnedFd input(ends[1]);
  if (plan.descriptors.empty()) {
    plan.descriptors = {SubprocessPlan::kNull, input.get()};
  }
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  input.Close();
  EXPECT_TRUE(pid.ok()) << pid.status();
  if (!pid.ok()) return {};
  Ended ended;
  char bytes[4096];
  for (ssize_t got; (got = read(output.get(), bytes, sizeof bytes)) > 0;) {
    ended.output.append(bytes, static_cast<size_t>(got));
  }
  ended.exit_code = ExitCodeOf(ReapSubprocess(*pid).value_or(-1));
  return ended;
}

TEST(SubprocessTest, HasArgumentsEnvironmentAndFolder) {
  SubprocessPlan plan = Shell("echo \"$0 $A $PWD\"; exit 3");
  plan.argv.push_back("x y");
  plan.environment = {"A=b c", "PATH=/usr/bin:/bin"};
  plan.working_directory = "/usr";
  const Ended ended = RunToEnd(plan);
  EXPECT_EQ(ended.output, "x y b c /usr\n");
  EXPECT_EQ(ended.exit_code, 3);
}

TEST(SubprocessTest, ChangedVariableAppearsOnce) {
  setenv("MUSTER_SUBPROCESS", "old", 1);
  SubprocessPlan plan = Shell("env | grep MUSTER_SUBPROCESS");
  plan.environment = EnvironmentWith({"MUSTER_SUBPROCESS=new"});
  EXPECT_EQ(RunToEnd(plan).output, "MUSTER_SUBPROCESS=new\n");
}

TEST(SubprocessTest, ChildHasOnlyTheDescriptorsOfThePlan) {
  int a[2];
  int b[2];
  ASSERT_EQ(pipe2(a, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(b, O_CLOEXEC), 0);
  const OwnedFd a_read(a[0]), a_write(a[1]), b_read(b[0]), b_write(b[1]);
  SubprocessPlan plan = Shell("echo 1; echo 4 >&4; ls /proc/self/fd >&2");
  // plan.descriptors[n] becomes the child's descriptor n. The pipes of this
  // process are close-on-exec, so the child must have no other descriptors.
  plan.descriptors = {SubprocessPlan::kNull, a_write.get(), a_write.get(),
                      SubprocessPlan::kInherit, b_write.get()};
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  ASSERT_TRUE(pid.ok()) << pid.status();
  EXPECT_EQ(ReapSubprocess(*pid), 0);
  char bytes[256];
  ssize_t got = read(a_read.get(), bytes, sizeof bytes);
  ASSERT_GT(got, 0);
  // The child's `ls` lists its own open descriptors. Number 3 is the folder
  // that `ls` reads; 0, 1, 2 and 4 come from the plan.
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(got)), "1\n0\n1\n2\n3\n4\n");
  got = read(b_read.get(), bytes, sizeof bytes);
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(got)), "4\n");
}

TEST(SubprocessTest, DescriptorsMayTradePlaces) {
  int a[2];
  int b[2];
  ASSERT_EQ(pipe2(a, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(b, O_CLOEXEC), 0);
  const OwnedFd a_read(a[0]), a_write(a[1]), b_read(b[0]), b_write(b[1]);
  const int last = std::max(a_write.get(), b_write.get());
  ASSERT_LT(last, 10) << "sh knows numbers of one digit";
  SubprocessPlan plan =
      Shell("echo via a >&" + std::to_string(a_write.get()) +
            "; echo via b >&" + std::to_string(b_write.get()));
  plan.descriptors.assign(static_cast<size_t>(last) + 1, SubprocessPlan::kNull);
  plan.descriptors[static_cast<size_t>(a_write.get())] = b_write.get();
  plan.descriptors[static_cast<size_t>(b_write.get())] = a_write.get();
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  ASSERT_TRUE(pid.ok()) << pid.status();
  EXPECT_EQ(ReapSubprocess(*pid), 0);
  char bytes[256];
  ssize_t got = read(a_read.get(), bytes, sizeof bytes);
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(got)), "via b\n");
  got = read(b_read.get(), bytes, sizeof bytes);
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(got)), "via a\n");
}

// StartSubprocess must not open a descriptor of its own: another thread may
// fork at that moment, and its child would inherit the descriptor and keep it
// open. This test starts a program while no descriptor is free.
TEST(SubprocessTest, StartsWithoutAFreeDescriptor) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low = {.rlim_cur = 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<OwnedFd> all;
  do {
    all.emplace_back(eventfd(0, EFD_CLOEXEC));
  } while (all.back().open());
  const absl::StatusOr<pid_t> pid = StartSubprocess(Shell("exit 3"));
  all.clear();
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(pid.ok()) << pid.status();
  EXPECT_EQ(ExitCodeOf(ReapSubprocess(*pid).value_or(0)), 3);
}

TEST(SubprocessTest, SignalsHaveTheirDefaults) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  const auto hup = signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(RunToEnd(Shell("kill -TERM $$")).exit_code, 128 + SIGTERM);
  EXPECT_EQ(RunToEnd(Shell("kill -HUP $$")).exit_code, 128 + SIGHUP);
  signal(SIGHUP, hup);
  sigset_t after;
  sigprocmask(SIG_SETMASK, &before, &after);
  EXPECT_TRUE(sigismember(&after, SIGTERM)) << "this thread's mask is kept";
  EXPECT_FALSE(sigismember(&after, SIGINT));
}

TEST(SubprocessTest, SignalsMayBeIgnoredOrBlocked) {
  SubprocessPlan plan = Shell("kill -HUP $$; kill -TERM $$; echo survived");
  plan.ignored_signals = uint64_t{1} << (SIGHUP - 1);
  sigaddset(&plan.blocked_signals, SIGTERM);
  EXPECT_EQ(RunToEnd(plan).output, "survived\n");
}

TEST(SubprocessTest, GroupOrSessionIsItsOwn) {
  // In the script, $1 to $4 are fields of /proc/PID/stat: state, parent, group,
  // session.
  const std::string script =
      "set -- $(sed 's/.*) //' /proc/$$/stat); "
      "[ $3 = $$ ] && echo group; [ $4 = $$ ] && echo session; true";
  SubprocessPlan plan = Shell(script);
  EXPECT_EQ(RunToEnd(plan).output, "");
  plan.group = SubprocessPlan::Group::kOwnGroup;
  EXPECT_EQ(RunToEnd(plan).output, "group\n");
  plan.group = SubprocessPlan::Group::kOwnSession;
  EXPECT_EQ(RunToEnd(plan).output, "group\nsession\n");
}

TEST(SubprocessTest, DeathSignalComesWhenTheParentThreadEnds) {
  SubprocessPlan plan = Shell("exec tail -f /dev/null");
  plan.death_signal = SIGTERM;
  absl::StatusOr<pid_t> pid = absl::UnknownError("not started");
  std::thread([&] { pid = StartSubprocess(plan); }).join();
  ASSERT_TRUE(pid.ok()) << pid.status();
  ASSERT_TRUE(AwaitSubprocess(*pid, MonotonicNow() + minutes(1)));
  EXPECT_EQ(ExitCodeOf(ReapSubprocess(*pid).value_or(0)), 128 + SIGTERM);
}

TEST(SubprocessTest, RefusalNamesWhatFailed) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "under ThreadSanitizer the child shares no memory";
#endif
  SubprocessPlan plan = Shell("");
  plan.argv = {"/no/such/program"};
  absl::Status why = StartSubprocess(plan).status();
  EXPECT_TRUE(absl::IsNotFound(why));
  EXPECT_EQ(why.message(), "/no/such/program: No such file or directory");
  plan.argv = {"no-such-program-anywhere"};
  EXPECT_TRUE(absl::IsNotFound(StartSubprocess(plan).status()));
  plan.argv = {"/usr"};
  EXPECT_TRUE(absl::IsPermissionDenied(StartSubprocess(plan).status()));
  plan = Shell("");
  plan.working_directory = "/no/such/folder";
  why = StartSubprocess(plan).status();
  EXPECT_EQ(why.message(), "/no/such/folder: No such file or directory");
  plan = Shell("");
  plan.descriptors = {1000};
  EXPECT_TRUE(absl::IsInternal(StartSubprocess(plan).status()));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was not reaped";
}

TEST(MergeEnvironmentTest, ReplacesUnsetsAndAdds) {
  EXPECT_THAT(MergeEnvironment({"A=1", "B=2", "C=3"}, {"B=two", "D=x=y"},
                               {"C", "NONE"}),
              ElementsAre("A=1", "B=two", "D=x=y"));
}

TEST(MergeEnvironmentTest, LastChangeOfANameCountsAndBeatsUnset) {
  EXPECT_THAT(MergeEnvironment({"A=1", "A=2"}, {"A=3", "A=4"}, {"A"}),
              ElementsAre("A=4"));
}

TEST(MergeEnvironmentTest, BeginningOfANameIsAnotherName) {
  EXPECT_THAT(MergeEnvironment({"RANKS=1", "RANK=2"}, {}, {"RANK"}),
              ElementsAre("RANKS=1"));
}

TEST(MergeEnvironmentTest, EntryWithoutAValueIsKept) {
  EXPECT_THAT(MergeEnvironment({"ODD", "=X"}, {}, {}),
              ElementsAre("ODD", "=X"));
}

class AwaitSubprocessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::StatusOr<pid_t> pid =
        StartSubprocess(Shell("exec tail -f /dev/null"));
    ASSERT_TRUE(pid.ok()) << pid.status();
    pid_ = *pid;
  }
  void TearDown() override {
    kill(pid_, SIGKILL);
    EXPECT_EQ(ReapSubprocess(pid_), SIGKILL);
    EXPECT_EQ(ReapSubprocess(pid_), std::nullopt);
    EXPECT_TRUE(AwaitSubprocess(pid_, MonotonicNow() + minutes(1)))
        << "waits for a child that is reaped";
  }

  pid_t pid_ = 0;
};

TEST_F(AwaitSubprocessTest, EndsWithTheChild) {
  const OwnedFd end = OpenPidFd(pid_);
  EXPECT_TRUE(end.open());
  kill(pid_, SIGKILL);
  EXPECT_TRUE(AwaitSubprocess(pid_, MonotonicNow() + minutes(1)));
}

TEST_F(AwaitSubprocessTest, EndsAtTheDeadline) {
  const Instant deadline = MonotonicNow() + milliseconds(20);
  EXPECT_FALSE(AwaitSubprocess(pid_, deadline));
  EXPECT_GE(MonotonicNow(), deadline);
}

TEST_F(AwaitSubprocessTest, EndsWhenCancelled) {
  const OwnedFd cancel(eventfd(1, EFD_CLOEXEC));
  EXPECT_FALSE(
      AwaitSubprocess(pid_, MonotonicNow() + minutes(1), cancel.get()));
}

TEST(ExitCodeOfTest, SignalIsAddedTo128) {
  EXPECT_EQ(ExitCodeOf(3 << 8), 3);
  EXPECT_EQ(ExitCodeOf(SIGKILL), 128 + SIGKILL);
}

TEST(OwnProgramTest, IsTheFileThatRuns) {
  struct stat running, named;
  ASSERT_EQ(stat("/proc/self/exe", &running), 0);
  ASSERT_EQ(OwnProgram().substr(0, 1), "/");
  ASSERT_EQ(stat(OwnProgram().c_str(), &named), 0);
  EXPECT_EQ(named.st_ino, running.st_ino);
}

}  // namespace
}  // namespace muster
