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

TEST(JaxVariablesTest, WhatInitializeAndScriptsRead) {
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

}  // namespace
}  // namespace muster::agent
