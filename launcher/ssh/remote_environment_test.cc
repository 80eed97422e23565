#include "launcher/ssh/remote_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(ChooseEnvironment, OnlyTuningVariablesTravel) {
  EXPECT_THAT(*ChooseEnvironment({{"PATH", "/bin"},
                                  {"HOME", "/h"},
                                  {"LD_LIBRARY_PATH", "/l"},
                                  {"NCCL_DEBUG", "INFO"},
                                  {"NCCLX", "no"},
                                  {"PYTHONPATH", "/p"},
                                  {"MUSTER_NCCL_LIBRARY", "/n"},
                                  {"MUSTER_TOKEN", "secret"},
                                  {"MUSTER_SSH", "/ssh"}},
                                 {}, {}),
              UnorderedElementsAre(
                  Pair("LD_LIBRARY_PATH", "/l"), Pair("NCCL_DEBUG", "INFO"),
                  Pair("PYTHONPATH", "/p"), Pair("MUSTER_NCCL_LIBRARY", "/n")));
}

TEST(ChooseEnvironment, FilesOverrideItAndExportsOverrideFiles) {
  EXPECT_THAT(
      *ChooseEnvironment({{"NCCL_A", "here"}, {"MY_1", "1"}, {"MY_2", "2"}},
                         {{{"NCCL_A", "home"}, {"B", "home"}},
                          {{"B", "folder"}, {"C", "folder"}}},
                         {"MY_*", "C=a=b", "NONE_*"}),
      UnorderedElementsAre(Pair("NCCL_A", "home"), Pair("B", "folder"),
                           Pair("C", "a=b"), Pair("MY_1", "1"),
                           Pair("MY_2", "2")));
}

TEST(ChooseEnvironment, InvalidExportsAreRejected) {
  const auto error = [](const std::string& asked) {
    return std::string(ChooseEnvironment({{"MUSTER_TOKEN", "x"}}, {}, {asked})
                           .status()
                           .message());
  };
  EXPECT_THAT(error("1A"), HasSubstr("'1A' is no variable"));
  EXPECT_THAT(error("A*=1"), HasSubstr("is no variable"));
  EXPECT_THAT(error("=x"), HasSubstr("is no variable"));
  EXPECT_THAT(error("GONE"), HasSubstr("GONE is not set here"));
  EXPECT_THAT(error("MUSTER_TOKEN"), HasSubstr("travels by itself"));
  EXPECT_EQ(error("MUSTER_*"), "");
  const Environment private_ones = {
      {"MUSTER_TOKEN", "x"},          {"MUSTER_DOCTOR_TOKEN", "x"},
      {"MUSTER_JOB_MESSAGES", "3"},   {"MUSTER_TOKEN_MADE", "1"},
      {"MUSTER_CALLED_AS", "launch"}, {"MUSTER_CHANNEL_KEY_PIPE", "4"}};
  EXPECT_THAT(*ChooseEnvironment(private_ones, {}, {"MUSTER_*"}),
              UnorderedElementsAre());
}

TEST(ParseEnvironmentFile, ReadsDeepSpeedsFormat) {
  EXPECT_THAT(*ParseEnvironmentFile("A=1\n B = x=y \r\n\n# c\nEMPTY=\nL=last"),
              UnorderedElementsAre(Pair("A", "1"), Pair("B", "x=y"),
                                   Pair("EMPTY", ""), Pair("L", "last")));
}

TEST(ParseEnvironmentFile, ErrorsNameTheLine) {
  for (const char* text : {"A=1\nB\n", "A=1\n1B=2", "A=1\nMUSTER_TOKEN=x"}) {
    EXPECT_EQ(ParseEnvironmentFile(text).status().message(),
              "line 2: is not NAME=VALUE")
        << text;
  }
}

}  // namespace
}  // namespace muster::launcher
