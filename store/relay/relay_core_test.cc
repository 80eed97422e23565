#include "store/relay/relay_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using C = StoreCommand;

constexpr StoreClientId kUpstream = 0;
const std::string kZero(1, '\0');
const std::string kOne(1, '\1');

class RelayCoreTest : public testing::Test {
 protected:
  // Returns what the relay has done since the previous call, as texts. To the
  // store's server: "CHANNEL COMMAND key..." for a command, "CHANNEL gone" if
  // the channel's client has left. To a client: "CLIENT<bytes" for bytes sent,
  // "CLIENT!reason" if its connection is closed.
  std::vector<std::string> Take() {
    std::vector<std::string> all;
    for (const auto& effect : effects_.All()) {
      const std::string_view bytes = effects_.BytesOf(effect);
      if (effect.client != kUpstream) {
        const bool close = effect.kind == StoreEffects::Kind::kClose;
        all.push_back(absl::StrCat(effect.client, close ? "!" : "<") +
                      std::string(bytes));
        continue;
      }
      RelayFrame frame;
      EXPECT_EQ(*ParseRelayFrame(bytes, 1 << 20, &frame), bytes.size());
      if (frame.kind == RelayFrameKind::kGone) {
        all.push_back(absl::StrCat(frame.channel, " gone"));
        continue;
      }
      RequestParser parser(StoreFraming::kModern);
      StoreRequest request;
      EXPECT_EQ(*parser.Parse(frame.bytes, &request), frame.bytes.size());
      std::string text =
          absl::StrCat(frame.channel, " ", CommandName(request.command));
      if (!request.key.empty()) text += " " + std::string(request.key);
      for (const auto key : request.keys) text += " " + std::string(key);
      all.push_back(text);
    }
    effects_.Clear();
    return all;
  }
  std::vector<std::string> Ask(StoreClientId client,
                               const StoreRequest& request) {
    EXPECT_FALSE(core_.Busy(client));
    core_.OnRequest(client, StoreFraming::kModern, request, &effects_);
    return Take();
  }
  std::vector<std::string> Wait(StoreClientId client,
                                std::vector<std::string_view> keys) {
    return Ask(client, {.command = C::kWait, .keys = std::move(keys)});
  }
  std::vector<std::string> Get(StoreClientId client, std::string_view key) {
    return Ask(client, {.command = C::kGet, .key = key});
  }
  std::vector<std::string> Add(StoreClientId client, std::string_view key) {
    return Ask(client, {.command = C::kAdd, .key = key, .number = 1});
  }
  std::vector<std::string> Reply(
      uint32_t channel, std::string_view bytes,
      RelayFrameKind kind = RelayFrameKind::kMessage) {
    core_.OnFrame({.channel = channel, .kind = kind, .bytes = bytes},
                  &effects_);
    return Take();
  }
  std::vector<std::string> Gone(StoreClientId client) {
    core_.OnGone(client, &effects_);
    return Take();
  }

  StoreEffects effects_;
  RelayCore core_{kUpstream, {.held_bytes = 100'000, .fan_out_bytes = 10}};
};

TEST_F(RelayCoreTest, AnswersAGreetingItself) {
  EXPECT_THAT(Ask(1, {.command = C::kValidate}), IsEmpty());
  EXPECT_THAT(Ask(1, {.command = C::kPing, .number = 0x41414141}),
              ElementsAre("1<AAAA"));
}

TEST_F(RelayCoreTest, EqualWaitsAreOne) {
  EXPECT_THAT(Wait(1, {"k"}), ElementsAre("1 WAIT k"));
  EXPECT_THAT(Wait(2, {"k"}), IsEmpty());
  EXPECT_THAT(Wait(3, {"k", "l"}), ElementsAre("2 WAIT k l"));
  EXPECT_THAT(Reply(1, kZero), ElementsAre("1<" + kZero, "2<" + kZero));
  EXPECT_THAT(Reply(2, kZero), ElementsAre("3<" + kZero));
  EXPECT_EQ(core_.held_bytes(), 0);
}

TEST_F(RelayCoreTest, AChannelServesAgain) {
  Wait(1, {"k"});
  Reply(1, kZero);
  EXPECT_THAT(Get(1, "k"), ElementsAre("1 GET k"));
  Reply(1, "v");
  EXPECT_THAT(Wait(1, {"l"}), ElementsAre("1 WAIT l"));
  EXPECT_THAT(Wait(2, {"m"}), ElementsAre("2 WAIT m"));
}

TEST_F(RelayCoreTest, AWaitBlocksNoOtherRequest) {
  Wait(1, {"k"});
  EXPECT_FALSE(core_.Busy(1));
  EXPECT_THAT(Add(2, "n"), ElementsAre("2 ADD n"));
  EXPECT_THAT(Add(1, "n"), ElementsAre("3 ADD n"));
  EXPECT_THAT(Reply(3, "sum"), ElementsAre("1<sum"));
}

TEST_F(RelayCoreTest, ReadsThatComeMeanwhileGoTogetherAsTheNext) {
  EXPECT_THAT(Get(1, "k"), ElementsAre("1 GET k"));
  EXPECT_THAT(Get(2, "k"), IsEmpty());
  EXPECT_THAT(Get(3, "k"), IsEmpty());
  // Clients 2 and 3 asked after the pending read was sent. So they do not get
  // its reply "old", but the reply to the next read.
  EXPECT_THAT(Reply(1, "old"), ElementsAre("1<old", "1 GET k"));
  EXPECT_TRUE(core_.Busy(2));
  EXPECT_THAT(Reply(1, "new"), ElementsAre("2<new", "3<new"));
  EXPECT_EQ(core_.held_bytes(), 0);
}

TEST_F(RelayCoreTest, ALargeValueIsReadAgainForTheRemainingClients) {
  Get(1, "k");
  for (StoreClientId client = 2; client <= 5; ++client) Get(client, "k");
  EXPECT_THAT(Reply(1, "more than 10"),
              ElementsAre("1<more than 10", "1 GET k"));
  Get(6, "k");
  EXPECT_THAT(Reply(1, "5more"), ElementsAre("2<5more", "3<5more", "1 GET k"));
  core_.OnGone(4, &effects_);
  // The reply exceeds the limit of 10 bytes, so only the first client gets it.
  // That is client 5: clients 2 and 3 have their replies, client 4 has left,
  // and client 6 asked later.
  EXPECT_THAT(Reply(1, "more than 10"),
              ElementsAre("5<more than 10", "1 GET k"));
  EXPECT_THAT(Reply(1, "more than 10"), ElementsAre("6<more than 10"));
  EXPECT_EQ(core_.held_bytes(), 0);
}

TEST_F(RelayCoreTest, OtherReadsAreNotMixedUp) {
  Get(1, "k");
  EXPECT_THAT(Get(2, "l"), ElementsAre("2 GET l"));
  EXPECT_THAT(Ask(3, {.command = C::kQueueLen, .key = "k"}),
              ElementsAre("3 QUEUE_LEN k"));
  EXPECT_THAT(Ask(4, {.command = C::kMultiGet, .keys = {"k"}}),
              ElementsAre("4 MULTI_GET k"));
  EXPECT_THAT(Reply(4, "4"), ElementsAre("4<4"));
  EXPECT_THAT(Reply(2, "2"), ElementsAre("2<2"));
}

TEST_F(RelayCoreTest, WritesAreNeverMerged) {
  const StoreRequest set = {.command = C::kSet, .key = "k", .value = "v"};
  EXPECT_THAT(Ask(1, set), ElementsAre("1 SET k"));
  EXPECT_THAT(Ask(2, set), ElementsAre("2 SET k"));
  EXPECT_FALSE(core_.Busy(1)) << "a SET is not answered";
  EXPECT_THAT(Add(1, "n"), ElementsAre("1 ADD n"));
  EXPECT_THAT(Add(2, "n"), ElementsAre("2 ADD n"));
  EXPECT_TRUE(core_.Busy(1));
  EXPECT_THAT(Reply(2, "2"), ElementsAre("2<2"));
  EXPECT_FALSE(core_.Busy(2));
}

TEST_F(RelayCoreTest, ACancelLeavesTheOtherClientsWaiting) {
  Wait(1, {"k"});
  Wait(2, {"k"});
  EXPECT_THAT(Ask(1, {.command = C::kCancelWait}), ElementsAre("1<" + kOne));
  EXPECT_THAT(Reply(1, kZero), ElementsAre("2<" + kZero));
}

TEST_F(RelayCoreTest, TheLastToCancelEndsTheWaitUpstream) {
  Wait(1, {"k"});
  EXPECT_THAT(Ask(1, {.command = C::kCancelWait}),
              ElementsAre("1 gone", "1<" + kOne));
  // The new WAIT uses channel 2. The late reply to the cancelled WAIT arrives
  // on channel 1 and must not end the new one.
  EXPECT_THAT(Wait(1, {"l"}), ElementsAre("2 WAIT l"));
  EXPECT_THAT(Reply(1, kZero), IsEmpty());
  EXPECT_THAT(Wait(2, {"m"}), ElementsAre("3 WAIT m")) << "1 is closed";
}

TEST_F(RelayCoreTest, ACancelThatCrossedTheAnswerIsAnsweredUpstream) {
  Wait(1, {"k"});
  Reply(1, kZero);
  EXPECT_THAT(Ask(1, {.command = C::kCancelWait}),
              ElementsAre("1 CANCEL_WAIT"));
  EXPECT_THAT(Reply(1, kOne), ElementsAre("1<" + kOne));
}

TEST_F(RelayCoreTest, ABarrierIsCancelledWhereItStands) {
  EXPECT_THAT(Ask(1, {.command = C::kBarrier, .key = "b", .number = 2}),
              ElementsAre("1 BARRIER b"));
  EXPECT_FALSE(core_.Busy(1));
  EXPECT_THAT(Ask(1, {.command = C::kCancelWait}),
              ElementsAre("1 CANCEL_WAIT"));
  EXPECT_THAT(Reply(1, kOne), ElementsAre("1<" + kOne));
}

TEST_F(RelayCoreTest, AnOldClientThatAsksHasGivenItsWaitUp) {
  core_.OnRequest(1, StoreFraming::kOld, {.command = C::kWait, .keys = {"k"}},
                  &effects_);
  EXPECT_THAT(Take(), ElementsAre("1 WAIT k"));
  core_.OnRequest(1, StoreFraming::kOld, {.command = C::kNumKeys}, &effects_);
  EXPECT_THAT(Take(), ElementsAre("1 gone", "2 GETNUMKEYS"));
  EXPECT_THAT(Reply(1, kZero), IsEmpty());
}

constexpr auto kForOne = RelayFrameKind::kMessageForOne;

TEST_F(RelayCoreTest, AnElementIsForOneAndTheOthersWaitOn) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  EXPECT_THAT(Reply(1, kZero, kForOne), ElementsAre("1<" + kZero, "2 WAIT q"));
  // The relay sends the pop to the store before it ends the client's offer, the
  // reservation of an element. The message that ends the offer is "1 gone". So
  // the pop finds the element that was reserved for the client.
  EXPECT_THAT(Ask(1, {.command = C::kQueuePop, .key = "q"}),
              ElementsAre("3 QUEUE_POP q", "1 gone"));
  EXPECT_THAT(Reply(3, "e"), ElementsAre("1<e"));
  EXPECT_THAT(Reply(2, kZero, kForOne), ElementsAre("2<" + kZero));
  EXPECT_EQ(core_.held_bytes(), 0);
  EXPECT_THAT(Gone(2), ElementsAre("2 gone"));
  EXPECT_THAT(Gone(1), ElementsAre("3 gone"));
  EXPECT_THAT(Add(4, "n"), ElementsAre("2 ADD n")) << "an offer's serves again";
  EXPECT_THAT(Add(5, "n"), ElementsAre("1 ADD n"));
  EXPECT_THAT(Add(6, "n"), ElementsAre("4 ADD n")) << "3 is closed";
}

// A queue gets two elements, one after the other. The second one must be
// offered to another client, although the first client has not popped the first
// one yet.
TEST_F(RelayCoreTest, TheNextElementDoesNotWaitForTheFirstOnesPop) {
  for (StoreClientId client = 1; client <= 3; ++client) Wait(client, {"q"});
  Reply(1, kZero, kForOne);
  EXPECT_THAT(Reply(2, kZero, kForOne), ElementsAre("2<" + kZero, "3 WAIT q"));
}

TEST_F(RelayCoreTest, AClientThatLeavesDropsItsOffer) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Reply(1, kZero, kForOne);
  ASSERT_THAT(Gone(2), ElementsAre("2 gone"));
  EXPECT_THAT(Ask(1, {.command = C::kQueuePop, .key = "q"}),
              ElementsAre("3 QUEUE_POP q", "1 gone"));
}

TEST_F(RelayCoreTest, AnOfferEndsTheWaitOfItsClient) {
  Wait(1, {"q"});
  Reply(1, kZero, kForOne);
  EXPECT_THAT(Ask(1, {.command = C::kCancelWait}),
              ElementsAre("2 CANCEL_WAIT", "1 gone"));
}

// Muster's store never makes two offers on one channel. If another store does,
// the relay must ignore the second offer.
TEST_F(RelayCoreTest, ASecondOfferWithoutAWaiterIsDropped) {
  Wait(1, {"q"});
  Wait(2, {"q"});
  Reply(1, kZero, kForOne);
  EXPECT_THAT(Reply(1, kZero, kForOne), IsEmpty());
  EXPECT_THAT(Reply(1, kZero), IsEmpty());
}

TEST_F(RelayCoreTest, AnOfferEndedByUpstreamClosesNoClient) {
  Wait(1, {"q"});
  Reply(1, kZero, kForOne);
  EXPECT_THAT(Reply(1, "full", RelayFrameKind::kGone), IsEmpty());
  EXPECT_THAT(Gone(1), IsEmpty());
  EXPECT_THAT(Get(2, "k"), ElementsAre("2 GET k")) << "1 is closed";
}

TEST_F(RelayCoreTest, ASecondWaitReplacesTheFirst) {
  Wait(1, {"k"});
  EXPECT_THAT(Wait(1, {"l"}), ElementsAre("1 gone", "2 WAIT l"));
}

TEST_F(RelayCoreTest, AWaitDuringAnOfferIsSentUpstream) {
  Wait(1, {"q"});
  Reply(1, kZero, kForOne);
  EXPECT_THAT(Wait(2, {"q"}), ElementsAre("2 WAIT q"));
  EXPECT_THAT(Add(1, "n"), ElementsAre("3 ADD n", "1 gone"));
  EXPECT_THAT(Reply(2, kZero, kForOne), ElementsAre("2<" + kZero));
}

TEST_F(RelayCoreTest, AClosedClientLeavesNoState) {
  Wait(1, {"k"});
  EXPECT_THAT(Gone(1), ElementsAre("1 gone"));
  Add(2, "n");
  EXPECT_THAT(Gone(2), ElementsAre("2 gone"));
  EXPECT_THAT(Reply(2, "late"), IsEmpty());
  Get(3, "k");
  Get(4, "k");
  EXPECT_THAT(Gone(3), IsEmpty());
  EXPECT_THAT(Gone(4), IsEmpty());
  EXPECT_THAT(Reply(3, "v"), IsEmpty()) << "no client waits for it";
  EXPECT_EQ(core_.held_bytes(), 0);
  EXPECT_THAT(Get(5, "k"), ElementsAre("3 GET k")) << "3 is kept";
  EXPECT_THAT(Get(6, "l"), ElementsAre("4 GET l")) << "1 and 2 are closed";
}

TEST_F(RelayCoreTest, ARefusalByUpstreamClosesTheClientsThatAsked) {
  Wait(1, {"k"});
  Wait(2, {"k"});
  EXPECT_THAT(Reply(1, "full", RelayFrameKind::kGone),
              ElementsAre("1!full", "2!full"));
  Get(3, "k");
  Get(4, "k");
  EXPECT_THAT(Reply(2, "too much", RelayFrameKind::kGone),
              ElementsAre("3!too much", "4!too much"));
  Add(5, "n");
  EXPECT_THAT(Reply(3, "no number", RelayFrameKind::kGone),
              ElementsAre("5!no number", "3 gone"))
      << "what crossed it has opened the channel again";
  EXPECT_THAT(Gone(5), IsEmpty());
  EXPECT_EQ(core_.held_bytes(), 0);
  EXPECT_THAT(Get(6, "k"), ElementsAre("4 GET k")) << "no channel is kept";
}

TEST_F(RelayCoreTest, ARefusalIsNotSentToAClosedClient) {
  Get(3, "k");
  Get(4, "k");
  Gone(4);
  EXPECT_THAT(Reply(1, "too much", RelayFrameKind::kGone),
              ElementsAre("3!too much"));
}

TEST_F(RelayCoreTest, RemembersABoundedAmount) {
  const std::string key(8000, 'k');
  std::vector<std::string> last;
  for (int i = 0; i < 100; ++i) {
    const std::string name = absl::StrCat(key, i);
    last = Wait(i + 1, {name});
    EXPECT_LE(core_.held_bytes(), 100'000);
  }
  EXPECT_THAT(last, ElementsAre(HasSubstr("100!the relay remembers too many")));
  last = Get(101, key);
  EXPECT_THAT(last, ElementsAre(HasSubstr("101!the relay remembers too many")));
}

TEST_F(RelayCoreTest, RefusesRequestsWithManyReplies) {
  EXPECT_THAT(Ask(1, {.command = C::kWatchKey, .key = "k"}),
              ElementsAre("1!WATCH_KEY is not relayed"));
}

TEST_F(RelayCoreTest, AReadOfNothingIsNotAnswered) {
  EXPECT_THAT(Ask(1, {.command = C::kMultiGet}), IsEmpty());
  EXPECT_FALSE(core_.Busy(1));
}

}  // namespace
}  // namespace muster::store
