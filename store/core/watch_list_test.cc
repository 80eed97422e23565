#include "store/core/watch_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WatchListTest, CountsAKeyOnceForEachClient) {
  WatchList list;
  list.Add(1, "k");
  const size_t once = list.bytes();
  list.Add(1, "k");
  EXPECT_EQ(list.bytes(), once);
  list.Add(2, "k");
  EXPECT_EQ(list.bytes(), 2 * once);
  EXPECT_THAT(list.WatchersOf("k"), ElementsAre(1, 2));
}

TEST(WatchListTest, WhoIsGoneIsForgotten) {
  WatchList list;
  list.Add(1, "k");
  list.Add(2, "k");
  list.Remove(1);
  EXPECT_THAT(list.WatchersOf("k"), ElementsAre(2));
  list.Remove(2);
  EXPECT_THAT(list.WatchersOf("k"), IsEmpty());
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.bytes(), 0);
  // Client 2 is not counted as watching already.
  list.Add(2, "k");
  EXPECT_THAT(list.WatchersOf("k"), ElementsAre(2));
}

}  // namespace
}  // namespace muster::store
