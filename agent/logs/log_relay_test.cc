// Tests of LogRelay, with pipes and with a terminal as the console.
#include "agent/logs/log_relay.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::seconds kLong(60);

// A console whose text a test can read. After StartReading, a thread of this
// class keeps the console's pipe empty.
class FakeConsole {
 public:
  FakeConsole() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0); }
  ~FakeConsole() { TakeAll(); }

  int fd() const { return ends_[1]; }
  void StartReading() {
    thread_ = std::thread([this] {
      char buffer[65536];
      ssize_t count;
      while ((count = read(ends_[0], buffer, sizeof buffer)) > 0) {
        text_.append(buffer, count);
      }
    });
  }
  // Reads the next `count` bytes of the pipe; must not be called after
  // StartReading.
  std::string Read(size_t count) const {
    std::string text;
    pollfd readable = {ends_[0], POLLIN, 0};
    while (text.size() < count && poll(&readable, 1, 60000) == 1) {
      char byte;
      if (read(ends_[0], &byte, 1) != 1) break;
      text.push_back(byte);
    }
    return text;
  }
  void Leave() {
    close(ends_[0]);
    ends_[0] = -1;
  }
  // Returns all text that was written. Before the call, the relay must be
  // destroyed, because it holds the write end of the pipe.
  std::string TakeAll() {
    if (ends_[1] < 0) return text_;
    close(ends_[1]);
    ends_[1] = -1;
    if (!thread_.joinable()) StartReading();
    thread_.join();
    close(ends_[0]);
    return text_;
  }

 private:
  int ends_[2];
  std::thread thread_;
  std::string text_;
};

class LogRelayTest : public ::testing::Test {
 protected:
  LogRelayTest() {
    std::string name = ::testing::TempDir() + "/relay-XXXXXX";
    folder_ = mkdtemp(name.data());
    plan_.directory = folder_;
    plan_.run_name = "job";
  }
  ~LogRelayTest() override {
    // Destroys the relay before the folder is removed, because the relay's
    // thread may still create files.
    relay_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Start() {
    relay_ = std::make_unique<LogRelay>(plan_, NewConsole(out_, err_));
  }
  // Returns a console that the test does not keep: the console is destroyed
  // together with the relay.
  static std::shared_ptr<Console> NewConsole(const FakeConsole& out,
                                             const FakeConsole& err) {
    return std::make_shared<Console>(ConsoleFds{out.fd(), err.fd()});
  }
  LogRelay::Pipes Open(int local_rank, int attempt = 0) {
    LogRelay::Worker worker;
    worker.attempt = attempt;
    worker.local_rank = local_rank;
    worker.rank = 10 + local_rank;
    worker.prefix = "[n:" + std::to_string(worker.rank) + "] ";
    absl::StatusOr<LogRelay::Pipes> pipes = relay_->Open(worker);
    EXPECT_TRUE(pipes.ok()) << pipes.status();
    return pipes.ok() ? *std::move(pipes) : LogRelay::Pipes();
  }
  static void Put(int fd, std::string_view text) {
    while (!text.empty()) {
      ssize_t count = write(fd, text.data(), text.size());
      ASSERT_GT(count, 0);
      text.remove_prefix(count);
    }
  }
  static void Close(const LogRelay::Pipes& pipes) {
    close(pipes.stdout_fd);
    close(pipes.stderr_fd);
  }
  // Runs a worker that prints one line on each stream.
  void Speak(int local_rank) {
    LogRelay::Pipes pipes = Open(local_rank);
    Put(pipes.stdout_fd, "out\n");
    Put(pipes.stderr_fd, "err\n");
    Close(pipes);
  }
  std::string Log(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ + "/job/" + name).rdbuf();
    return text.str();
  }

  LogPlan plan_;
  std::string folder_;
  FakeConsole out_;
  FakeConsole err_;
  // The relay under test. It is declared after the consoles out_ and err_, to
  // which it writes, and is therefore destroyed before them.
  std::unique_ptr<LogRelay> relay_;
};

TEST_F(LogRelayTest, FilesAreNamedByAttemptAndGlobalRank) {
  Start();
  EXPECT_TRUE(relay_->CheckWritable().ok());
  EXPECT_EQ(relay_->DirectoryOf(2, 13), folder_ + "/job/attempt_2/13");
  Close(Open(3, 2));
  relay_->Flush();
  EXPECT_TRUE(std::filesystem::is_regular_file(relay_->DirectoryOf(2, 13) +
                                               "/stdout.log"));
  Speak(0);
  relay_->Flush();
  EXPECT_EQ(Log("attempt_0/10/stdout.log"), "out\n");
  EXPECT_EQ(Log("attempt_0/10/stderr.log"), "err\n");
  relay_ = nullptr;
  EXPECT_EQ(out_.TakeAll(), "[n:10] out\n");
  EXPECT_EQ(err_.TakeAll(), "[n:10] err\n");
}

TEST_F(LogRelayTest, ATaggedRunHasItsFolderOnceItsTagIsKnown) {
  plan_.is_tagged = true;
  Start();
  EXPECT_TRUE(relay_->CheckWritable().ok());
  EXPECT_EQ(relay_->RunFolder(), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_TRUE(relay_->BeginRound("1a2b"));
  EXPECT_FALSE(relay_->BeginRound("1a2b"));
  EXPECT_EQ(relay_->RunFolder(), folder_ + "/job_1a2b");
  EXPECT_EQ(relay_->DirectoryOf(2, 13), folder_ + "/job_1a2b/attempt_2/13");
  Close(Open(3, 2));
  relay_->Flush();
  EXPECT_TRUE(std::filesystem::is_regular_file(relay_->DirectoryOf(2, 13) +
                                               "/stdout.log"));
  EXPECT_TRUE(relay_->BeginRound("3c4d"));
  EXPECT_EQ(relay_->RunFolder(), folder_ + "/job_3c4d");
}

TEST_F(LogRelayTest, WithoutATagARunHasTheFolderOfItsName) {
  plan_.is_tagged = true;
  Start();
  EXPECT_TRUE(relay_->BeginRound(""));
  EXPECT_EQ(relay_->RunFolder(), folder_ + "/job");
}

TEST_F(LogRelayTest, ARunThatIsNotTaggedKeepsItsFolder) {
  Start();
  EXPECT_FALSE(relay_->BeginRound("1a2b"));
  EXPECT_EQ(relay_->RunFolder(), folder_ + "/job");
}

TEST_F(LogRelayTest, WithoutAFolderThereAreNoFilesButAConsole) {
  plan_.directory = "";
  Start();
  EXPECT_TRUE(relay_->CheckWritable().ok());
  EXPECT_EQ(relay_->DirectoryOf(0, 0), "");
  Speak(0);
  relay_ = nullptr;
  EXPECT_EQ(out_.TakeAll(), "[n:10] out\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LogRelayTest, TheConsoleGetsWhatIsNotRedirectedAndWhatIsTeed) {
  plan_.redirects.by_local_rank = {{1, StreamSet::kBoth}, {2, StreamSet::kOut}};
  plan_.tee.by_local_rank = {{1, StreamSet::kErr}};
  Start();
  for (int local_rank : {0, 1, 2}) {
    Speak(local_rank);
    relay_->Flush();
  }
  relay_ = nullptr;
  EXPECT_EQ(out_.TakeAll(), "[n:10] out\n");
  EXPECT_EQ(err_.TakeAll(), "[n:10] err\n[n:11] err\n[n:12] err\n");
  EXPECT_EQ(Log("attempt_0/11/stdout.log"), "out\n");
  EXPECT_EQ(Log("attempt_0/12/stdout.log"), "out\n");
}

TEST_F(LogRelayTest, LocalRanksFilterHidesOthersFromTheConsoleOnly) {
  plan_.console_local_ranks = {1};
  Start();
  Speak(0);
  Speak(1);
  relay_ = nullptr;
  EXPECT_EQ(out_.TakeAll(), "[n:11] out\n");
  EXPECT_EQ(Log("attempt_0/10/stdout.log"), "out\n");
}

TEST_F(LogRelayTest, FiltersCollectTheLinesOfAllRanks) {
  plan_.stdout_filters = {"loss"};
  plan_.console_local_ranks = {7};
  Start();
  for (int local_rank : {0, 1}) {
    LogRelay::Pipes pipes = Open(local_rank);
    Put(pipes.stdout_fd, "step\nloss " + std::to_string(local_rank) + "\n");
    Put(pipes.stderr_fd, "loss on the other stream\n");
    Close(pipes);
    relay_->Flush();
  }
  EXPECT_EQ(Log("attempt_0/filtered_stdout.log"),
            "[n:10] loss 0\n[n:11] loss 1\n");
  EXPECT_FALSE(
      std::filesystem::exists(folder_ + "/job/attempt_0/filtered_stderr.log"));
}

TEST_F(LogRelayTest, LinesOfSeveralWorkersAreNeverInterleaved) {
  constexpr int kWorkers = 4;
  constexpr int kLines = 10000;
  out_.StartReading();
  Start();
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([fd = Open(i).stdout_fd] {
      std::string pending;
      for (int line = 0; line < kLines; ++line) {
        pending += std::to_string(line) + std::string(line % 80, '.') + "\n";
        // Writes in pieces of 1000 bytes, so that most pieces end within a
        // line.
        if (pending.size() > 1000) {
          Put(fd, std::string_view(pending).substr(0, 1000));
          pending.erase(0, 1000);
        }
      }
      Put(fd, pending);
      close(fd);
    });
  }
  for (std::thread& worker : workers) worker.join();
  relay_->Flush();
  relay_ = nullptr;

  // number of the next expected line, by prefix
  std::map<std::string, int> next;
  std::istringstream console(out_.TakeAll());
  for (std::string line; std::getline(console, line);) {
    std::string prefix = line.substr(0, line.find(' ') + 1);
    int i = next[prefix]++;
    ASSERT_EQ(line, prefix + std::to_string(i) + std::string(i % 80, '.'));
  }
  EXPECT_EQ(next.size(), static_cast<size_t>(kWorkers));
  for (const auto& [prefix, lines] : next) EXPECT_EQ(lines, kLines) << prefix;
}

// A number of lines that is larger than the console's queue and the pipes can
// hold.
constexpr size_t kManyLines = 100000;

std::string ManyLines() {
  std::string lines;
  for (size_t i = 0; i < kManyLines; ++i) lines += std::string(99, 'x') + "\n";
  return lines;
}

TEST_F(LogRelayTest, UnreadConsoleHoldsUpOnlyItsStream) {
  Start();
  LogRelay::Pipes pipes = Open(0);
  auto done = std::async(std::launch::async,
                         [lines = ManyLines(), fd = pipes.stdout_fd] {
                           Put(fd, lines);
                           close(fd);
                         });
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (relay_->HeldUpFor(0).time == Duration::zero()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
  // While stdout is not being read, stderr is read, shown and remembered as
  // usual.
  err_.StartReading();
  Put(pipes.stderr_fd, "last words\n");
  EXPECT_THAT(relay_->StderrTail(0), ElementsAre("last words"));
  EXPECT_EQ(done.wait_for(std::chrono::seconds(0)),
            std::future_status::timeout);
  close(pipes.stderr_fd);

  out_.StartReading();
  ASSERT_EQ(done.wait_for(kLong), std::future_status::ready);
  EXPECT_TRUE(relay_->Flush({.without_progress = kLong}));
  EXPECT_EQ(relay_->HeldUpFor(0).time, Duration::zero());
  relay_ = nullptr;
  const std::string shown = out_.TakeAll();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), kManyLines);
  EXPECT_EQ(err_.TakeAll(), "[n:10] last words\n");
  EXPECT_EQ(Log("attempt_0/10/stdout.log").size(), kManyLines * 100);
}

TEST_F(LogRelayTest, AConsoleThatIsGivenUpHasEverythingInTheFiles) {
  auto console = NewConsole(out_, err_);
  relay_ = std::make_unique<LogRelay>(plan_, console);
  // Text that the console's queue and pipe can hold although the test does not
  // read the console.
  const std::string lines = ManyLines().substr(0, 4 << 20);
  int fd = Open(0).stdout_fd;
  Put(fd, lines);
  close(fd);
  relay_->Finish({.without_progress = std::chrono::milliseconds(20)});
  EXPECT_EQ(Log("attempt_0/10/stdout.log").size(), lines.size());
  ASSERT_EQ(console->Losses(relay_->RunFolder()).size(), 1u);
  EXPECT_THAT(
      console->Losses(relay_->RunFolder())[0],
      HasSubstr(
          " bytes were left out of stdout, because its reader has stopped; "
          "the workers' output is in the files of " +
          folder_ + "/job"));
  EXPECT_FALSE(console->Failed());
  relay_ = nullptr;
}

TEST_F(LogRelayTest, AnUnfinishedLineIsShownAfterAMoment) {
  Start();
  int fd = Open(0).stdout_fd;
  Put(fd, "Continue? ");
  EXPECT_EQ(out_.Read(17), "[n:10] Continue? ");
  Put(fd, "yes\n");
  EXPECT_EQ(out_.Read(4), "yes\n");
  close(fd);
}

TEST_F(LogRelayTest, LinesAreNotCutByTheWaitForTheConsole) {
  Start();
  LogRelay::Pipes first = Open(0);
  LogRelay::Pipes second = Open(1);
  std::vector<std::future<void>> done;
  for (int fd : {first.stdout_fd, second.stdout_fd}) {
    done.push_back(std::async(std::launch::async, [fd] {
      const std::string lines = ManyLines();
      // Writes in pieces of 4096 bytes, so that most pieces end within a line.
      for (size_t at = 0; at < lines.size(); at += 4096) {
        Put(fd, std::string_view(lines).substr(at, 4096));
      }
      close(fd);
    }));
  }
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (relay_->HeldUpFor(0).time < 2 * WorkerStream::kPartialDelay ||
         relay_->HeldUpFor(1).time < 2 * WorkerStream::kPartialDelay) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
  out_.StartReading();
  for (std::future<void>& writer : done) writer.wait();
  close(first.stderr_fd);
  close(second.stderr_fd);
  EXPECT_TRUE(relay_->Flush({.without_progress = kLong}));
  relay_ = nullptr;
  const std::string shown = out_.TakeAll();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 2 * kManyLines);
}

TEST_F(LogRelayTest, ClosedReaderHoldsUpNothing) {
  Start();
  out_.Leave();
  int fd = Open(0).stdout_fd;
  Put(fd, ManyLines());
  close(fd);
  EXPECT_TRUE(relay_->Flush());
  EXPECT_EQ(Log("attempt_0/10/stdout.log").size(), kManyLines * 100);
}

TEST_F(LogRelayTest, RotationKeepsEveryByte) {
  plan_.rotation = LogPlan::Rotation::kOfAllStreams;
  plan_.rotate_bytes = 10000;
  plan_.keep_rotated = 1000;
  plan_.redirects.all = StreamSet::kBoth;
  Start();
  int fd = Open(0).stdout_fd;
  std::string all;
  for (int i = 0; i < 20000; ++i) all += "line " + std::to_string(i) + "\n";
  Put(fd, all);
  close(fd);
  relay_->Flush();
  std::string read;
  for (int i = 1000; i > 0; --i) {
    read += Log("attempt_0/10/stdout.log." + std::to_string(i));
  }
  EXPECT_EQ(read + Log("attempt_0/10/stdout.log"), all);
  EXPECT_GT(read.size(), 0u);
}

TEST_F(LogRelayTest, TheTailHasWhatTheWorkerWroteLast) {
  plan_.redirects.all = StreamSet::kBoth;
  Start();
  for (int round = 0; round < 20; ++round) {
    LogRelay::Pipes pipes = Open(0, round);
    std::string last = "the end of round " + std::to_string(round);
    Put(pipes.stderr_fd, "before\n" + last);
    Close(pipes);
    EXPECT_THAT(relay_->StderrTail(0), ElementsAre("before", last));
    EXPECT_THAT(relay_->StderrTail(0), ElementsAre("before", last));
  }
  EXPECT_THAT(relay_->StderrTail(1), IsEmpty());
}

TEST_F(LogRelayTest, GrandchildThatHoldsThePipeDelaysNothing) {
  Start();
  LogRelay::Pipes pipes = Open(0);
  Put(pipes.stderr_fd, "whole\nboom");
  // The write end stays open, as if a grandchild of the agent held it after the
  // worker's exit. StderrTail does not wait for the end of the stream, and
  // returns the unfinished line "boom" too.
  EXPECT_THAT(relay_->StderrTail(0), ElementsAre("whole", "boom"));
  relay_->Flush();
  EXPECT_EQ(Log("attempt_0/10/stderr.log"), "whole\nboom");
  // The grandchild still writes to the pipe after the next attempt (Open(0, 1))
  // has begun. This text, too, must arrive in the file of attempt 0.
  LogRelay::Pipes next = Open(0, 1);
  Put(pipes.stderr_fd, " later\n");
  relay_->Flush();
  EXPECT_EQ(Log("attempt_0/10/stderr.log"), "whole\nboom later\n");
  EXPECT_THAT(relay_->StderrTail(0), IsEmpty());
  Close(next);
  relay_ = nullptr;
  Close(pipes);
  EXPECT_EQ(err_.TakeAll(), "[n:10] whole\n[n:10] boom later\n");
}

TEST_F(LogRelayTest, UnwritableFileIsReportedAndHarmsNoWorker) {
  std::string worker = folder_ + "/job/attempt_0/10";
  std::filesystem::create_directories(worker);
  std::filesystem::create_symlink("/dev/full", worker + "/stdout.log");
  Start();
  int fd = Open(0).stdout_fd;
  for (int i = 0; i < 100; ++i) Put(fd, "line\n");
  close(fd);
  relay_->Flush();
  relay_ = nullptr;
  std::string told = err_.TakeAll();
  EXPECT_THAT(told, HasSubstr("stdout.log: No space left on device"));
  EXPECT_THAT(told, HasSubstr("500 bytes are missing at the end"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 2);
  std::string shown = out_.TakeAll();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 100);
}

// A FIFO without a reader simulates a file on a file system that hangs.
TEST_F(LogRelayTest, AHungFileSystemDelaysNeitherWorkerNorConsole) {
  const std::string worker = folder_ + "/job/attempt_0/10";
  std::filesystem::create_directories(worker);
  const std::string hung = worker + "/stdout.log";
  ASSERT_EQ(mkfifo(hung.c_str(), 0600), 0);
  const auto account = std::make_shared<LogAccount>();
  auto console = NewConsole(out_, err_);
  relay_ = std::make_unique<LogRelay>(plan_, console, account);
  const LogRelay::Pipes pipes = Open(0);
  // More text than a pipe holds.
  std::string lines;
  while (lines.size() < 3 << 20) lines += "line\n";
  out_.StartReading();
  Put(pipes.stdout_fd, lines);
  Put(pipes.stderr_fd, "boom\n");
  Close(pipes);
  EXPECT_THAT(relay_->StderrTail(0), ElementsAre("boom"));
  const auto shown = static_cast<int64_t>(lines.size() / 5 * 12 + 12);
  const Instant deadline = MonotonicNow() + kLong;
  while (console->written() < shown && MonotonicNow() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(console->written(), shown);
  // Finish waits for nothing, because end_signals says that two signals have
  // asked this process to end.
  relay_->Finish({.without_progress = kLong, .end_signals = [] { return 2; }});
  relay_ = nullptr;
  EXPECT_EQ(account->sums().lost, static_cast<int64_t>(lines.size() + 5));
  console = nullptr;
  EXPECT_THAT(err_.TakeAll(), HasSubstr(hung + " has not answered for "));
  close(open(hung.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

TEST_F(LogRelayTest, CheckWritableNamesWhatIsWrong) {
  plan_.directory = "/dev/null/logs";
  Start();
  absl::Status status = relay_->CheckWritable();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/null"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Not a directory"));
}

TEST_F(LogRelayTest, SharedConsoleKeepsLinesWhole) {
  out_.StartReading();
  relay_ = std::make_unique<LogRelay>(plan_, NewConsole(out_, out_));
  LogRelay::Pipes pipes = Open(0);
  std::string large(60000, 'x');
  std::thread writer([&] {
    for (int i = 0; i < 30; ++i) Put(pipes.stdout_fd, "o" + large + "\n");
  });
  for (int i = 0; i < 30; ++i) Put(pipes.stderr_fd, "e" + large + "\n");
  writer.join();
  Close(pipes);
  relay_ = nullptr;
  std::istringstream console(out_.TakeAll());
  for (std::string line; std::getline(console, line);) {
    ASSERT_EQ(line.size(), 8u + large.size());
  }
}

// Each worker writes 10000 bytes to stdout. If a worker's log file is rotated,
// two files of 1000 bytes are left; otherwise the log file has all bytes. The
// console shows the stdout of worker 1 only. By default only worker 1's file is
// rotated; with kOfAllStreams both workers' files are.
TEST_F(LogRelayTest, OnlyShownStreamsAreRotatedUnlessAsked) {
  const std::string line = std::string(99, 'x') + "\n";
  plan_.rotate_bytes = 1000;
  plan_.keep_rotated = 1;
  plan_.redirects = *ParseStreamsByRank("0:1");
  int attempt = 0;
  for (const LogPlan::Rotation rotation :
       {LogPlan::Rotation::kOfShownStreams, LogPlan::Rotation::kOfAllStreams}) {
    for (const int rank : {0, 1}) {
      plan_.rotation = rotation;
      auto account = std::make_shared<LogAccount>();
      relay_ =
          std::make_unique<LogRelay>(plan_, NewConsole(out_, err_), account);
      const LogRelay::Pipes pipes = Open(rank, attempt);
      for (int i = 0; i < 100; ++i) Put(pipes.stdout_fd, line);
      close(pipes.stdout_fd);
      close(pipes.stderr_fd);
      relay_.reset();
      const std::string path = folder_ + "/job/attempt_" +
                               std::to_string(attempt) + "/" +
                               std::to_string(10 + rank) + "/stdout.log";
      const bool is_whole =
          rank == 0 && rotation == LogPlan::Rotation::kOfShownStreams;
      EXPECT_EQ(std::filesystem::file_size(path), is_whole ? 10000u : 1000u);
      EXPECT_EQ(std::filesystem::exists(path + ".1"), !is_whole);
      EXPECT_EQ(account->sums().dropped, is_whole ? 0 : 8000);
    }
    ++attempt;
  }
}

TEST_F(LogRelayTest, BytesThatOnlyARemovedFileHadAreCounted) {
  plan_.redirects = *ParseStreamsByRank("1");
  for (const StreamSet stream : {StreamSet::kOut, StreamSet::kErr}) {
    auto account = std::make_shared<LogAccount>();
    relay_ = std::make_unique<LogRelay>(plan_, NewConsole(out_, err_), account);
    const LogRelay::Pipes pipes = Open(0);
    Put(stream == StreamSet::kOut ? pipes.stdout_fd : pipes.stderr_fd,
        "four\n");
    relay_->Flush({.without_progress = kLong});
    std::filesystem::remove_all(folder_ + "/job");
    close(pipes.stdout_fd);
    close(pipes.stderr_fd);
    relay_.reset();
    EXPECT_EQ(account->sums().lost, 5);
    EXPECT_EQ(account->sums().lost_file_only,
              stream == StreamSet::kOut ? 5 : 0);
  }
}

using ::testing::HasSubstr;

class LogTerminalTest : public ::testing::Test {
 protected:
  LogTerminalTest() : screen_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    char path[128] = "";
    grantpt(screen_.get());
    unlockpt(screen_.get());
    ptsname_r(screen_.get(), path, sizeof path);
    console_ = OwnedFd(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios modes = {};
    tcgetattr(console_.get(), &modes);
    modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    tcsetattr(console_.get(), TCSANOW, &modes);
    std::string name = ::testing::TempDir() + "/terminal-XXXXXX";
    plan_.directory = mkdtemp(name.data());
    plan_.run_name = "job";
    worker_.alone = true;
    worker_.prefix = "[n:0] ";
  }
  ~LogTerminalTest() override {
    relay_.reset();
    std::filesystem::remove_all(plan_.directory);
  }

  LogRelay::Pipes Open() {
    relay_ = std::make_unique<LogRelay>(
        plan_,
        std::make_shared<Console>(ConsoleFds{console_.get(), console_.get()}));
    absl::StatusOr<LogRelay::Pipes> pipes = relay_->Open(worker_);
    EXPECT_TRUE(pipes.ok()) << pipes.status();
    return pipes.ok() ? *std::move(pipes) : LogRelay::Pipes();
  }
  static void Put(int fd, const std::string& text) {
    EXPECT_EQ(write(fd, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  // Reads the terminal's output until it ends in `end`.
  std::string ShownUntil(const std::string& end) {
    pollfd one = {screen_.get(), POLLIN, 0};
    while (shown_.find(end) == std::string::npos && poll(&one, 1, 30000) == 1) {
      char bytes[4096];
      const ssize_t got = read(screen_.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      shown_.append(bytes, static_cast<size_t>(got));
    }
    return shown_;
  }
  std::string Log(const std::string& name) const {
    std::ifstream file(plan_.directory + "/job/attempt_0/0/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  OwnedFd screen_;
  OwnedFd console_;
  LogPlan plan_;
  LogRelay::Worker worker_;
  std::unique_ptr<LogRelay> relay_;
  std::string shown_;
};

TEST_F(LogTerminalTest, TheOnlyWorkersBytesPassAsTheyAre) {
  const LogRelay::Pipes pipes = Open();
  EXPECT_EQ(isatty(pipes.stdout_fd), 1);
  EXPECT_EQ(isatty(pipes.stderr_fd), 1);
  EXPECT_TRUE(pipes.stdout_terminal.open());
  Put(pipes.stdout_fd, "half");
  EXPECT_EQ(ShownUntil("half"), "half");
  Put(pipes.stdout_fd, "\r\x1b[1m50%\x1b[0m\n");
  EXPECT_EQ(ShownUntil("\n"), "half\r\x1b[1m50%\x1b[0m\n");
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
}

TEST_F(LogTerminalTest, LogsAndLastWordsAreWholeWhenTheWorkerHasEnded) {
  const LogRelay::Pipes pipes = Open();
  std::string said;
  for (int i = 0; i < 2000; ++i) said += std::to_string(i) + "\n";
  Put(pipes.stderr_fd, said);
  Put(pipes.stdout_fd, "out");
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
  ASSERT_FALSE(relay_->StderrTail(0).empty());
  EXPECT_EQ(relay_->StderrTail(0).back(), "1999");
  relay_.reset();
  EXPECT_EQ(Log("stderr.log"), said);
  EXPECT_EQ(Log("stdout.log"), "out");
}

TEST_F(LogTerminalTest, TextAfterTheEndBeginsANewLine) {
  const LogRelay::Pipes pipes = Open();
  Put(pipes.stdout_fd, "no newline");
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
  EXPECT_EQ(ShownUntil("\n"), "no newline\n");
}

TEST_F(LogTerminalTest, SeveralWorkersAreShownAsLines) {
  worker_.alone = false;
  const LogRelay::Pipes pipes = Open();
  EXPECT_EQ(isatty(pipes.stdout_fd), 0);
  EXPECT_FALSE(pipes.stdout_terminal.open());
  Put(pipes.stdout_fd, "line\n");
  EXPECT_THAT(ShownUntil("line"), HasSubstr("[n:0] line"));
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
}

TEST_F(LogTerminalTest, ATeedStreamIsShownAsLines) {
  plan_.tee.all = StreamSet::kOut;
  const LogRelay::Pipes pipes = Open();
  EXPECT_EQ(isatty(pipes.stdout_fd), 0);
  EXPECT_EQ(isatty(pipes.stderr_fd), 1);
  Put(pipes.stdout_fd, "line\n");
  EXPECT_THAT(ShownUntil("line"), HasSubstr("[n:0] line"));
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
}

TEST_F(LogTerminalTest, ARedirectedStreamIsNoTerminal) {
  plan_.redirects.all = StreamSet::kBoth;
  const LogRelay::Pipes pipes = Open();
  EXPECT_EQ(isatty(pipes.stdout_fd), 0);
  EXPECT_EQ(isatty(pipes.stderr_fd), 0);
  close(pipes.stdout_fd);
  close(pipes.stderr_fd);
}

}  // namespace
}  // namespace muster::agent
