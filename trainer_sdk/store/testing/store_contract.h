#ifndef MUSTER_TRAINER_SDK_STORE_TESTING_STORE_CONTRACT_H_
#define MUSTER_TRAINER_SDK_STORE_TESTING_STORE_CONTRACT_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "trainer_sdk/store/store.h"

namespace muster {

// The reaction of a store to an Add whose sum overflows int64. kRefused: the
// store returns FailedPrecondition. kUnchecked: the store adds without a check,
// as PyTorch's server does.
enum class Overflow { kRefused, kUnchecked };

// Makes empty stores for the tests of one implementation.
struct StoreMaker {
  std::string name;  // name of the test instance: only letters and digits
  std::function<std::shared_ptr<Store>()> make;
  Overflow overflow = Overflow::kRefused;
};

// The tests of the contract of Store, for any implementation:
//   INSTANTIATE_TEST_SUITE_P(Mine, StoreContract, testing::Values(maker),
//                            StoreContract::NameOf);
class StoreContract : public testing::TestWithParam<StoreMaker> {
 public:
  static std::string NameOf(const testing::TestParamInfo<StoreMaker>& info) {
    return info.param.name;
  }

 protected:
  void SetUp() override { store_ = GetParam().make(); }

  std::shared_ptr<Store> store_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_TESTING_STORE_CONTRACT_H_
