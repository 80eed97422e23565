#include "agent/preemption/preemption_announcer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <mutex>
#include <sstream>

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PreemptionAnnouncerTest : public ::testing::Test {
 protected:
  PreemptionAnnouncer::Options Options(const std::string& command) {
    return {.command = command,
            .run_id = "train",
            .node_id = "a",
            .on_notice = [this](const std::string& line) {
              std::lock_guard<std::mutex> lock(mutex_);
              notices_.push_back(line);
            }};
  }
  void Announce(PreemptionAnnouncer& announcer, Duration grace = seconds(60)) {
    announcer.Announce({.signal = 10, .host = "n1", .left = grace},
                       [this] { done_.set_value(); });
  }
  bool Done() {
    return done_.get_future().wait_for(seconds(60)) ==
           std::future_status::ready;
  }
  std::vector<std::string> notices() {
    std::lock_guard<std::mutex> lock(mutex_);
    return notices_;
  }

 private:
  std::promise<void> done_;
  std::mutex mutex_;
  std::vector<std::string> notices_;
};

TEST_F(PreemptionAnnouncerTest, WithoutACommandItIsDoneAtOnce) {
  PreemptionAnnouncer announcer(Options(""));
  Announce(announcer);
  EXPECT_TRUE(Done());
  EXPECT_THAT(notices(), IsEmpty());
}

TEST_F(PreemptionAnnouncerTest, TheNoticeItselfDoesNotEndTheCommand) {
  PreemptionAnnouncer::Options options = Options(
      "kill -USR1 $$; sh -c 'kill -TERM $$; kill -USR1 $$' || exit 7; "
      "kill -USR2 $$");
  options.signals = {SIGUSR1, SIGTERM};
  PreemptionAnnouncer announcer(options);
  Announce(announcer);
  EXPECT_TRUE(Done());
  EXPECT_THAT(notices(), ElementsAre("--on-preempt failed: killed by SIGUSR2"));
}

TEST_F(PreemptionAnnouncerTest, TheCommandKnowsWhatHasHappened) {
  std::string folder = testing::TempDir() + "announcer-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  PreemptionAnnouncer announcer(
      Options("echo $MUSTER_RUN_ID $MUSTER_NODE_ID $MUSTER_PREEMPTION_SIGNAL "
              "$MUSTER_PREEMPTION_HOST $MUSTER_PREEMPTION_GRACE "
              "$(cat $MUSTER_PREEMPTION_FILE); exit 1"));
  announcer.file().PutInto(folder);
  Announce(announcer);
  EXPECT_TRUE(Done());
  EXPECT_THAT(notices(),
              ElementsAre(HasSubstr(
                  "--on-preempt failed: train a SIGUSR1 n1 60 {\"signal\"")));
}

TEST_F(PreemptionAnnouncerTest, TheCommandHasAsLongAsTheGrace) {
  PreemptionAnnouncer announcer(Options("exec tail -f /dev/null"));
  Announce(announcer, milliseconds(100));
  EXPECT_TRUE(Done());
  EXPECT_THAT(notices(), ElementsAre(HasSubstr("did not end within 0.1 s")));
}

TEST_F(PreemptionAnnouncerTest, ItCanBeEnded) {
  PreemptionAnnouncer announcer(Options("exec tail -f /dev/null"));
  Announce(announcer);
  announcer.End("its time is over");
  EXPECT_THAT(notices(),
              ElementsAre("--on-preempt was ended before it was done: its time "
                          "is over"));
}

TEST_F(PreemptionAnnouncerTest, EndAfterTheCommandHasNoEffect) {
  PreemptionAnnouncer announcer(Options("exit 0"));
  Announce(announcer);
  EXPECT_TRUE(Done());
  announcer.End("its time is over");
  EXPECT_THAT(notices(), IsEmpty());
}

TEST_F(PreemptionAnnouncerTest, WithoutACommandThereIsNothingToEnd) {
  PreemptionAnnouncer announcer(Options(""));
  Announce(announcer);
  announcer.End("its time is over");
  EXPECT_THAT(notices(), IsEmpty());
}

using ::testing::HasSubstr;

constexpr Duration kGrace = std::chrono::milliseconds(118'500);

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(PreemptionLine, IsOneLineOfJson) {
  EXPECT_EQ(PreemptionLine({.signal = 10, .host = "n1", .left = kGrace}),
            "{\"signal\":\"SIGUSR1\",\"host\":\"n1\",\"grace_s\":118.5}\n");
  EXPECT_THAT(PreemptionLine({.signal = 15, .host = "a\"\n\xff"}),
              HasSubstr("a\\\"\\n\xEF\xBF\xBD"));
}

TEST(PreemptionFile, IsThereOnceTheNoticeHasCome) {
  std::string folder = testing::TempDir() + "preemption-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::string path;
  {
    PreemptionFile file;
    file.PutInto(folder);
    path = file.path();
    EXPECT_NE(access(path.c_str(), F_OK), 0);
    ASSERT_TRUE(file.Write({.signal = 10, .host = "n1"}).ok());
    EXPECT_THAT(Read(path), HasSubstr("SIGUSR1"));
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_EQ(rmdir(folder.c_str()), 0) << "something was left";
}

TEST(PreemptionFile, SaysWhyItCannotBeWritten) {
  PreemptionFile file;
  file.PutInto("/nowhere/at/all");
  const absl::Status written = file.Write({.signal = 10, .host = "n1"});
  EXPECT_THAT(std::string(written.message()), HasSubstr("/nowhere/at/all"));
}

TEST(PreemptionFile, IsNowhereWithoutAFolder) {
  PreemptionFile file;
  file.PutInto("");
  EXPECT_EQ(file.path(), "");
  EXPECT_TRUE(file.Write({.signal = 10, .host = "n1"}).ok());
}

}  // namespace
}  // namespace muster::agent
