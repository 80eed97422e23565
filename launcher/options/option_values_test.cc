#include "launcher/options/option_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OptionValues, AFoldersTildeIsRefusedWithAdvice) {
  EXPECT_EQ(*ReadFolder("logs"), "logs");
  EXPECT_EQ(*ReadFolder("./~/logs"), "./~/logs");
  EXPECT_EQ(*ReadFolder(""), "");
  for (const char* text : {"~", "~/logs", "~me/logs"}) {
    const absl::StatusOr<std::string> read = ReadFolder(text);
    ASSERT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(read.status().message().find("$HOME"), std::string::npos);
  }
}

TEST(OptionValues, Numbers) {
  EXPECT_EQ(*ReadNumber("7", 0, 9), 7);
  EXPECT_EQ(*ReadNumber("-7", -9, 9), -7);
  for (const char* text :
       {"", "x", "7x", " 7", "7.0", "10", "-1", "+7", "99999999999999999999"}) {
    EXPECT_FALSE(ReadNumber(text, 0, 9).ok()) << text;
  }
}

TEST(OptionValues, Seconds) {
  EXPECT_EQ(*ReadSeconds("0.25"), std::chrono::milliseconds(250));
  EXPECT_EQ(*ReadSeconds("30"), std::chrono::seconds(30));
  for (const char* text : {"", "-1", "nan", "inf", "1e99", "3s", "x"}) {
    EXPECT_FALSE(ReadSeconds(text).ok()) << text;
  }
}

TEST(OptionValues, Nodes) {
  EXPECT_EQ(*ReadNodes("3"), std::pair(3, 3));
  EXPECT_EQ(*ReadNodes("1:3"), std::pair(1, 3));
  for (const char* text :
       {"", "0", "0:3", "3:1", "1:", ":3", "1:2:3", "a:b", "1-3", "9999999"}) {
    EXPECT_FALSE(ReadNodes(text).ok()) << text;
  }
}

TEST(OptionValues, Signals) {
  EXPECT_THAT(*ReadSignals("SIGTERM,usr1, 2 ,SIGTERM"),
              ElementsAre(SIGTERM, SIGUSR1, SIGINT));
  EXPECT_THAT(*ReadSignals(""), ElementsAre());
  for (const char* text : {"SIGKILL", "stop", "9", "SIGSEGV", "11", "SIGCHLD",
                           "SIGFOO", "0", "999"}) {
    EXPECT_FALSE(ReadSignals(text).ok()) << text;
  }
}

TEST(OptionValues, Lists) {
  EXPECT_THAT(ReadList(" a, b ,,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(ReadList(""), ElementsAre());
}

TEST(OptionValues, Switches) {
  EXPECT_TRUE(*ReadSwitch("1"));
  EXPECT_TRUE(*ReadSwitch("True"));
  EXPECT_FALSE(*ReadSwitch("0"));
  EXPECT_FALSE(ReadSwitch("").ok());
  EXPECT_FALSE(ReadSwitch("2").ok());
}

TEST(ReadFilters, ACommaIsWrittenTwice) {
  EXPECT_THAT(ReadFilters("apple, pear"), ElementsAre("apple", " pear"));
  EXPECT_THAT(ReadFilters("a,,b,c"), ElementsAre("a,b", "c"));
  EXPECT_THAT(ReadFilters("a,,,b"), ElementsAre("a,", "b"));
  EXPECT_THAT(ReadFilters(",a,"), ElementsAre("a"));
  EXPECT_THAT(ReadFilters(""), IsEmpty());
}

}  // namespace
}  // namespace muster::launcher
