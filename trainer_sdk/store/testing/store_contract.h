#ifndef MUSTER_TRAINER_SDK_STORE_TESTING_STORE_CONTRACT_H_
#define MUSTER_TRAINER_SDK_STORE_TESTING_STORE_CONTRACT_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "trainer_sdk/store/store.h"

namespace muster {

// What a store does with a sum that no int64 holds. PyTorch's own server adds
// without a check.
enum class Overflow { kRefused, kUnchecked };

// Makes an empty store.
struct StoreMaker {
  std::string name;  // of the test's instance: letters and digits
  std::function<std::shared_ptr<Store>()> make;
  Overflow overflow = Overflow::kRefused;
};

// What every Store promises, as one suite of tests:
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
