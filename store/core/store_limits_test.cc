// Limits of the store's memory and of its replies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "store/core/store_core_fixture.h"
#include "store/wire/limits.h"

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using C = StoreCommand;
using StoreLimitsTest = StoreCoreTest;

TEST_F(StoreLimitsTest, AppendGrowsUpToTheBoundOfAValue) {
  StoreCore core(size_t{64} << 20);
  const std::string half(kMaxStoreValueBytes / 2, 'x');
  const StoreRequest append = {
      .command = C::kAppend, .key = "k", .value = half};
  core.Apply(1, append, &effects_);
  core.Apply(1, append, &effects_);
  EXPECT_THAT(Take(), IsEmpty());
  core.Apply(1, {.command = C::kAppend, .key = "k", .value = "x"}, &effects_);
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("1!APPEND would make a value")));
}

TEST_F(StoreLimitsTest, WhatAllWatchersOfAKeyAreToldIsBounded) {
  StoreCore core(size_t{64} << 20);
  const std::string value(kMaxStoreValueBytes, 'v');
  const StoreRequest set = {.command = C::kSet, .key = "k", .value = value};
  core.Apply(99, set, &effects_);
  for (StoreClientId client = 1; client <= 5; ++client) {
    core.Apply(client, {.command = C::kWatchKey, .key = "k"}, &effects_);
  }
  effects_.Clear();
  // Each watcher is sent the old and the new value: 16 MiB together.
  core.Apply(99, set, &effects_);
  std::vector<StoreClientId> closed;
  for (const auto& effect : effects_.All()) {
    if (effect.kind == StoreEffects::Kind::kClose) {
      closed.push_back(effect.client);
    } else {
      EXPECT_GT(effect.size, 2 * kMaxStoreValueBytes);
    }
  }
  EXPECT_EQ(effects_.All().size(), 5);
  EXPECT_THAT(closed, ElementsAre(4, 5));
}

// Every request that needs more memory fails at the limit, and existing data
// stays readable.
TEST_F(StoreLimitsTest, IsBounded) {
  StoreCore core(4096);
  const std::string value(1000, 'v');
  std::vector<std::string> names;
  names.reserve(200);
  for (int i = 0; i < 200; ++i) names.push_back(absl::StrCat("name", i));
  const auto fill = [&](C command) {
    for (int i = 0; i < 200; ++i) {
      StoreRequest request = {.command = command,
                              .key = names[i],
                              .value = value,
                              .number = i + 1000};
      if (command == C::kWait) request.keys = {names[i]};
      if (command == C::kMultiSet) {
        request.keys = {names[i]};
        request.values = {value};
      }
      core.Apply(i, request, &effects_);
      EXPECT_LE(core.bytes(), 4096) << CommandName(command);
    }
    const auto refused = Take();
    EXPECT_THAT(refused.empty() ? "" : refused.back(),
                HasSubstr("the store is full"))
        << CommandName(command);
    for (int i = 0; i < 200; ++i) {
      core.Forget(i, &effects_);
      core.Apply(1, {.command = C::kDelete, .key = names[i]}, &effects_);
      core.Apply(1, {.command = C::kQueuePop, .key = names[i]}, &effects_);
    }
    Take();
    EXPECT_EQ(core.bytes(), 0) << CommandName(command);
  };
  for (const C command :
       {C::kSet, C::kCompareSet, C::kAdd, C::kAppend, C::kMultiSet, C::kWait,
        C::kQueuePush, C::kBarrier, C::kWatchKey}) {
    fill(command);
  }
}

// If all clients wait for one key, its name is stored once and the overhead per
// client counts.
TEST_F(StoreLimitsTest, WhoStandsAtOneBarrierOrHasAnOfferIsBoundedToo) {
  StoreCore core(4096);
  core.Apply(0, {.command = C::kQueuePush, .key = "q"}, &effects_);
  const size_t before = core.bytes();
  for (const StoreRequest& request : std::vector<StoreRequest>{
           {.command = C::kBarrier, .key = "b", .number = 1000},
           {.command = C::kWait, .keys = {"q"}}}) {
    for (StoreClientId client = 1; client <= 200; ++client) {
      core.Apply(client, request, &effects_);
      EXPECT_LE(core.bytes(), 4096);
    }
    EXPECT_THAT(Take().back(), HasSubstr("the store is full"));
    for (StoreClientId client = 1; client <= 200; ++client) {
      core.Forget(client, &effects_);
    }
    core.Apply(0, {.command = C::kDelete, .key = "b"}, &effects_);
    Take();
    EXPECT_EQ(core.bytes(), before);
  }
}

TEST_F(StoreLimitsTest, AnOfferNeedsRoomToo) {
  StoreCore core(1050);
  core.Apply(0, {.command = C::kQueuePush, .key = "q"}, &effects_);
  const size_t before = core.bytes();
  core.Apply(1, {.command = C::kWait, .keys = {"q"}}, &effects_);
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("1!the store is full")));
  EXPECT_EQ(core.bytes(), before);
  // If a client waits before the element arrives, the offer is made in any
  // case.
  StoreCore other(1300);
  other.Apply(1, {.command = C::kWait, .keys = {"q"}}, &effects_);
  other.Apply(0, {.command = C::kQueuePush, .key = "q"}, &effects_);
  EXPECT_EQ(other.bytes(), before + OfferList::kBytesPerOffer + 1);
}

TEST_F(StoreLimitsTest, WhatIsLargerThanAllOfItDoesNotFit) {
  StoreCore core(4096);
  const std::string value(5000, 'v');
  core.Apply(1, {.command = C::kSet, .key = "k", .value = value}, &effects_);
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("1!the store is full")));
  EXPECT_EQ(core.bytes(), 0);
}

// A replaced value frees its memory for the new one.
TEST_F(StoreLimitsTest, AFullStoreCanBeChangedInPlaceAndShrunk) {
  StoreCore core(2000);
  const std::string large(1700, 'v');
  const std::string other(1700, 'w');
  const auto apply = [&](const StoreRequest& request) {
    core.Apply(1, request, &effects_);
    return Take();
  };
  EXPECT_THAT(apply({.command = C::kSet, .key = "k", .value = large}),
              IsEmpty());
  EXPECT_THAT(apply({.command = C::kAdd, .key = "n", .number = 100}),
              ElementsAre("1<" + Number(100)));
  const size_t full = core.bytes();
  ASSERT_GT(full + 128, 2000);
  EXPECT_THAT(apply({.command = C::kSet, .key = "k", .value = other}),
              IsEmpty());
  EXPECT_THAT(apply({.command = C::kCompareSet,
                     .key = "k",
                     .value = large,
                     .expected = other}),
              ElementsAre("1<" + String(large)));
  EXPECT_THAT(
      apply({.command = C::kMultiSet, .keys = {"k"}, .values = {other}}),
      IsEmpty());
  EXPECT_EQ(core.bytes(), full);
  // Not even another entry fits.
  const std::string rest(2000 - full, 'r');
  EXPECT_THAT(apply({.command = C::kAppend, .key = "k", .value = rest}),
              IsEmpty());
  EXPECT_EQ(core.bytes(), 2000);
  EXPECT_THAT(apply({.command = C::kAdd, .key = "n", .number = 1}),
              ElementsAre("1<" + Number(101)));
  EXPECT_THAT(apply({.command = C::kAdd, .key = "n", .number = 900}),
              ElementsAre(HasSubstr("the store is full")));
  EXPECT_THAT(apply({.command = C::kSet, .key = "k", .value = "small"}),
              IsEmpty());
  EXPECT_LT(core.bytes(), 500);
}

TEST_F(StoreLimitsTest, AReplyIsBounded) {
  StoreCore core(size_t{64} << 20);
  const std::string value(kMaxStoreValueBytes, 'v');
  core.Apply(1, {.command = C::kSet, .key = "k", .value = value}, &effects_);
  core.Apply(1,
             {.command = C::kMultiGet,
              .keys = std::vector<std::string_view>(1000, "k")},
             &effects_);
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("1!MULTI_GET asks for")));
}

// The list of this many keys of the maximum size exceeds the limit of a reply.
TEST_F(StoreLimitsTest, AListOfKeysIsBounded) {
  StoreCore core(size_t{1} << 30);
  std::string key(kMaxStoreKeyBytes, 'k');
  for (uint32_t i = 0; i <= kMaxStoreReplyBytes / kMaxStoreKeyBytes; ++i) {
    std::string number;
    AppendInteger(i, &number);
    key.replace(0, number.size(), number);
    core.Apply(1, {.command = C::kSet, .key = key}, &effects_);
  }
  ASSERT_THAT(Take(), IsEmpty());
  core.Apply(1, {.command = C::kListKeys}, &effects_);
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("1!LIST_KEYS would take")));
}

}  // namespace
}  // namespace muster::store
