#include "base/net/socket_address.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(LoopbackTest, AddressesAndLocalhostAreLoopback) {
  for (const char* host :
       {"127.0.0.1", "127.9.8.7", "127.1", "::1", "localhost"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
}

// A name server may give such a name any address.
TEST(LoopbackTest, NamesThatLookLikeAnAddressAreNotLoopback) {
  for (const char* host : {"127.example.com", "127.0.0.1.example.com",
                           "localhost.example.com", "128.0.0.1", "127", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

}  // namespace
}  // namespace muster
