#include "base/word_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitWords, AsAShellDoes) {
  EXPECT_THAT(*SplitWords("-p 2222\t-i key\n"),
              ElementsAre("-p", "2222", "-i", "key"));
  EXPECT_THAT(*SplitWords("-o 'ProxyCommand=nc %h %p' \"a \\\" b\" c\\ d"),
              ElementsAre("-o", "ProxyCommand=nc %h %p", "a \" b", "c d"));
  EXPECT_THAT(*SplitWords("a'b'\"c\" ''"), ElementsAre("abc", ""));
  EXPECT_THAT(*SplitWords("'a\\' b"), ElementsAre("a\\", "b"));
  EXPECT_THAT(*SplitWords("  "), IsEmpty());
  EXPECT_THAT(*SplitWords("\\"), ElementsAre("\\"));
}

TEST(SplitWords, AnOpenQuoteIsAnError) {
  EXPECT_FALSE(SplitWords("'a").ok());
  EXPECT_FALSE(SplitWords("a \"").ok());
}

TEST(ShellWord, IsOneWordThatMeansItself) {
  for (const std::string text : {"", "a b", "it's", "'", "$(x) `y` \\ \"z\""}) {
    EXPECT_EQ(ShellWord("a"), "'a'");
    EXPECT_THAT(*SplitWords(ShellWord(text)), ElementsAre(text));
  }
}

}  // namespace
}  // namespace muster
