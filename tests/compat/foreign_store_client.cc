// Tests Muster's store client against PyTorch's store server, whose port is in
// the environment variable MUSTER_FOREIGN_STORE_PORT. Run by
// foreign_store_test.py.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/store/store_barrier.h"
#include "trainer_sdk/store/tcp_store.h"
#include "trainer_sdk/store/testing/store_contract.h"

namespace muster {
namespace {

std::shared_ptr<Store> Connect() {
  const char* port = std::getenv("MUSTER_FOREIGN_STORE_PORT");
  absl::StatusOr<std::unique_ptr<TcpStore>> store = TcpStore::Connect(
      {.host = "127.0.0.1",
       .port = std::atoi(port == nullptr ? "" : port),
       .connect_deadline = MonotonicNow() + std::chrono::seconds(20)});
  if (!store.ok()) {
    std::cerr << store.status() << "\n";
    std::exit(3);
  }
  return *std::move(store);
}

// Returns a store client with a new key prefix, so that tests do not share
// keys.
std::shared_ptr<Store> Fresh() {
  static int made = 0;
  return std::make_shared<PrefixStore>("test" + std::to_string(++made),
                                       Connect());
}

INSTANTIATE_TEST_SUITE_P(Foreign, StoreContract,
                         testing::Values(StoreMaker{"Tcp", &Fresh,
                                                    Overflow::kUnchecked}),
                         StoreContract::NameOf);

TEST(ForeignStore, KeysAreThoseOfPyTorch) {
  std::shared_ptr<Store> store = Connect();
  EXPECT_EQ(store->Get("from_python", MonotonicNow()).value(), "hello");
  EXPECT_TRUE(store->Set("to_python", "hello back").ok());
}

TEST(ForeignStore, HasBarriers) {
  absl::Status late = StoreBarrier(
      *Fresh(), "b", 0, 3, MonotonicNow() + std::chrono::milliseconds(30));
  EXPECT_NE(late.message().find("ranks 1-2 of 3"), absl::string_view::npos)
      << late;
}

}  // namespace
}  // namespace muster
