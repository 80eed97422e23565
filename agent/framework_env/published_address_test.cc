#include "agent/framework_env/published_address.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(PublishedAddressTest, BracketsForIpv6) {
  EXPECT_EQ(PublishedAddress("10.0.0.1", 7), "10.0.0.1:7");
  EXPECT_EQ(PublishedAddress("fd00::1", 7), "[fd00::1]:7");
  EXPECT_EQ(PublishedAddress("", 7), "");
}

TEST(AddressFromHereTest, OthersDialTheCoordinatorsHostForItsLoopback) {
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

TEST(AddressFromHereTest, WhatIsNoLoopbackStays) {
  EXPECT_EQ(AddressFromHere("10.0.0.3:7", "10.0.0.2", "10.0.0.1:29400"),
            "10.0.0.3:7");
  EXPECT_EQ(AddressFromHere("127.0.0.1:7", "10.0.0.2", ""), "127.0.0.1:7");
}

}  // namespace
}  // namespace muster::agent
