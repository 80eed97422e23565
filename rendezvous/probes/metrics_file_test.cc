#include "rendezvous/probes/metrics_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <string>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class MetricsFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/metrics-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/job.prom";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::string path_;
};

TEST_F(MetricsFileTest, TheFileIsReplacedUntilTheEndAndThenRemoved) {
  std::atomic<int> made = 0;
  std::promise<void> third;
  {
    const MetricsFile file(
        path_,
        [&] {
          // MetricsFile calls this function for the file's next text only after
          // it has written the previous text. So at the third call, it has
          // written two texts.
          if (++made == 3) third.set_value();
          return "n " + std::to_string(made) + "\n";
        },
        [](const std::string& sentence) { ADD_FAILURE() << sentence; },
        milliseconds(1));
    ASSERT_EQ(third.get_future().wait_for(seconds(30)),
              std::future_status::ready);
    // Before MetricsFile asked for the third text, it wrote the first two texts
    // to a temporary file and renamed it to `path_`. So the file `path_` exists
    // now.
    std::string text;
    while ((text = TextOf(path_)).empty()) std::this_thread::yield();
    EXPECT_THAT(text, ::testing::MatchesRegex("n [0-9]+\n"));
    struct stat info = {};
    ASSERT_EQ(stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0644u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(MetricsFileTest, AFolderThatDoesNotExistIsSaidOnce) {
  std::atomic<int> said = 0;
  std::atomic<int> made = 0;
  std::promise<std::string> sentence;
  std::promise<void> later;
  {
    const MetricsFile file(
        folder_ + "/none/job.prom",
        [&] {
          if (said > 0 && ++made == 3) later.set_value();
          return "x 1\n";
        },
        [&](const std::string& text) {
          if (++said == 1) sentence.set_value(text);
        },
        milliseconds(1));
    EXPECT_THAT(sentence.get_future().get(),
                HasSubstr("none/job.prom: No such file or directory"));
    later.get_future().wait();
  }
  EXPECT_EQ(said, 1);
}

TEST_F(MetricsFileTest, ALinkInTheFolderIsNotFollowed) {
  const std::string victim = folder_ + "/victim";
  std::ofstream(victim) << "kept";
  ASSERT_EQ(symlink(victim.c_str(), path_.c_str()), 0);
  ASSERT_EQ(
      symlink(victim.c_str(), (path_ + "." + std::to_string(getpid())).c_str()),
      0);
  std::promise<void> second;
  std::atomic<int> made = 0;
  {
    const MetricsFile file(
        path_,
        [&] {
          if (++made == 2) second.set_value();
          return "x 1\n";
        },
        [](const std::string&) {}, milliseconds(1));
    second.get_future().wait();
  }
  EXPECT_EQ(TextOf(victim), "kept");
}

TEST(CheckMetricsFileTest, NodeExporterReadsOnlyProm) {
  EXPECT_TRUE(CheckMetricsFile("/var/lib/node_exporter/muster.prom").ok());
  EXPECT_THAT(std::string(CheckMetricsFile("/tmp/muster.txt").message()),
              HasSubstr("does not end with .prom"));
}

}  // namespace
}  // namespace muster::rendezvous
