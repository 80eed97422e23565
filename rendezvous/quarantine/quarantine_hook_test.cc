#include "rendezvous/quarantine/quarantine_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QuarantineHookTest : public ::testing::Test {
 protected:
  QuarantineHook::Options Options(const std::string& command) {
    return {.command = command, .say = [this](const std::string& sentence) {
              const std::lock_guard<std::mutex> lock(mutex_);
              said_.push_back(sentence);
            }};
  }
  std::string Output() const {
    std::ifstream file(file_);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static void Run(QuarantineHook& hook) {
    hook.Run({.host = "h$(touch /tmp/no)", .ip = "10.0.0.1"},
             {.state = HostState::kQuarantined,
              .score = 3.04,
              .reason = "rank 3: \"SIGBUS\"; `id`"},
             "train");
  }

  const std::string file_ = absl::StrCat(
      ::testing::TempDir(), "/hook_output_",
      ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::mutex mutex_;
  std::vector<std::string> said_;
};

TEST_F(QuarantineHookTest, TheVariablesArePassedAsTheyAre) {
  QuarantineHook hook(Options(absl::StrCat(
      "printf '%s|%s|%s|%s|%s\\n' \"$MUSTER_NODE\" \"$MUSTER_ADDRESS\" "
      "\"$MUSTER_REASON\" \"$MUSTER_SCORE\" \"$MUSTER_RUN_ID\" > ",
      file_)));
  Run(hook);
  hook.Finish(seconds(30));
  EXPECT_EQ(Output(),
            "h$(touch /tmp/no)|10.0.0.1|rank 3: \"SIGBUS\"; `id`|3.0|train\n");
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(QuarantineHookTest, AFailureIsSaid) {
  QuarantineHook hook(Options("exit 3"));
  Run(hook);
  hook.Finish(seconds(30));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("exit code 3")));
}

TEST_F(QuarantineHookTest, ACommandThatHangsIsKilledWithItsChildren) {
  QuarantineHook::Options options = Options("tail -f /dev/null & wait");
  options.timeout = std::chrono::milliseconds(200);
  QuarantineHook hook(options);
  Run(hook);
  hook.Finish(seconds(30));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("did not end within 0.2 s")));
}

TEST_F(QuarantineHookTest, TheEndOfTheProcessDoesNotWaitForTheCommand) {
  const Instant before = MonotonicNow();
  {
    QuarantineHook hook(Options("exec tail -f /dev/null"));
    Run(hook);
    Run(hook);
  }
  EXPECT_LT(MonotonicNow() - before, seconds(20));
}

TEST_F(QuarantineHookTest, OnlySomeCommandsWait) {
  QuarantineHook hook(Options("exec tail -f /dev/null"));
  for (size_t i = 0; i < QuarantineHook::kMaxWaiting + 2; ++i) Run(hook);
  const std::lock_guard<std::mutex> lock(mutex_);
  EXPECT_THAT(said_, ::testing::Contains(HasSubstr("too many commands wait")));
}

}  // namespace
}  // namespace muster::rendezvous
