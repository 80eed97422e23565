#include "base/net/address_set.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

SocketAddress At(const std::string& ip) { return *NumericAddress(ip, 4711); }

AddressSet SetOf(std::initializer_list<const char*> texts) {
  AddressSet set;
  for (const char* text : texts) EXPECT_TRUE(set.Add(text).ok()) << text;
  return set;
}

TEST(AddressSet, AnEmptySetHasNoAddress) {
  const AddressSet none;
  for (const char* ip : {"0.0.0.0", "127.0.0.1", "::", "::1"}) {
    EXPECT_FALSE(none.Contains(At(ip))) << ip;
  }
  EXPECT_FALSE(AddressSet::All().Contains(SocketAddress()));
}

TEST(AddressSet, AnAddressIsItselfAlone) {
  const AddressSet set = SetOf({"10.0.0.7", "fd00::7"});
  EXPECT_EQ(set.size(), 2u);
  EXPECT_TRUE(set.Contains(At("10.0.0.7")));
  EXPECT_TRUE(set.Contains(At("fd00::7")));
  for (const char* ip : {"10.0.0.6", "10.0.0.71", "fd00::8", "7.0.0.10"}) {
    EXPECT_FALSE(set.Contains(At(ip))) << ip;
  }
}

TEST(AddressSet, AMappedAddressEqualsItsIpv4Address) {
  EXPECT_TRUE(SetOf({"10.0.0.7"}).Contains(At("::ffff:10.0.0.7")));
  EXPECT_TRUE(SetOf({"::ffff:10.0.0.7"}).Contains(At("10.0.0.7")));
  EXPECT_TRUE(SetOf({"10.0.0.0/8"}).Contains(At("::ffff:10.9.9.9")));
}

TEST(AddressSet, ANetworkIsItsPrefix) {
  const AddressSet set = SetOf({"10.4.0.0/14", "fd00::/8", "192.0.2.8/31"});
  for (const char* ip :
       {"10.4.0.0", "10.7.255.255", "fd12:3::4", "192.0.2.8", "192.0.2.9"}) {
    EXPECT_TRUE(set.Contains(At(ip))) << ip;
  }
  for (const char* ip :
       {"10.3.255.255", "10.8.0.0", "fe00::1", "192.0.2.7", "192.0.2.10"}) {
    EXPECT_FALSE(set.Contains(At(ip))) << ip;
  }
  EXPECT_TRUE(SetOf({"0.0.0.0/0"}).Contains(At("9.9.9.9")));
  EXPECT_FALSE(SetOf({"0.0.0.0/0"}).Contains(At("fd00::1")));
  EXPECT_TRUE(SetOf({"10.0.0.7/32"}).Contains(At("10.0.0.7")));
  EXPECT_FALSE(SetOf({"10.0.0.7/32"}).Contains(At("10.0.0.6")));
}

TEST(AddressSet, LoopbackIsTheAddressThatThisHostConnectsFrom) {
  const AddressSet loopback = AddressSet::Loopback();
  EXPECT_TRUE(loopback.Contains(At("127.0.0.1")));
  EXPECT_TRUE(loopback.Contains(At("::1")));
  for (const char* ip : {"127.0.0.2", "127.1.0.1", "10.0.0.1", "::2"}) {
    EXPECT_FALSE(loopback.Contains(At(ip))) << ip;
  }
}

TEST(AddressSet, AnyIsEveryAddress) {
  for (const AddressSet& all : {SetOf({"any"}), AddressSet::All()}) {
    for (const char* ip : {"127.0.0.2", "10.0.0.1", "fd00::1"}) {
      EXPECT_TRUE(all.Contains(At(ip))) << ip;
    }
  }
}

TEST(AddressSet, RefusesTextThatIsNoAddress) {
  for (const char* text :
       {"", "node1", "10", "10.1", "10.0.0", "10.0.0.256", "10.0.0.0/",
        "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/ 8", "/8",
        "fd00::/129", "10.0.0.0/99999999999", "all", "Any"}) {
    AddressSet set;
    EXPECT_EQ(set.Add(text).code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(set.size(), 0u);
    EXPECT_FALSE(set.Contains(At("10.0.0.1"))) << text;
  }
}

TEST(AddressSet, TheZoneOfALinkLocalAddressDoesNotCount) {
  const AddressSet set = SetOf({"fe80::1%nowhere0"});
  EXPECT_TRUE(set.Contains(At("fe80::1")));
}

}  // namespace
}  // namespace muster
