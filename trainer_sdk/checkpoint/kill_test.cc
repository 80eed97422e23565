// Tests of checkpoints that real processes save on a real disk. The processes
// are killed at random moments, or have too low a limit on file sizes.

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/process_group/local_transport.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

constexpr int kElements = 20'000;

std::string NewFolder() {
  std::string path = testing::TempDir() + "/checkpoint-XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  return path;
}

absl::StatusOr<std::unique_ptr<ProcessGroup>> Alone() {
  GroupPlace place;
  place.size = 1;
  place.store = std::make_shared<InProcessStore>();
  place.name = "world";
  return ProcessGroup::Create(
      std::move(place),
      [](const GroupPlace& p, Instant) { return NewLocalTransport(p); });
}

std::vector<CheckpointSlice> Slices(std::vector<int32_t>& values) {
  return {WholeTensor({"values", {kElements}, values})};
}

void Fill(int64_t step, std::vector<int32_t>* values) {
  for (int i = 0; i < kElements; ++i) {
    (*values)[static_cast<size_t>(i)] = static_cast<int32_t>(step * 7 + i);
  }
}

// The main function of a child process. Resumes from the newest checkpoint, and
// saves one step after another until it is killed. Writes the number of each
// saved step to the pipe `tell`.
[[noreturn]] void SaveForEver(const std::string& folder, int tell) {
  auto group = Alone();
  if (!group.ok()) _exit(2);
  auto writer =
      CheckpointWriter::Create(**group, {.directory = folder, .keep = 2});
  if (!writer.ok()) _exit(3);
  int64_t step = 0;
  if (const auto last = CheckpointReader::OpenNewest(folder); last.ok()) {
    step = (*last)->step();
  } else if (!absl::IsNotFound(last.status())) {
    _exit(4);
  }
  std::vector<int32_t> values(kElements);
  while (true) {
    Fill(++step, &values);
    if (!(*writer)->Save(step, Slices(values), "").ok()) _exit(5);
    if (!(*writer)->Wait().ok()) _exit(6);
    if (write(tell, &step, sizeof(step)) != sizeof(step)) _exit(7);
  }
}

TEST(KillTest, ReportedSaveSurvivesTheKill) {
  const std::string folder = NewFolder();
  std::mt19937 random(7);
  int64_t told = 0;
  for (int round = 0; round < 20; ++round) {
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(pipes[0]);
      SaveForEver(folder, pipes[1]);
    }
    close(pipes[1]);
    // Wait until the child has reported a random number of saves, at most
    // three. Then kill the child at a random moment of its next save.
    for (unsigned left = random() % 3 + (round == 0 ? 1 : 0); left > 0;
         --left) {
      ASSERT_EQ(read(pipes[0], &told, sizeof(told)),
                static_cast<ssize_t>(sizeof(told)));
    }
    const timespec moment = {.tv_nsec =
                                 static_cast<long>(random() % 8'000'000)};
    pollfd next = {.fd = pipes[0], .events = POLLIN};
    ppoll(&next, 1, &moment, nullptr);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    while (read(pipes[0], &told, sizeof(told)) > 0) {
    }
    close(pipes[0]);

    const auto reader = CheckpointReader::OpenNewest(folder);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_TRUE((*reader)->skipped().empty());
    const int64_t step = (*reader)->step();
    EXPECT_GE(step, told);
    EXPECT_LE(step, told + 1);
    // The next child resumes from `step`, and may be killed before it saves
    // another step. So after its end, the newest step must be at least `step`.
    told = step;
    std::vector<int32_t> values(kElements);
    ASSERT_TRUE((*reader)->Read(Slices(values)).ok());
    std::vector<int32_t> expected(kElements);
    Fill(step, &expected);
    EXPECT_EQ(values, expected);
  }
}

// Saves while the process's limit on file sizes is too low. Runs in a separate
// process, because the limit cannot always be raised again. Returns 0 if all
// results are as expected, otherwise the number of the failed check.
int SaveBeyondTheLimit(const std::string& folder) {
  auto group = Alone();
  if (!group.ok()) return 2;
  auto writer = CheckpointWriter::Create(**group, {.directory = folder});
  if (!writer.ok()) return 3;
  std::vector<int32_t> values(kElements);
  Fill(1, &values);
  if (!(*writer)->Save(1, Slices(values), "").ok()) return 4;
  if (!(*writer)->Wait().ok()) return 5;
  const rlimit limit = {.rlim_cur = 10'000, .rlim_max = RLIM_INFINITY};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 6;
  Fill(2, &values);
  if (!(*writer)->Save(2, Slices(values), "").ok()) return 7;
  // The error of saving step 2 is returned by the next call of Save, with the
  // file and the system's message.
  const absl::Status status = (*writer)->Save(3, Slices(values), "");
  const std::string text(status.message());
  if (status.code() != absl::StatusCode::kResourceExhausted) return 8;
  if (text.find("the checkpoint of step 2 was not saved") != 0) return 9;
  if (text.find("rank-00000.safetensors: File too large") ==
      std::string::npos) {
    return 10;
  }
  const rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  if (setrlimit(RLIMIT_FSIZE, &none) != 0) return 11;
  if (!(*writer)->Save(4, Slices(values), "").ok()) return 12;
  return (*writer)->Wait().ok() ? 0 : 13;
}

TEST(KillTest, AFileBeyondTheLimitIsAnErrorAndNoSignal) {
  const std::string folder = NewFolder();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(SaveBeyondTheLimit(folder));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre(".lock", "step-00000001",
                                                   "step-00000004"));
}

}  // namespace
}  // namespace muster
