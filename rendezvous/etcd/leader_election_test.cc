#include "rendezvous/etcd/leader_election.h"

#include <chrono>
#include <string>

#include "gtest/gtest.h"

namespace muster::rendezvous {
namespace {

TEST(TroubleFilterTest, ATextIsToldOnceAMinute) {
  TroubleFilter filter;
  const Instant start(std::chrono::hours(1));
  int told = 0;
  // Three etcd members in turn return an error, five errors a second in total,
  // for ten minutes. Each member's error has its own text. The filter must
  // admit each text once a minute.
  for (int i = 0; i < 5 * 60 * 10; ++i) {
    const Instant now = start + i * std::chrono::milliseconds(200);
    if (filter.Admit(now, std::string(1, static_cast<char>('a' + i % 3)))) {
      ++told;
    }
  }
  EXPECT_EQ(told, 3 * 10);
}

TEST(TroubleFilterTest, TextsThatAlwaysDifferAreBounded) {
  TroubleFilter filter;
  const Instant start(std::chrono::hours(1));
  size_t told = 0;
  for (int i = 0; i < 1000; ++i) {
    if (filter.Admit(start, std::to_string(i))) ++told;
  }
  EXPECT_EQ(told, TroubleFilter::kMaxTexts);
  EXPECT_TRUE(filter.Admit(start + TroubleFilter::kInterval, "later"));
}

}  // namespace
}  // namespace muster::rendezvous
