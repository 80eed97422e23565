#include "base/fnv_hash.h"

#include <string>

#include "gtest/gtest.h"

namespace muster {
namespace {

// The expected hashes are test vectors published with the algorithm FNV-1a.
TEST(FnvHashTest, IsFnv1a) {
  EXPECT_EQ(FnvHashOf(""), 0xcbf29ce484222325u);
  EXPECT_EQ(FnvHashOf("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(FnvHashOf("foobar"), 0x85944171f73967e8u);
}

TEST(FnvHashTest, ANumberIsItsBytes) {
  FnvHash hash;
  hash.AddNumber(0x0102030405060708u);
  EXPECT_EQ(hash.value(), FnvHashOf("\x08\x07\x06\x05\x04\x03\x02\x01"));
}

}  // namespace
}  // namespace muster
