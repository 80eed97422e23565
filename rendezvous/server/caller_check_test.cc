#include "rendezvous/server/caller_check.h"

#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

TEST(PeerIp, ReadsIpPeersInBothSpellings) {
  EXPECT_EQ(PeerIp("ipv4:10.0.0.7:4711"), "10.0.0.7");
  EXPECT_EQ(PeerIp("ipv6:[fe80::1]:4711"), "fe80::1");
  EXPECT_EQ(PeerIp("ipv6:%5B::1%5D:4711"), "::1");
}

TEST(PeerIp, AMappedAddressIsTheOneThatPeersKnow) {
  EXPECT_EQ(PeerIp("ipv6:%5B::ffff:10.0.0.7%5D:4711"), "10.0.0.7");
  EXPECT_EQ(PeerIp("ipv6:[::ffff:10.0.0.7]:4711"), "10.0.0.7");
}

TEST(PeerIp, NothingOfOthers) {
  for (const char* peer :
       {"", "unix:/run/a", "ipv4:", "ipv4:1", "ipv6:::1:4711", "ipv6:[", "x"}) {
    EXPECT_EQ(PeerIp(peer), "") << peer;
  }
}

TEST(PeerKey, IsTheSameForAllSpellingsOfASocket) {
  EXPECT_EQ(PeerKey("ipv4:10.0.0.7:4711"), "10.0.0.7:4711");
  EXPECT_EQ(PeerKey("ipv6:%5B::ffff:10.0.0.7%5D:4711"), "10.0.0.7:4711");
  EXPECT_EQ(PeerKey("ipv6:%5Bfe80::1%25eth0%5D:80"), "fe80::1:80");
  EXPECT_EQ(PeerKey("ipv6:[fe80::1%252]:80"), "fe80::1:80");
  EXPECT_EQ(PeerKey("unix:/run/a"), "");
}

}  // namespace
}  // namespace muster::rendezvous
