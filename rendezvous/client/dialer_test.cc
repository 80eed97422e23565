// Tests of the order in which Dialer calls endpoints, and of its errors. No
// network: the test replaces connections and calls.

#include "rendezvous/client/dialer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DialerTest : public ::testing::Test {
 protected:
  Dialer Make(const std::string& endpoints) {
    return Dialer(*ParseEndpoints(endpoints), {}, "", {},
                  [this](const SocketAddress& address, Instant deadline) {
                    reached_.push_back(address.Ip());
                    longest_ = std::max(longest_, deadline - MonotonicNow());
                    const auto error = unreachable_.find(address.Ip());
                    return error == unreachable_.end()
                               ? absl::OkStatus()
                               : absl::UnavailableError(error->second);
                  });
  }

  absl::Status Dial(Dialer& dialer) {
    called_.clear();
    reached_.clear();
    return dialer.Dial(
        {.timeout = std::chrono::seconds(1),
         .given_up = [this] { return given_up_; },
         .look_up = [](const std::string& host,
                       int port) -> absl::StatusOr<std::vector<SocketAddress>> {
           if (host != "pair") return absl::UnavailableError("no " + host);
           return std::vector<SocketAddress>{*NumericAddress("10.0.0.8", port),
                                             *NumericAddress("10.0.0.9", port)};
         }},
        [this](const Endpoint&, const SocketAddress& address,
               const std::shared_ptr<grpc::Channel>&) -> Dialer::Outcome {
          called_.push_back(address.Ip());
          if (while_called_) while_called_();
          if (address.Ip() == leader_) return {.answered = true};
          const auto error = errors_.find(address.Ip());
          return {.end = error == errors_.end()
                             ? absl::UnavailableError(address.Ip() + " closed")
                             : error->second};
        });
  }

  std::string leader_;  // IP address of the coordinator that answers calls
  std::map<std::string, absl::Status> errors_;
  // Key: an IP address that cannot be reached; value: the system's error.
  std::map<std::string, std::string> unreachable_;
  bool given_up_ = false;
  std::function<void()> while_called_;
  std::vector<std::string> called_, reached_;
  Duration longest_ = Duration::zero();
};

TEST_F(DialerTest, BeginsWithTheEndpointThatAnsweredLast) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2,10.0.0.3");
  leader_ = "10.0.0.2";
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.2"));
  leader_ = "10.0.0.1";
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.2", "10.0.0.3", "10.0.0.1"));
}

TEST_F(DialerTest, AnAddressThatDropsPacketsIsPassedOver) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2");
  unreachable_["10.0.0.1"] = "Connection timed out";
  leader_ = "10.0.0.2";
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(reached_, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_THAT(called_, ElementsAre("10.0.0.2"));
  EXPECT_LE(longest_, std::chrono::milliseconds(1200));
  EXPECT_GT(longest_, std::chrono::milliseconds(0));
}

TEST_F(DialerTest, ALostEndpointHasLittleTimeToAcceptAConnectionOnce) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2");
  leader_ = "10.0.0.1";
  dialer.Lost();
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_LE(longest_, std::chrono::milliseconds(200));
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_GT(longest_, std::chrono::milliseconds(1000));
}

TEST_F(DialerTest, AnEndpointAfterALostOneHasTheUsualTime) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2");
  unreachable_["10.0.0.1"] = "Connection timed out";
  leader_ = "10.0.0.2";
  dialer.Lost();
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(reached_, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_GT(longest_, std::chrono::milliseconds(1000));
}

TEST_F(DialerTest, SoIsOneOfTheAddressesOfASingleEndpoint) {
  Dialer dialer = Make("pair");
  unreachable_["10.0.0.8"] = "Connection timed out";
  leader_ = "10.0.0.9";
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(reached_, ElementsAre("10.0.0.8", "10.0.0.9"));
  EXPECT_THAT(called_, ElementsAre("10.0.0.9"));
}

TEST_F(DialerTest, ASingleAddressHasTheTimeLimitOfTheCall) {
  Dialer dialer = Make("10.0.0.1");
  unreachable_["10.0.0.1"] = "Connection timed out";
  leader_ = "10.0.0.1";
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(reached_, IsEmpty());
}

TEST_F(DialerTest, WithoutAnAnswerTheErrorHasAllReasonsInTheOrderOfTheList) {
  Dialer dialer = Make("10.0.0.1:1,10.0.0.2,nowhere,pair:4");
  leader_ = "10.0.0.2";
  EXPECT_TRUE(Dial(dialer).ok());
  leader_.clear();
  unreachable_["10.0.0.1"] = "Connection timed out";
  const absl::Status status = Dial(dialer);
  EXPECT_THAT(called_, ElementsAre("10.0.0.2", "10.0.0.8", "10.0.0.9"));
  EXPECT_EQ(status,
            absl::UnavailableError(
                "coordinator 10.0.0.1:1: no answer: is the port open in the "
                "firewall?; 10.0.0.2 closed; coordinator nowhere:29400: the "
                "name nowhere does not resolve: no nowhere; 10.0.0.8 closed"));
}

TEST_F(DialerTest, ARefusalIsTheError) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2,10.0.0.3");
  for (const absl::Status& refusal : {absl::UnauthenticatedError("token"),
                                      absl::PermissionDeniedError("job")}) {
    errors_["10.0.0.2"] = refusal;
    EXPECT_EQ(Dial(dialer), refusal);
    EXPECT_THAT(called_, ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
  }
}

TEST_F(DialerTest, OnlyACommonCodeIsKept) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2");
  errors_["10.0.0.1"] = absl::FailedPreconditionError("stranger");
  EXPECT_EQ(Dial(dialer), absl::UnavailableError("stranger; 10.0.0.2 closed"));
  errors_["10.0.0.2"] = absl::FailedPreconditionError("too");
  EXPECT_EQ(Dial(dialer), absl::FailedPreconditionError("stranger; too"));
}

TEST_F(DialerTest, TheOnlyEndpointsErrorIsThatOfItsFirstAddress) {
  Dialer dialer = Make("pair");
  EXPECT_EQ(Dial(dialer), absl::UnavailableError("10.0.0.8 closed"));
  EXPECT_THAT(called_, ElementsAre("10.0.0.8", "10.0.0.9"));
}

TEST_F(DialerTest, AdvanceMovesToTheNextEndpointAndAddress) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2");
  leader_ = "10.0.0.1";
  EXPECT_TRUE(Dial(dialer).ok());
  dialer.Advance();
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.2", "10.0.0.1"));
  Dialer pair = Make("pair");
  pair.Advance();
  EXPECT_FALSE(Dial(pair).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.9", "10.0.0.8"));
}

TEST_F(DialerTest, StandbysFollowTheCoordinatorThatToldThem) {
  Dialer dialer = Make("10.0.0.1");
  leader_ = "10.0.0.1";
  EXPECT_TRUE(Dial(dialer).ok());
  dialer.SetStandbys(*ParseEndpoints("10.0.0.2,10.0.0.3,10.0.0.1"));
  leader_ = "10.0.0.3";
  EXPECT_TRUE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3"));
  // The coordinator at 10.0.0.3 sends this list of standbys. 10.0.0.3 must stay
  // among the endpoints that are called, although the list does not contain it.
  dialer.SetStandbys(*ParseEndpoints("10.0.0.4"));
  leader_.clear();
  EXPECT_FALSE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.3", "10.0.0.4", "10.0.0.1"));
  dialer.Advance();
  EXPECT_FALSE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.4", "10.0.0.1", "10.0.0.3"));
}

TEST_F(DialerTest, StandbysMayBeToldWhileACallLasts) {
  Dialer dialer = Make("10.0.0.1");
  dialer.SetStandbys(*ParseEndpoints("10.0.0.2"));
  leader_ = "10.0.0.2";
  while_called_ = [&] { dialer.SetStandbys(*ParseEndpoints("10.0.0.3")); };
  EXPECT_TRUE(Dial(dialer).ok());
  while_called_ = nullptr;
  leader_.clear();
  EXPECT_FALSE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.2", "10.0.0.3", "10.0.0.1"));
}

TEST_F(DialerTest, ACallMayBeginElsewhere) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2");
  dialer.BeginWith({"10.0.0.9"});
  EXPECT_FALSE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.9", "10.0.0.1", "10.0.0.2"));
  dialer.BeginWith({"10.0.0.2"});
  EXPECT_FALSE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.2", "10.0.0.1"));
}

TEST_F(DialerTest, StopsAtTheFirstAddressOnceGivenUp) {
  Dialer dialer = Make("10.0.0.1,10.0.0.2");
  given_up_ = true;
  EXPECT_FALSE(Dial(dialer).ok());
  EXPECT_THAT(called_, ElementsAre("10.0.0.1"));
}

}  // namespace
}  // namespace muster::rendezvous
