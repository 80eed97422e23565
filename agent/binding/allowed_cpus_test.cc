#include "agent/binding/allowed_cpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

namespace muster::agent {
namespace {

TEST(AllowedCpus, AreThoseOfTheAffinity) {
  const std::vector<int> all = AllowedCpus();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  cpu_set_t last;
  CPU_ZERO(&last);
  CPU_SET(all.back(), &last);
  ASSERT_EQ(sched_setaffinity(0, sizeof(last), &last), 0);
  EXPECT_THAT(AllowedCpus(), ::testing::ElementsAre(all.back()));
}

}  // namespace
}  // namespace muster::agent
