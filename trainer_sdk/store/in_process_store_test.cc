#include "trainer_sdk/store/in_process_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "trainer_sdk/store/testing/store_contract.h"

namespace muster {
namespace {

INSTANTIATE_TEST_SUITE_P(InProcess, StoreContract,
                         testing::Values(StoreMaker{
                             "Plain",
                             [] { return std::make_shared<InProcessStore>(); },
                         }),
                         StoreContract::NameOf);

TEST(InProcessStore, AddToATextIsRefused) {
  InProcessStore store;
  ASSERT_TRUE(store.Set("k", "seven").ok());
  absl::Status refused = store.Add("k", 1).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("'k'"));
}

TEST(InProcessStore, ASumThatOverflowsIsRefused) {
  InProcessStore store;
  ASSERT_TRUE(store.Add("k", std::numeric_limits<int64_t>::max()).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store.Add("k", 1).status()));
}

}  // namespace
}  // namespace muster
