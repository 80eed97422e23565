#include "agent/framework_env/peer_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Pair;

TEST(TensorFlowVariablesTest, EveryRankIsAWorker) {
  EXPECT_THAT(
      TensorFlowVariables(
          {.addresses = {"10.0.0.1:4001", "[fd00::2]:4002"}, .rank = 1}),
      ElementsAre(Pair("TF_CONFIG",
                       "{\"cluster\":{\"worker\":[\"10.0.0.1:4001\","
                       "\"[fd00::2]:4002\"]},"
                       "\"task\":{\"type\":\"worker\",\"index\":1}}")));
}

TEST(JaxVariablesTest, AllVariablesOfInitializeAndScriptsAreSet) {
  EXPECT_THAT(
      JaxVariables({.addresses = {"10.0.0.1:4001"},
                    .rank = 5,
                    .local_device = 0,
                    .local_rank = 1},
                   8),
      IsSupersetOf({Pair("JAX_COORDINATOR_ADDRESS", "10.0.0.1:4001"),
                    Pair("JAX_NUM_PROCESSES", "8"), Pair("JAX_PROCESS_ID", "5"),
                    Pair("JAX_LOCAL_DEVICE_IDS", "0"),
                    Pair("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
                    Pair("OMPI_COMM_WORLD_RANK", "5"),
                    Pair("OMPI_COMM_WORLD_SIZE", "8")}));
}

TEST(PublishedAddressTest, BracketsForIpv6) {
  EXPECT_EQ(PublishedAddress("10.0.0.1", 7), "10.0.0.1:7");
  EXPECT_EQ(PublishedAddress("fd00::1", 7), "[fd00::1]:7");
  EXPECT_EQ(PublishedAddress("", 7), "");
}

TEST(AddressFromHereTest, LoopbackAddressOfTheCoordinatorsHostIsReplaced) {
  EXPECT_EQ(AddressFromHere("127.0.0.1:7", "10.0.0.2", "10.0.0.1:29400"),
            "10.0.0.1:7");
  EXPECT_EQ(AddressFromHere("[::1]:7", "10.0.0.2", "host-a:29400"), "host-a:7");
}

TEST(AddressFromHereTest, OnOneHostLoopbackServes) {
  EXPECT_EQ(AddressFromHere("127.0.0.1:7", "127.0.0.1", "10.0.0.1:29400"),
            "127.0.0.1:7");
  EXPECT_EQ(AddressFromHere("127.0.0.1:7", "", "10.0.0.1:29400"),
            "127.0.0.1:7");
}

TEST(AddressFromHereTest, OtherAddressIsUnchanged) {
  EXPECT_EQ(AddressFromHere("10.0.0.3:7", "10.0.0.2", "10.0.0.1:29400"),
            "10.0.0.3:7");
  EXPECT_EQ(AddressFromHere("127.0.0.1:7", "10.0.0.2", ""), "127.0.0.1:7");
  EXPECT_EQ(AddressFromHere("127.0.0.1:7", "10.0.0.2", "10.0.0.1:1,10.0.0.3:1"),
            "127.0.0.1:7");
}

}  // namespace
}  // namespace muster::agent
