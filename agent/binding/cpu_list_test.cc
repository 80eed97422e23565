#include "agent/binding/cpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

namespace muster::agent {
namespace {

TEST(CpuList, AsTheKernelWritesIt) {
  EXPECT_EQ(CpuList({}), "");
  EXPECT_EQ(CpuList({0}), "0");
  EXPECT_EQ(CpuList({0, 1}), "0-1");
  EXPECT_EQ(CpuList({0, 2, 3, 4, 9}), "0,2-4,9");
  EXPECT_EQ(CpuList({65534, 65535}), "65534-65535");
}

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
