#include "store/server/bounded_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(BoundedNoticesTest, TheLastOneSaysThatItIs) {
  std::vector<std::string> said;
  BoundedNotices notices(
      [&said](const std::string& sentence) { said.push_back(sentence); }, 3);
  for (const char* sentence : {"one", "two", "three", "four"}) {
    notices.Say(sentence);
  }
  EXPECT_THAT(said, ElementsAre("one", "two", HasSubstr("no more")));
}

TEST(BoundedNoticesTest, NobodyNeedListen) {
  BoundedNotices notices({}, 3);
  notices.Say("one");
}

}  // namespace
}  // namespace muster::store
