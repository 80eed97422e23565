#include "rendezvous/server/answer_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr Instant kStart{std::chrono::seconds(100)};

TEST(AnswerCacheTest, AnAnswerIsGivenAgainInProportionToItsCost) {
  AnswerCache<int> cache;
  EXPECT_FALSE(cache.Find(kStart, "a").has_value());
  cache.Keep(kStart, "a", 1, milliseconds(30));
  EXPECT_EQ(cache.Find(kStart + milliseconds(599), "a"), 1);
  EXPECT_FALSE(cache.Find(kStart + milliseconds(600), "a").has_value());
  EXPECT_FALSE(cache.Find(kStart, "b").has_value());
}

TEST(AnswerCacheTest, ANewerAnswerReplacesTheOlder) {
  AnswerCache<int> cache;
  cache.Keep(kStart, "a", 1, milliseconds(30));
  cache.Keep(kStart, "a", 2, milliseconds(30));
  EXPECT_EQ(cache.Find(kStart, "a"), 2);
}

TEST(AnswerCacheTest, OldAnswersAreDroppedAndTheirNumberIsBounded) {
  AnswerCache<int> cache;
  for (int i = 0; i < 100; ++i) {
    cache.Keep(kStart, std::to_string(i), i, milliseconds(1));
  }
  EXPECT_EQ(cache.size(), AnswerCache<int>::kMaxAnswers);
  cache.Keep(kStart, "0", 7, milliseconds(1));
  EXPECT_EQ(cache.Find(kStart, "0"), 7) << "one that is kept can be replaced";
  cache.Keep(kStart + milliseconds(20), "new", 1, milliseconds(1));
  EXPECT_EQ(cache.size(), 1u);
}

}  // namespace
}  // namespace muster::rendezvous
