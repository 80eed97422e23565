#include "agent/nccl_id/nccl_id_holder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Outcome = NcclIdHolder::Outcome;

constexpr char kStaged[] = "agent/nccl_id/staged_nccl_id_process";

class NcclIdHolderTest : public ::testing::Test {
 protected:
  NcclIdHolderTest() { setenv("FAKE_NVML_GPUS", "1", 1); }
  ~NcclIdHolderTest() override {
    unsetenv("FAKE_NVML_GPUS");
    unsetenv("STAGED_NCCL_ID");
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  }

  static bool BecomesReadable(int fd) {
    pollfd news = {.fd = fd, .events = POLLIN, .revents = 0};
    return fd >= 0 && poll(&news, 1, 60'000) > 0;
  }
  // Returns the pid of the only child of this process.
  static pid_t OnlyChild() {
    std::ifstream list("/proc/thread-self/children");
    pid_t child = 0;
    list >> child;
    EXPECT_GT(child, 0);
    return child;
  }
  // Waits for the outcome of `holder`'s Make.
  static Outcome Await(NcclIdHolder& holder) {
    while (true) {
      if (auto outcome = holder.Look(MonotonicNow())) return *outcome;
      if (!BecomesReadable(holder.fd())) {
        ADD_FAILURE() << "nothing came";
        return {};
      }
    }
  }
  static Outcome MakeOne(NcclIdHolder& holder) {
    EXPECT_FALSE(holder.Make(MonotonicNow()).has_value());
    return Await(holder);
  }
};

TEST_F(NcclIdHolderTest, MakesAnIdForTheNextWorldOnce) {
  NcclIdHolder holder(kStaged);
  EXPECT_EQ(holder.fd(), -1);
  EXPECT_FALSE(holder.NextDeadline().has_value());
  const Outcome made = MakeOne(holder);
  EXPECT_THAT(made.id, SizeIs(256));
  EXPECT_THAT(made.why, IsEmpty());
  EXPECT_FALSE(holder.Make(MonotonicNow()).has_value());
  EXPECT_FALSE(holder.NextDeadline().has_value()) << "there is one already";
}

TEST_F(NcclIdHolderTest, ARoundThatUsesItKeepsItsProcess) {
  NcclIdHolder holder(kStaged);
  const Outcome made = MakeOne(holder);
  EXPECT_TRUE(holder.BeginRound(made.id));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), 0) << "it lives";
  EXPECT_FALSE(holder.LookAtRoot().has_value());
  EXPECT_FALSE(holder.Make(MonotonicNow()).has_value());
  EXPECT_NE(holder.fd(), -1) << "another is being made";
  EXPECT_THAT(Await(holder).id, SizeIs(256));
  EXPECT_FALSE(holder.BeginRound("another node's"));
  EXPECT_EQ(holder.root_fd(), -1);
  EXPECT_FALSE(holder.Make(MonotonicNow()).has_value());
  EXPECT_FALSE(holder.NextDeadline().has_value()) << "ours was not used";
  holder.Discard();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "none is needed any more";
}

TEST_F(NcclIdHolderTest, AProcessThatDiesDuringItsRoundIsNamedOnce) {
  NcclIdHolder holder(kStaged);
  const Outcome made = MakeOne(holder);
  const pid_t pid = OnlyChild();
  ASSERT_TRUE(holder.BeginRound(made.id));
  EXPECT_FALSE(holder.LookAtRoot().has_value());
  kill(pid, SIGKILL);
  ASSERT_TRUE(BecomesReadable(holder.root_fd()));
  EXPECT_EQ(holder.LookAtRoot(),
            absl::StrCat("the process that hosts the root of this round's "
                         "NCCL id (pid ",
                         pid, ") was killed by SIGKILL"));
  EXPECT_FALSE(holder.LookAtRoot().has_value());
  EXPECT_EQ(holder.root_fd(), -1);
}

TEST_F(NcclIdHolderTest, AProcessThatDiesBeforeItsRoundIsReplaced) {
  NcclIdHolder holder(kStaged);
  const Outcome made = MakeOne(holder);
  EXPECT_FALSE(holder.Look(MonotonicNow()).has_value());
  kill(OnlyChild(), SIGKILL);
  const Outcome lost = Await(holder);
  EXPECT_EQ(lost.id, "");
  EXPECT_THAT(lost.why, AllOf(HasSubstr("next round's NCCL id"),
                              HasSubstr("was killed by SIGKILL; another")));
  const Outcome next = Await(holder);
  EXPECT_THAT(next.id, SizeIs(256));
  EXPECT_NE(next.id, made.id);
  EXPECT_FALSE(holder.BeginRound(made.id)) << "its root is gone";
  EXPECT_FALSE(holder.LookAtRoot().has_value());
}

TEST_F(NcclIdHolderTest, ProcessesThatKeepDyingAreGivenUp) {
  NcclIdHolder holder(kStaged);
  for (int i = 0; i < NcclIdHolder::kMaxLosses; ++i) {
    EXPECT_THAT((i == 0 ? MakeOne(holder) : Await(holder)).id, SizeIs(256));
    kill(OnlyChild(), SIGTERM);
    const Outcome lost = Await(holder);
    EXPECT_EQ(lost.id, "");
    EXPECT_THAT(lost.why, HasSubstr(i < 2 ? "another one is started"
                                          : "by SIGTERM, as did 2 before it"));
  }
  EXPECT_EQ(holder.fd(), -1);
  EXPECT_FALSE(holder.Make(MonotonicNow()).has_value());
  EXPECT_EQ(holder.fd(), -1) << "it is not tried again";
}

TEST_F(NcclIdHolderTest, ANodeWithoutGpusSaysNothing) {
  setenv("FAKE_NVML_GPUS", "0", 1);
  NcclIdHolder holder(kStaged);
  const Outcome none = MakeOne(holder);
  EXPECT_EQ(none.id, "");
  EXPECT_EQ(none.why, "");
  EXPECT_FALSE(holder.Make(MonotonicNow()).has_value());
  EXPECT_EQ(holder.fd(), -1) << "it is not tried again";
}

TEST_F(NcclIdHolderTest, FailureGivesANotice) {
  const std::pair<const char*, const char*> kCases[] = {
      {"no-nccl", "there is no NCCL here"},
      {"die", "ended, or spoke nonsense"},
      {"nonsense", "ended, or spoke nonsense"},
  };
  for (const auto& [act, words] : kCases) {
    setenv("STAGED_NCCL_ID", act, 1);
    NcclIdHolder holder(kStaged);
    EXPECT_THAT(MakeOne(holder).why,
                AllOf(HasSubstr(words), HasSubstr("through the store")));
  }
  NcclIdHolder holder("agent/nccl_id/no-such-program");
  const auto failed = holder.Make(MonotonicNow());
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->why, HasSubstr(": No such file"));
}

TEST_F(NcclIdHolderTest, AProcessThatHangsIsGivenUp) {
  setenv("STAGED_NCCL_ID", "hang", 1);
  NcclIdHolder holder(kStaged);
  const Instant begin = MonotonicNow();
  EXPECT_FALSE(holder.Make(begin).has_value());
  ASSERT_TRUE(holder.NextDeadline().has_value());
  EXPECT_EQ(*holder.NextDeadline() - begin, NcclIdHolder::kCreationTimeout);
  EXPECT_FALSE(holder.Look(begin).has_value());
  const auto late = holder.Look(begin + NcclIdHolder::kCreationTimeout);
  ASSERT_TRUE(late.has_value());
  EXPECT_THAT(late->why, HasSubstr("longer than 10 s"));
}

TEST_F(NcclIdHolderTest, WithoutAProgramNothingHappens) {
  NcclIdHolder holder("");
  EXPECT_FALSE(holder.Make(MonotonicNow()).has_value());
  EXPECT_EQ(holder.fd(), -1);
}

TEST(NcclIdProgramTest, NoProgramIfAnIdIsOfNoUse) {
  EXPECT_EQ(NcclIdProgram({{"CUDA_VISIBLE_DEVICES", ""}}), "");
  EXPECT_EQ(NcclIdProgram({{"CUDA_VISIBLE_DEVICES", "-1"}}), "");
  EXPECT_EQ(NcclIdProgram({{"NCCL_COMM_ID", "10.0.0.1:1234"}}), "");
  const bool has_driver =
      access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
  EXPECT_EQ(NcclIdProgram({}), has_driver ? "/proc/self/exe" : "");
}

// The NCCL id process exits when its stdin is closed, as after the agent's
// death.
TEST(NcclIdProcess, EndsWithItsInput) {
  setenv("FAKE_NVML_GPUS", "1", 1);
  int life[2];
  int answer[2];
  ASSERT_EQ(pipe(life), 0);
  ASSERT_EQ(pipe(answer), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(life[0], STDIN_FILENO);
    dup2(answer[1], STDOUT_FILENO);
    for (int fd : {life[0], life[1], answer[0], answer[1]}) close(fd);
    execl(kStaged, kStaged, "--nccl-id-process", nullptr);
    _exit(127);
  }
  close(life[0]);
  close(answer[1]);
  std::string said(512, '\0');
  said.resize(read(answer[0], said.data(), said.size()));
  EXPECT_THAT(said, SizeIs(3 + 256 + 1));
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), 0) << "it hosts the root";
  close(life[1]);
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  close(answer[0]);
  unsetenv("FAKE_NVML_GPUS");
}

}  // namespace
}  // namespace muster::agent
