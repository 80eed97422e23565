#include "agent/binding/cpu_list.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(CpuList, AsTheKernelWritesIt) {
  EXPECT_EQ(CpuList({}), "");
  EXPECT_EQ(CpuList({0}), "0");
  EXPECT_EQ(CpuList({0, 1}), "0-1");
  EXPECT_EQ(CpuList({0, 2, 3, 4, 9}), "0,2-4,9");
  EXPECT_EQ(CpuList({65534, 65535}), "65534-65535");
}

}  // namespace
}  // namespace muster::agent
