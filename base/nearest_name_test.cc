#include "base/nearest_name.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

const std::vector<std::string> kNames = {"--nnodes", "--node-rank", "--role",
                                         "--rdzv-endpoint"};

TEST(NearestName, FindsASlip) {
  EXPECT_EQ(NearestName("--nodes", kNames), "--nnodes");
  EXPECT_EQ(NearestName("--noed-rank", kNames), "--node-rank");
  EXPECT_EQ(NearestName("--rdzv-endpiont", kNames), "--rdzv-endpoint");
}

TEST(NearestName, FindsAnAbbreviation) {
  EXPECT_EQ(NearestName("--rdzv-e", kNames), "--rdzv-endpoint");
}

TEST(NearestName, FindsNothingInNonsense) {
  EXPECT_EQ(NearestName("--completely-else", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NearestName(std::string(1000, '-'), kNames), "");
}

}  // namespace
}  // namespace muster
