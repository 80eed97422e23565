#include "agent/progress/progress_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "rendezvous/protocol/progress.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AnyOf;
using ::testing::Ge;

TEST(ParseProgress, SeveralLines) {
  const ProgressMessage message = ParseProgress(
      "STEP=1200\nLOSS=2.31\nTOKENS_PER_S=51000\nSTATUS=epoch 2 of 3\n"
      "WATCHDOG_S=30\n");
  EXPECT_TRUE(message.alive);
  EXPECT_EQ(message.step, 1200);
  EXPECT_EQ(message.loss, 2.31);
  EXPECT_EQ(message.tokens_per_s, 51000);
  EXPECT_EQ(message.status, "epoch 2 of 3");
  EXPECT_EQ(message.watchdog, seconds(30));
}

TEST(ParseProgress, TimesAreNoSignOfLife) {
  const ProgressMessage message =
      ParseProgress("OWN_NS=81000000\nBLOCKED_NS=9000000\nDATA_NS=2000000\n");
  EXPECT_FALSE(message.alive);
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.own, milliseconds(81));
  EXPECT_EQ(message.blocked, milliseconds(9));
  EXPECT_EQ(message.data, milliseconds(2));
}

TEST(ParseProgress, EachTimeAloneIsContent) {
  EXPECT_TRUE(ParseProgress("READY=1").empty());
  EXPECT_FALSE(ParseProgress("OWN_NS=0").empty());
  EXPECT_FALSE(ParseProgress("BLOCKED_NS=0").empty());
  EXPECT_FALSE(ParseProgress("DATA_NS=0").empty());
  EXPECT_FALSE(ParseProgress("STEP=1").empty());
}

TEST(ParseProgress, ATimeOutOfBoundsIsIgnored) {
  for (const char* value :
       {"", "-1", "1.5", "x", "9223372036854775808", "315360000000000001"}) {
    EXPECT_FALSE(ParseProgress(std::string("OWN_NS=") + value).own) << value;
  }
  EXPECT_TRUE(ParseProgress("OWN_NS=315360000000000000").own.has_value());
}

TEST(ParseProgress, LinksAreNoSignOfLife) {
  const ProgressMessage message =
      ParseProgress("LINKS_NS=3:70,11:0\nSENT_BYTES=900\n");
  EXPECT_FALSE(message.alive);
  EXPECT_FALSE(ParseProgress("LINKS_NS=3:70").empty());
  EXPECT_FALSE(ParseProgress("SENT_BYTES=900").empty());
  EXPECT_EQ(message.sent, 900);
  EXPECT_EQ(message.links, (std::vector<rendezvous::LinkTime>{
                               {.peer = 3, .limited = Duration(70)},
                               {.peer = 11, .limited = Duration(0)}}));
}

TEST(ParseProgress, LinksOutOfBoundsAreIgnored) {
  for (const char* value :
       {"", ",", "3", "3:", ":7", "3:x", "3:-1", "-1:7", "3:7,", "3:7,4",
        "3:7:8", "3:7,3:8", "2147483648:7", "3:315360000000000001",
        "1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1"}) {
    EXPECT_FALSE(ParseProgress(std::string("LINKS_NS=") + value).links)
        << value;
  }
  EXPECT_TRUE(ParseProgress("LINKS_NS=1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1").links);
  EXPECT_FALSE(ParseProgress("SENT_BYTES=-1").sent);
  EXPECT_FALSE(ParseProgress("SENT_BYTES=x").sent);
}

TEST(ParseProgress, NewerTimesReplaceOlderOnes) {
  ProgressMessage message = ParseProgress("OWN_NS=1\nBLOCKED_NS=2\nDATA_NS=3");
  Append(ParseProgress("OWN_NS=4\nDATA_NS=6"), &message);
  EXPECT_EQ(message.own, Duration(4));
  EXPECT_EQ(message.blocked, Duration(2));
  EXPECT_EQ(message.data, Duration(6));
  Append(ParseProgress("BLOCKED_NS=5"), &message);
  EXPECT_EQ(message.blocked, Duration(5));
  Append(ParseProgress("LINKS_NS=1:7"), &message);
  Append(ParseProgress("LINKS_NS=1:8\nSENT_BYTES=9"), &message);
  EXPECT_EQ(message.sent, 9);
  ASSERT_EQ(message.links->size(), 1u);
  EXPECT_EQ((*message.links)[0].limited, Duration(8));
}

TEST(ParseProgress, LineEndIsOptional) {
  EXPECT_EQ(ParseProgress("STEP=7").step, 7);
  EXPECT_EQ(ParseProgress("STEP=7\r\n").step, 7);
}

TEST(ParseProgress, ALifeSignAlone) {
  const ProgressMessage message = ParseProgress("WATCHDOG=1");
  EXPECT_TRUE(message.alive);
  EXPECT_FALSE(message.step.has_value());
  EXPECT_FALSE(message.watchdog.has_value());
}

TEST(ParseProgress, UnknownLineIsIgnoredAndNoSignOfLife) {
  for (const char* datagram :
       {"", "\n\n", "=", "READY=1", "STEP", "step=3", " STEP=3", "STEP =3",
        "WATCHDOG=0", "WATCHDOG=", "FDSTORE=1\nMAINPID=1"}) {
    const ProgressMessage message = ParseProgress(datagram);
    EXPECT_FALSE(message.alive) << datagram;
  }
  EXPECT_FALSE(ParseProgress(std::string("STEP=3\0", 7)).alive);
  EXPECT_EQ(ParseProgress("READY=1\nSTEP=3").step, 3);
}

TEST(ParseProgress, ANumberThatIsNoneIsLeftOut) {
  for (const char* value :
       {"", "x", "1x", "1 ", " 1", "-1", "1.5", "9223372036854775808", "0x10",
        "nan", "1e3", "+1"}) {
    EXPECT_FALSE(ParseProgress(std::string("STEP=") + value).alive) << value;
  }
  for (const char* value : {"", "x", "-1", "nan", "inf", "1e400", "3s"}) {
    EXPECT_FALSE(ParseProgress(std::string("TOKENS_PER_S=") + value).alive)
        << value;
    EXPECT_FALSE(ParseProgress(std::string("WATCHDOG_S=") + value).alive)
        << value;
  }
  EXPECT_EQ(ParseProgress("STEP=9223372036854775807").step,
            9223372036854775807);
}

TEST(ParseProgress, ALossMayBeNoNumber) {
  EXPECT_TRUE(std::isnan(*ParseProgress("LOSS=nan").loss));
  EXPECT_TRUE(std::isinf(*ParseProgress("LOSS=-inf").loss));
  EXPECT_EQ(ParseProgress("LOSS=1e-3").loss, 1e-3);
}

TEST(ParseProgress, WatchdogsAreBounded) {
  EXPECT_EQ(ParseProgress("WATCHDOG_S=0").watchdog, Duration::zero());
  EXPECT_EQ(ParseProgress("WATCHDOG_S=1.5").watchdog, milliseconds(1500));
  EXPECT_EQ(ParseProgress("WATCHDOG_S=1e-9").watchdog, kShortestWatchdog);
  EXPECT_FALSE(ParseProgress("WATCHDOG_S=1e9").watchdog.has_value());
}

TEST(ParseProgress, ACheckpointBeginsAndEnds) {
  EXPECT_EQ(ParseProgress("CHECKPOINT=1").checkpoint, true);
  EXPECT_EQ(ParseProgress("CHECKPOINT=1\nCHECKPOINT=0").checkpoint, false);
  EXPECT_FALSE(ParseProgress("CHECKPOINT=yes").checkpoint.has_value());
  EXPECT_FALSE(ParseProgress("CHECKPOINT=yes").alive);
  EXPECT_TRUE(ParseProgress("CHECKPOINT=0").alive);
}

TEST(ParseProgress, AStatusIsFitToBeShown) {
  EXPECT_EQ(ParseProgress("STATUS=\x1b[31mred\x07 \xff").status->find('\x1b'),
            std::string::npos);
  EXPECT_EQ(ParseProgress("STATUS=" + std::string(3000, 'x')).status->size(),
            rendezvous::kMaxStatusBytes);
  EXPECT_EQ(ParseProgress("STATUS=").status, "");
}

TEST(ParseProgress, TooLongDatagramIsReadToItsLastWholeLine) {
  const std::string padding = "X=" + std::string(kMaxProgressBytes - 20, 'x');
  // The size limit cuts the datagram within the number of STEP. So the line
  // STEP is incomplete and must be ignored.
  const std::string datagram = "LOSS=1\n" + padding + "\nSTEP=123456789012345";
  ASSERT_GT(datagram.size(), kMaxProgressBytes);
  EXPECT_EQ(ParseProgress(datagram).loss, 1);
  EXPECT_FALSE(ParseProgress(datagram).step.has_value());
}

TEST(ParseProgress, AnyBytesDoNoHarm) {
  std::mt19937 random(20240607);
  const std::vector<std::string> seeds = {
      "STEP=1200\nLOSS=2.31\nTOKENS_PER_S=51000\nWATCHDOG_S=30\nSTATUS=a b\n",
      "STATUS=\xe2\x82\xac\x1b[1m\n", "WATCHDOG=1"};
  for (int round = 0; round < 20000; ++round) {
    std::string datagram = seeds[random() % seeds.size()];
    const int changes = static_cast<int>(random() % 8);
    for (int i = 0; i < changes && !datagram.empty(); ++i) {
      const size_t at = random() % datagram.size();
      switch (random() % 4) {
        case 0:
          datagram[at] = static_cast<char>(random());
          break;
        case 1:
          datagram.erase(at, random() % 8);
          break;
        case 2:
          datagram.insert(at, datagram.substr(0, random() % datagram.size()));
          break;
        case 3:
          datagram.insert(at, 1 + random() % 300, static_cast<char>(random()));
          break;
      }
    }
    const ProgressMessage message = ParseProgress(datagram);
    EXPECT_GE(message.step.value_or(0), 0);
    EXPECT_TRUE(std::isfinite(message.tokens_per_s.value_or(0)));
    if (message.watchdog) {
      EXPECT_THAT(*message.watchdog,
                  AnyOf(Duration::zero(), Ge(kShortestWatchdog)));
    }
    if (message.status) {
      EXPECT_LE(message.status->size(), rendezvous::kMaxStatusBytes);
      for (const char c : *message.status) {
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\t');
      }
    }
  }
}

TEST(AppendProgress, TheLaterLineHolds) {
  ProgressMessage message = ParseProgress("STEP=1\nLOSS=3\nWATCHDOG_S=5");
  Append(ParseProgress("STEP=2\nSTATUS=x"), &message);
  EXPECT_EQ(message.step, 2);
  EXPECT_EQ(message.loss, 3);
  EXPECT_EQ(message.status, "x");
  EXPECT_EQ(message.watchdog, seconds(5));
  Append(ParseProgress("READY=1"), &message);
  EXPECT_TRUE(message.alive);
}

}  // namespace
}  // namespace muster::agent
