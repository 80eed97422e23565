#include "trainer_sdk/store/prefix_store.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/in_process_store.h"
#include "trainer_sdk/store/testing/store_contract.h"

namespace muster {
namespace {

INSTANTIATE_TEST_SUITE_P(Prefix, StoreContract,
                         testing::Values(StoreMaker{
                             "OverInProcess",
                             [] {
                               return std::make_shared<PrefixStore>(
                                   "outer",
                                   std::make_shared<PrefixStore>(
                                       "inner",
                                       std::make_shared<InProcessStore>()));
                             },
                         }),
                         StoreContract::NameOf);

TEST(PrefixStore, PrefixesOfOneStoreDoNotMeet) {
  auto below = std::make_shared<InProcessStore>();
  PrefixStore a("a", below), b("b", below);
  ASSERT_TRUE(a.Set("k", "of a").ok());
  EXPECT_FALSE(b.Check({"k"}).value());
  EXPECT_EQ(below->Get("a/k", MonotonicNow()).value(), "of a");
  EXPECT_FALSE(b.Delete("k").value());
  EXPECT_TRUE(a.Delete("k").value());
}

}  // namespace
}  // namespace muster
