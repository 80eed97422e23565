#include "agent/preemption/preemption_announcer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <csignal>
#include <future>
#include <mutex>

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

TEST_F(PreemptionAnnouncerTest, OneThatIsOverIsNotEnded) {
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

}  // namespace
}  // namespace muster::agent
