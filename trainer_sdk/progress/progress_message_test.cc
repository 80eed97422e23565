#include "trainer_sdk/progress/progress_message.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>

namespace muster {
namespace {

TEST(ProgressMessage, SaysWhatIsSet) {
  EXPECT_EQ(ProgressMessage({.step = 1200}), "STEP=1200\n");
  EXPECT_EQ(ProgressMessage({.step = 0, .loss = 2.31}), "STEP=0\nLOSS=2.31\n");
  EXPECT_EQ(ProgressMessage({.loss = -1e-12, .tokens_per_second = 51000}),
            "LOSS=-1e-12\nTOKENS_PER_S=51000\n");
}

TEST(ProgressMessage, AnEmptyUpdateIsASignOfLife) {
  EXPECT_EQ(ProgressMessage({}), "WATCHDOG=1\n");
}

TEST(ProgressMessage, AWatchdogIsInSecondsAndZeroTurnsItOff) {
  EXPECT_EQ(ProgressMessage({.watchdog = std::chrono::seconds(30)}),
            "WATCHDOG_S=30\n");
  EXPECT_EQ(ProgressMessage({.watchdog = std::chrono::milliseconds(1500)}),
            "WATCHDOG_S=1.5\n");
  EXPECT_EQ(ProgressMessage({.watchdog = Duration::zero()}), "WATCHDOG_S=0\n");
}

TEST(ProgressMessage, ALossThatIsNoNumberIsStillSaid) {
  EXPECT_EQ(ProgressMessage({.loss = std::numeric_limits<double>::infinity()}),
            "LOSS=inf\n");
  EXPECT_EQ(ProgressMessage({.loss = std::numeric_limits<double>::quiet_NaN()}),
            "LOSS=nan\n");
}

TEST(ProgressMessage, AStatusCannotSmuggleKeys) {
  EXPECT_EQ(ProgressMessage({.status = "saving\nSTEP=9\r"}),
            "STATUS=saving STEP=9 \n");
}

TEST(ProgressMessage, ALongStatusIsCutBetweenCharacters) {
  const std::string line =
      ProgressMessage({.status = std::string(255, 'a') + "\xC3\xA9 and more"});
  EXPECT_EQ(line, "STATUS=" + std::string(255, 'a') + "\n");
}

}  // namespace
}  // namespace muster
