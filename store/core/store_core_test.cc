// Tests of StoreCore: the effects of each request, and the limits of memory and
// of reply sizes.
#include "store/core/store_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "store/core/store_core_fixture.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using C = StoreCommand;

TEST_F(StoreCoreTest, SetAndGet) {
  Set("k", "v");
  EXPECT_EQ(Get("k"), "v");
  Set("k", "other");
  EXPECT_EQ(Get("k"), "other");
  EXPECT_EQ(Get("missing"), "");
  EXPECT_EQ(core_.keys(), 1);
}

TEST_F(StoreCoreTest, CompareSet) {
  const auto compare = [&](std::string_view expected,
                           std::string_view desired) {
    return Do(1, {.command = C::kCompareSet,
                  .key = "k",
                  .value = desired,
                  .expected = expected});
  };
  // The key is missing and a value is expected, so COMPARE_SET sets nothing. It
  // replies with the expected value, as PyTorch's server does.
  EXPECT_THAT(compare("old", "new"), ElementsAre("1<" + String("old")));
  EXPECT_EQ(core_.keys(), 0);
  EXPECT_THAT(compare("", "first"), ElementsAre("1<" + String("first")));
  EXPECT_THAT(compare("other", "new"), ElementsAre("1<" + String("first")));
  EXPECT_THAT(compare("", "new"), ElementsAre("1<" + String("first")));
  EXPECT_THAT(compare("first", "new"), ElementsAre("1<" + String("new")));
  EXPECT_EQ(Get("k"), "new");
}

TEST_F(StoreCoreTest, CompareSetThatCreatesWakes) {
  EXPECT_THAT(Wait(1, {"k"}), IsEmpty());
  EXPECT_THAT(Do(2, {.command = C::kCompareSet, .key = "k", .value = "v"}),
              ElementsAre("2<" + String("v"), "1<" + Byte(0)));
}

TEST_F(StoreCoreTest, AddCountsInDecimal) {
  const auto add = [&](int64_t amount) {
    return Do(1, {.command = C::kAdd, .key = "n", .number = amount});
  };
  EXPECT_THAT(add(5), ElementsAre("1<" + Number(5)));
  EXPECT_THAT(add(-7), ElementsAre("1<" + Number(-2)));
  EXPECT_EQ(Get("n"), "-2");
  Set("n", "40 and more");
  EXPECT_THAT(add(2), ElementsAre("1<" + Number(42)));
}

TEST_F(StoreCoreTest, AddToATextClosesTheClient) {
  Set("n", "x");
  EXPECT_THAT(Do(1, {.command = C::kAdd, .key = "n", .number = 1}),
              ElementsAre(HasSubstr("1!ADD to what is no decimal number")));
  EXPECT_EQ(Get("n"), "x");
  Set("n", "9223372036854775807");
  EXPECT_THAT(Do(1, {.command = C::kAdd, .key = "n", .number = 1}),
              ElementsAre(HasSubstr("1!ADD beyond 64 bits")));
  Set("n", "99999999999999999999");
  EXPECT_THAT(Do(1, {.command = C::kAdd, .key = "n", .number = 1}),
              ElementsAre(HasSubstr("no decimal number")));
}

TEST_F(StoreCoreTest, CheckAndDelete) {
  Set("a", "1");
  EXPECT_THAT(Do(1, {.command = C::kCheck, .keys = {"a"}}),
              ElementsAre("1<" + Byte(kStoreReady)));
  EXPECT_THAT(Do(1, {.command = C::kCheck, .keys = {"a", "b"}}),
              ElementsAre("1<" + Byte(kStoreNotReady)));
  EXPECT_THAT(Do(1, {.command = C::kDelete, .key = "a"}),
              ElementsAre("1<" + Number(1)));
  EXPECT_THAT(Do(1, {.command = C::kDelete, .key = "a"}),
              ElementsAre("1<" + Number(0)));
  EXPECT_THAT(Do(1, {.command = C::kCheck, .keys = {"a"}}),
              ElementsAre("1<" + Byte(kStoreNotReady)));
  EXPECT_EQ(core_.bytes(), 0);
}

TEST_F(StoreCoreTest, ListsKeysInOrderWithoutQueues) {
  Set("b", "");
  Set("a", "");
  Push("q", "e");
  EXPECT_THAT(Do(1, {.command = C::kListKeys}),
              ElementsAre("1<" + Number(2) + String("a") + String("b")));
  EXPECT_THAT(Do(1, {.command = C::kNumKeys}), ElementsAre("1<" + Number(2)));
}

TEST_F(StoreCoreTest, MultiSetAndMultiGet) {
  EXPECT_THAT(
      Do(1,
         {.command = C::kMultiSet, .keys = {"a", "b"}, .values = {"1", "2"}}),
      IsEmpty());
  EXPECT_THAT(Do(1, {.command = C::kMultiGet, .keys = {"b", "none", "a"}}),
              ElementsAre("1<" + String("2") + String("") + String("1")));
  EXPECT_THAT(Do(1, {.command = C::kMultiGet}), IsEmpty());
}

TEST_F(StoreCoreTest, AWaitEndsWhenTheLastKeyHasCome) {
  Set("a", "1");
  EXPECT_THAT(Wait(1, {"a"}), ElementsAre("1<" + Byte(0)));
  EXPECT_THAT(Wait(1, {}), ElementsAre("1<" + Byte(0)));
  EXPECT_THAT(Wait(1, {"a", "b", "b", "c"}), IsEmpty());
  EXPECT_THAT(Wait(2, {"c"}), IsEmpty());
  EXPECT_EQ(core_.waiting(), 2);
  EXPECT_THAT(Do(3, {.command = C::kSet, .key = "c", .value = ""}),
              ElementsAre("2<" + Byte(0)));
  EXPECT_THAT(Do(3, {.command = C::kAppend, .key = "b", .value = "x"}),
              ElementsAre("1<" + Byte(0)));
  EXPECT_EQ(core_.waiting(), 0);
}

TEST_F(StoreCoreTest, ReleasesAllWaitersInFifoOrder) {
  Wait(3, {"k"});
  Wait(1, {"k"});
  Wait(2, {"k"});
  EXPECT_THAT(Do(9, {.command = C::kAdd, .key = "k", .number = 1}),
              ElementsAre("3<" + Byte(0), "1<" + Byte(0), "2<" + Byte(0),
                          "9<" + Number(1)));
}

TEST_F(StoreCoreTest, CancelIsAnsweredWhetherOrNotAnybodyWaits) {
  Wait(1, {"k"});
  EXPECT_THAT(Do(1, {.command = C::kCancelWait}),
              ElementsAre("1<" + Byte(kStoreWaitCanceled)));
  EXPECT_THAT(Do(1, {.command = C::kCancelWait}),
              ElementsAre("1<" + Byte(kStoreWaitCanceled)));
  Set("k", "v");  // "k" exists now, but the cancelled WAIT gets no reply
  EXPECT_EQ(core_.waiting(), 0);
}

TEST_F(StoreCoreTest, ASecondWaitReplacesTheFirst) {
  Wait(1, {"a"});
  Wait(1, {"b"});
  EXPECT_THAT(Do(2, {.command = C::kSet, .key = "a", .value = ""}), IsEmpty());
  EXPECT_THAT(Do(2, {.command = C::kSet, .key = "b", .value = ""}),
              ElementsAre("1<" + Byte(0)));
}

TEST_F(StoreCoreTest, AClosedClientLeavesNoState) {
  Wait(1, {"a", "b"});
  Wait(2, {"a"});
  EXPECT_THAT(Gone(1), IsEmpty());
  EXPECT_THAT(
      Do(3, {.command = C::kMultiSet, .keys = {"a", "b"}, .values = {"", ""}}),
      ElementsAre("2<" + Byte(0)));
  Do(4, {.command = C::kWatchKey, .key = "c"});
  Barrier(5, "d", 2);
  EXPECT_THAT(Gone(4), IsEmpty());
  EXPECT_THAT(Gone(5), IsEmpty());
  for (const char* key : {"a", "b", "d"}) {
    Do(6, {.command = C::kDelete, .key = key});
  }
  EXPECT_EQ(core_.bytes(), 0);
}

TEST_F(StoreCoreTest, QueuesAreFifo) {
  EXPECT_THAT(Pop(1, "q"), ElementsAre("1<" + Number(0)));
  Push("q", "one");
  Push("q", "two");
  EXPECT_THAT(Do(1, {.command = C::kQueueLen, .key = "q"}),
              ElementsAre("1<" + Number(2)));
  EXPECT_THAT(Pop(1, "q"), ElementsAre("1<" + Number(2) + String("one")));
  EXPECT_THAT(Pop(1, "q"), ElementsAre("1<" + Number(1) + String("two")));
  EXPECT_THAT(Do(1, {.command = C::kQueueLen, .key = "q"}),
              ElementsAre("1<" + Number(0)));
  EXPECT_EQ(core_.bytes(), 0);
}

TEST_F(StoreCoreTest, AQueueThatIsNotEmptyCountsAsThere) {
  Push("q", "e");
  EXPECT_THAT(Do(1, {.command = C::kCheck, .keys = {"q"}}),
              ElementsAre("1<" + Byte(kStoreReady)));
  EXPECT_THAT(Wait(1, {"q"}), ElementsAre("1<1" + Byte(0)));
  EXPECT_THAT(Do(1, {.command = C::kDelete, .key = "q"}),
              ElementsAre("1<" + Number(0)));
}

TEST_F(StoreCoreTest, AnElementWakesOneWaiter) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  EXPECT_THAT(Push("q", "x"), ElementsAre("1<1" + Byte(0)));
  EXPECT_THAT(Pop(1, "q"), ElementsAre("1<" + Number(1) + String("x")));
  EXPECT_THAT(Push("q", "y"), ElementsAre("2<1" + Byte(0)));
}

TEST_F(StoreCoreTest, TwoElementsWakeTwo) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Wait(3, {"q"});
  EXPECT_THAT(Push("q", "x"), ElementsAre("1<1" + Byte(0)));
  EXPECT_THAT(Push("q", "y"), ElementsAre("2<1" + Byte(0)));
  // After client 1's pop one element is left. It is reserved for client 2, so
  // client 3 is not woken.
  EXPECT_THAT(Pop(1, "q"), ElementsAre("1<" + Number(2) + String("x")));
  EXPECT_THAT(Pop(2, "q"), ElementsAre("2<" + Number(1) + String("y")));
  EXPECT_EQ(core_.waiting(), 1);
}

TEST_F(StoreCoreTest, AnElementThatIsNotTakenWakesTheNext) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Wait(3, {"q"});
  Push("q", "x");
  EXPECT_THAT(Gone(1), ElementsAre("2<1" + Byte(0)));
  // Client 2 got an offer (a reserved element), but its next request is not a
  // pop. So the element goes to client 3.
  EXPECT_THAT(Do(2, {.command = C::kNumKeys}),
              ElementsAre("3<1" + Byte(0), "2<" + Number(0)));
}

// A blocking pop consists of a WAIT and a pop. Another client whose WAIT comes
// between the two must not get the element.
TEST_F(StoreCoreTest, AWaitDuringAnOfferWaits) {
  Wait(1, {"q"});
  Push("q", "x");
  EXPECT_THAT(Wait(2, {"q"}), IsEmpty());
  EXPECT_THAT(Pop(1, "q"), ElementsAre("1<" + Number(1) + String("x")));
  EXPECT_THAT(Push("q", "y"), ElementsAre("2<1" + Byte(0)));
  // Client 1 waits for the queue and gets an offer of its only element "z".
  // Client 3 gets no offer of "z" before client 1 disconnects.
  Push("q", "z");
  EXPECT_THAT(Wait(1, {"q"}), ElementsAre("1<1" + Byte(0)));
  EXPECT_THAT(Wait(3, {"q"}), IsEmpty());
  EXPECT_THAT(Gone(1), ElementsAre("3<1" + Byte(0)));
}

// Behind a relay, one program's WAIT and its pop may have different client ids.
// Here clients 1 and 10 belong to the same program: client 1 waits, and client
// 10 pops the element.
TEST_F(StoreCoreTest, AnElementTakenByAPopIsNotOffered) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Push("q", "x");
  Push("q", "y");
  Wait(3, {"q"});
  Pop(10, "q");
  EXPECT_THAT(Gone(1), IsEmpty()) << "what is left is the second's";
  EXPECT_THAT(Gone(2), ElementsAre("3<1" + Byte(0)));
}

TEST_F(StoreCoreTest, AnElementWhoseOfferExpiresIsOfferedToTheNext) {
  Wait(1, {"q"});
  Push("q", "x");
  Wait(2, {"q"});
  EXPECT_TRUE(core_.HasOffers());
  core_.AgeOffers(&effects_);
  EXPECT_THAT(Take(), IsEmpty()) << "the first may be on its way";
  core_.AgeOffers(&effects_);
  EXPECT_THAT(Take(), ElementsAre("2<1" + Byte(0)));
  EXPECT_TRUE(core_.HasOffers()) << "the second's";
  core_.AgeOffers(&effects_);
  core_.AgeOffers(&effects_);
  EXPECT_FALSE(core_.HasOffers());
  // The element "x" is no longer reserved for client 1, so any client may pop
  // it. None has done so yet. So client 1 can still pop it.
  EXPECT_THAT(Pop(1, "q"), ElementsAre("1<" + Number(1) + String("x")));
}

TEST_F(StoreCoreTest, AnElementTakenByAPopWakesNoWaiter) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Push("q", "x");
  Pop(3, "q");
  EXPECT_THAT(Pop(1, "other"), ElementsAre("1<" + Number(0)));
}

TEST_F(StoreCoreTest, APopOfAnotherQueueDoesNotTakeTheElement) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Push("q", "x");
  EXPECT_THAT(Pop(1, "other"), ElementsAre("2<1" + Byte(0), "1<" + Number(0)));
}

TEST_F(StoreCoreTest, AWaitForAnotherQueueDoesNotKeepTheOffer) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Push("q", "x");
  Push("other", "y");
  EXPECT_THAT(Wait(1, {"other"}),
              ElementsAre("2<1" + Byte(0), "1<1" + Byte(0)));
}

TEST_F(StoreCoreTest, AnElementWakesTheFirstWaiterWithoutOtherKeys) {
  Wait(1, {"q", "k"});
  Wait(2, {"q"});
  EXPECT_THAT(Push("q", "x"), ElementsAre("2<1" + Byte(0)));
  EXPECT_THAT(Do(3, {.command = C::kSet, .key = "k", .value = ""}),
              ElementsAre("1<" + Byte(0)));
}

TEST_F(StoreCoreTest, ANewWaitPassesTheOfferToTheNext) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Push("q", "x");
  EXPECT_THAT(Wait(1, {"q"}), ElementsAre("2<1" + Byte(0)));
  EXPECT_THAT(Gone(2), ElementsAre("1<1" + Byte(0)));
  EXPECT_THAT(Wait(1, {"q"}), ElementsAre("1<1" + Byte(0))) << "nobody waits";
}

// The only element of queue "q" is reserved for client 1. Client 2 waits for
// "q" and for another key, so its WAIT is not part of a blocking pop. Such a
// WAIT only needs the queue to exist, so the reservation does not matter.
TEST_F(StoreCoreTest, AQueueAmongOtherKeysIsThereThoughItsElementIsOffered) {
  Wait(1, {"q"});
  Push("q", "x");
  Wait(2, {"q", "k"});
  EXPECT_THAT(Do(3, {.command = C::kSet, .key = "k", .value = ""}),
              ElementsAre("2<" + Byte(0)));
  EXPECT_THAT(Wait(3, {"k", "q"}), ElementsAre("3<" + Byte(0)));
}

TEST_F(StoreCoreTest, ABarrierLetsGoWhenAllHaveCome) {
  EXPECT_THAT(Barrier(1, "b", 3), IsEmpty());
  EXPECT_THAT(Barrier(2, "b", 3), IsEmpty());
  EXPECT_EQ(Get("b"), "2");
  EXPECT_THAT(Barrier(3, "b", 3),
              ElementsAre("1<" + Byte(0), "2<" + Byte(0), "3<" + Byte(0)));
  ASSERT_EQ(core_.waiting(), 0);
  EXPECT_THAT(Barrier(1, "alone", 1), ElementsAre("1<" + Byte(0)));
  EXPECT_THAT(Barrier(1, "nobody", 0), ElementsAre("1<" + Byte(0)));
  EXPECT_THAT(Barrier(1, "less", -3), ElementsAre("1<" + Byte(0)));
}

TEST_F(StoreCoreTest, GivingUpABarrierUndoesTheArrival) {
  Barrier(1, "b", 2);
  EXPECT_THAT(Do(1, {.command = C::kCancelWait}),
              ElementsAre("1<" + Byte(kStoreWaitCanceled)));
  EXPECT_THAT(Barrier(1, "b", 2), IsEmpty()) << "it came twice, nobody else";
  EXPECT_THAT(Gone(1), IsEmpty());
  EXPECT_THAT(Barrier(2, "b", 2), IsEmpty());
  EXPECT_THAT(Barrier(3, "b", 2), ElementsAre("2<" + Byte(0), "3<" + Byte(0)));
}

TEST_F(StoreCoreTest, ABarriersCountThatOthersChangedStays) {
  for (const char* value : {"0", "-3", "text", ""}) {
    ASSERT_THAT(Barrier(1, "b", 2), IsEmpty());
    Set("b", value);
    Do(1, {.command = C::kCancelWait});
    EXPECT_EQ(Get("b"), value);
    Delete("b");
  }
  ASSERT_THAT(Barrier(1, "b", 2), IsEmpty());
  Delete("b");
  Do(1, {.command = C::kCancelWait});
  EXPECT_EQ(core_.keys(), 0);
}

TEST_F(StoreCoreTest, ABarrierReplacesAWait) {
  Wait(1, {"k"});
  Barrier(1, "b", 2);
  EXPECT_THAT(Do(2, {.command = C::kSet, .key = "k", .value = ""}), IsEmpty());
}

TEST_F(StoreCoreTest, NoRelayIsInsideAnother) {
  EXPECT_THAT(Do(1, {.command = C::kRelay}),
              ElementsAre("1!RELAY inside a relay's frames"));
}

TEST_F(StoreCoreTest, ABarrierWhereAnotherValueLiesEndsTheClient) {
  Set("b", "text");
  EXPECT_THAT(Barrier(1, "b", 2), ElementsAre(HasSubstr("1!BARRIER")));
}

TEST_F(StoreCoreTest, WatchersGetEveryChange) {
  EXPECT_THAT(Do(1, {.command = C::kWatchKey, .key = "k"}),
              ElementsAre("1<" + Byte(kStoreWatchRegistered)));
  const auto told = [&](uint8_t what, std::string_view before,
                        std::string_view now) {
    return "1<" + Byte(what) + String("k") + String(before) + String(now);
  };
  EXPECT_THAT(Do(2, {.command = C::kSet, .key = "k", .value = "1"}),
              ElementsAre(told(kStoreKeyCreated, "", "1")));
  EXPECT_THAT(Do(2, {.command = C::kAdd, .key = "k", .number = 1}),
              ElementsAre(told(kStoreKeyUpdated, "1", "2"), "2<" + Number(2)));
  EXPECT_THAT(Do(2, {.command = C::kAppend, .key = "k", .value = "x"}),
              ElementsAre(told(kStoreKeyUpdated, "2", "2x")));
  EXPECT_THAT(Do(2, {.command = C::kDelete, .key = "k"}),
              ElementsAre(told(kStoreKeyDeleted, "2x", ""), "2<" + Number(1)));
  EXPECT_THAT(Do(2, {.command = C::kSet, .key = "other", .value = "1"}),
              IsEmpty());
}

TEST_F(StoreCoreTest, AWaitForManyKeysIsOverOnce) {
  std::vector<std::string> names;
  names.reserve(1000);
  for (int i = 0; i < 1000; ++i) names.push_back(absl::StrCat("k", i));
  StoreRequest wait = {.command = C::kWait};
  for (const std::string& name : names) wait.keys.push_back(name);
  EXPECT_THAT(Do(1, wait), IsEmpty());
  std::vector<std::string> told;
  for (const std::string& name : names) {
    for (const std::string& effect :
         Do(2, {.command = C::kSet, .key = name, .value = ""})) {
      told.push_back(effect);
    }
  }
  EXPECT_THAT(told, ElementsAre("1<" + Byte(0)));
}

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

TEST_F(StoreLimitsTest, BytesToAllWatchersOfAKeyAreBounded) {
  StoreCore core(size_t{64} << 20);
  const std::string value(kMaxStoreValueBytes, 'v');
  const StoreRequest set = {.command = C::kSet, .key = "k", .value = value};
  core.Apply(99, set, &effects_);
  for (StoreClientId client = 1; client <= 5; ++client) {
    core.Apply(client, {.command = C::kWatchKey, .key = "k"}, &effects_);
  }
  effects_.Clear();
  // Each watcher is sent the old and the new value, together more than 16 MiB.
  // So the limit of 64 MiB has room for only three of the five watchers. The
  // other two are disconnected.
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

// Once the memory limit is reached, each request that needs more memory fails,
// and existing data stays readable.
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

// 200 clients wait at one barrier, and then for one queue. The store keeps the
// name of the barrier or queue only once, but the overhead of each client must
// count against the memory limit.
TEST_F(StoreLimitsTest, BarriersAndOffersAreBoundedToo) {
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
  // In this second store client 1 sends its WAIT before the push. The push ends
  // the WAIT, and the offer takes the memory that the WAIT occupied. So 1300
  // bytes suffice for the element and the offer.
  StoreCore other(1300);
  other.Apply(1, {.command = C::kWait, .keys = {"q"}}, &effects_);
  other.Apply(0, {.command = C::kQueuePush, .key = "q"}, &effects_);
  EXPECT_EQ(other.bytes(), before + OfferList::kBytesPerOffer + 1);
}

TEST_F(StoreLimitsTest, AValueLargerThanTheStoreDoesNotFit) {
  StoreCore core(4096);
  const std::string value(5000, 'v');
  core.Apply(1, {.command = C::kSet, .key = "k", .value = value}, &effects_);
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("1!the store is full")));
  EXPECT_EQ(core.bytes(), 0);
}

// A value in a full store can be replaced, because that frees the memory of the
// old value.
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
  // The remaining memory is too small for another key, but existing values can
  // still grow.
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

// Each name has the maximum size, so all names together exceed the limit of one
// reply.
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
