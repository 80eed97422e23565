#include "launcher/report/inquiry_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::launcher {
namespace {

using rendezvous::OutputLine;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

HostStack At(int rank, const std::vector<std::string>& lines,
             const std::string& host = "h") {
  return {.host = host, .stack = {.rank = rank, .pid = 7, .lines = lines}};
}

std::vector<std::string> Python(const std::string& frame, int pid) {
  return {"Python, main thread:", "  " + frame, "  main (a.py:1)",
          "thread " + std::to_string(pid) + " (python3), sleeping"};
}

TEST(RankListTest, RunsAreRanges) {
  EXPECT_EQ(RankList({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(RankList({3}), "3");
}

TEST(FoldStacksTest, OddOnesComeFirst) {
  const auto groups =
      FoldStacks({At(3, Python("reduce", 13)), At(0, Python("reduce", 10)),
                  At(2, Python("load", 12)), At(1, Python("reduce", 11))});
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(groups[0].ranks, ElementsAre(2));
  EXPECT_THAT(groups[0].lines,
              ElementsAre("Python, main thread:", "  load", "  main (a.py:1)"));
  EXPECT_THAT(groups[1].ranks, ElementsAre(0, 1, 3));
}

TEST(FoldStacksTest, GroupsOfOneSizeAreInTheOrderOfTheirRanks) {
  const auto groups =
      FoldStacks({At(1, Python("a", 1)), At(0, Python("z", 1))});
  EXPECT_THAT(groups[0].ranks, ElementsAre(0));
}

TEST(FoldStacksTest, WithoutFramesTheKernelsDescriptionsAreCompared) {
  const auto groups = FoldStacks(
      {At(0, {"thread 10 (gpt), sleeping, in futex", "thread 11 (io), x"}),
       At(1, {"thread 20 (gpt), sleeping, in futex", "thread 21 (io), y"}),
       At(2, {"thread 30 (gpt), sleeping, in read"})});
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(groups[0].ranks, ElementsAre(2));
  EXPECT_THAT(groups[1].ranks, ElementsAre(0, 1));
  EXPECT_THAT(groups[1].lines, ElementsAre("thread (gpt), sleeping, in futex"));
}

TEST(FoldStacksTest, UnreadableRanksAreTheLastGroup) {
  const auto groups =
      FoldStacks({At(0, Python("a", 1)), At(1, {}), At(2, Python("a", 1))});
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(groups[1].ranks, ElementsAre(1));
  EXPECT_THAT(groups[1].lines, IsEmpty());
}

TEST(FoldStacksTest, NothingIsNoGroup) {
  EXPECT_THAT(FoldStacks({}), IsEmpty());
  EXPECT_EQ(StacksText({}, {}), "");
}

TEST(StacksTextTest, NamesRanksAndHosts) {
  EXPECT_EQ(StacksText(FoldStacks({At(2, Python("load\x1b[2J", 1), "b"),
                                   At(0, Python("wait", 1), "a"),
                                   At(1, Python("wait", 2), "a")}),
                       {}),
            "rank 2 (1 of 3) on b:\n"
            "  Python, main thread:\n"
            "    load\n"
            "    main (a.py:1)\n"
            "ranks 0-1 (2 of 3) on a:\n"
            "  Python, main thread:\n"
            "    wait\n"
            "    main (a.py:1)\n");
}

TEST(StacksTextTest, ManyHostsAreCounted) {
  std::vector<HostStack> stacks;
  for (int i = 0; i < 5; ++i) {
    stacks.push_back(At(i, Python("wait", i), "h" + std::to_string(i)));
  }
  EXPECT_THAT(StacksText(FoldStacks(stacks), {}),
              ::testing::StartsWith("ranks 0-4 (5 of 5) on 5 nodes:\n"));
}

TEST(OutputTextTest, LinesHaveTheConsolesPrefixAndNoControls) {
  OutputText text(TextStyle::kPlain);
  rendezvous::InquiryUpdate update{.host = "h\x1b[1m"};
  update.part.lines = {
      {.rank = 3, .round = 1, .text = "a\x1b[31mred\x1b]0;t\a"},
      {.rank = 4, .round = 1, .text = "\xff\xe2\x80\xae"}};
  EXPECT_EQ(text.Format(update), "[h:3] ared\n[h:4] \xef\xbf\xbd<U+202E>\n");
}

TEST(OutputTextTest, AnotherRoundIsAnnounced) {
  OutputText text(TextStyle::kPlain);
  rendezvous::InquiryUpdate update{.host = "h"};
  update.part.lines = {{.rank = 3, .round = 1, .text = "a"},
                       {.rank = 4, .round = 2, .text = "b"},
                       {.rank = 3, .round = 2, .text = "c"}};
  EXPECT_EQ(text.Format(update),
            "[h:3] a\n[h:4] b\n[h:3] --- round 2 ---\n[h:3] c\n");
}

}  // namespace
}  // namespace muster::launcher
