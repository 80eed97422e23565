#include "trainer_sdk/gloo/gloo_store.h"

#include <gloo/common/error.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(GlooStore, WaitsUntilItsDeadlineUnlessToldLess) {
  const auto store = std::make_shared<InProcessStore>();
  for (const bool at_most : {true, false}) {
    const Instant deadline = MonotonicNow() + milliseconds(20);
    GlooStore gloo(store, deadline);
    EXPECT_THROW(
        at_most ? gloo.wait({"key"}, milliseconds::max()) : gloo.wait({"key"}),
        gloo::IoException);
    EXPECT_GE(MonotonicNow(), deadline);
  }
  GlooStore patient(store, MonotonicNow() + seconds(3600));
  EXPECT_THROW(patient.wait({"key"}, milliseconds(1)), gloo::IoException);
}

TEST(GlooStore, FindsWhatComesWhileItWaits) {
  const auto store = std::make_shared<InProcessStore>();
  GlooStore gloo(store, MonotonicNow() + seconds(30));
  std::thread other([&] { gloo.set("key", {'v'}); });
  EXPECT_NO_THROW(gloo.wait({"key"}));
  other.join();
  EXPECT_EQ(gloo.get("key"), std::vector<char>{'v'});
}

}  // namespace
}  // namespace muster
