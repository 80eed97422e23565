#include "launcher/ssh/host_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

std::vector<size_t> Sizes(size_t hosts, size_t fan_out) {
  std::vector<RemoteHost> all(hosts);
  for (size_t i = 0; i < hosts; ++i) all[i].index = static_cast<uint32_t>(i);
  std::vector<size_t> sizes;
  uint32_t next = 0;
  for (const auto& group : PartHosts(all, fan_out)) {
    sizes.push_back(group.size());
    for (const RemoteHost& host : group) EXPECT_EQ(host.index, next++);
  }
  EXPECT_EQ(next, hosts);
  return sizes;
}

TEST(PartHosts, GroupsAreEvenAndInOrder) {
  using ::testing::ElementsAre;
  EXPECT_THAT(Sizes(0, 4), ElementsAre());
  EXPECT_THAT(Sizes(3, 4), ElementsAre(1, 1, 1));
  EXPECT_THAT(Sizes(7, 3), ElementsAre(3, 2, 2));
  EXPECT_THAT(Sizes(5, 1), ElementsAre(5));
}

size_t Depth(std::vector<RemoteHost> hosts, size_t fan_out) {
  size_t depth = 0;
  for (std::vector<RemoteHost>& group : PartHosts(std::move(hosts), fan_out)) {
    group.erase(group.begin());
    depth = std::max(depth, 1 + Depth(std::move(group), fan_out));
  }
  return depth;
}

TEST(PartHosts, AThousandHostsNeedTwoLevels) {
  EXPECT_EQ(Depth(std::vector<RemoteHost>(1000), 32), 2u);
  EXPECT_EQ(Depth(std::vector<RemoteHost>(32), 32), 1u);
  EXPECT_EQ(Depth(std::vector<RemoteHost>(10'000), 32), 3u);
}

}  // namespace
}  // namespace muster::launcher
