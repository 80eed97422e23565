#include "agent/pair_check/measure_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <array>
#include <future>
#include <string>
#include <vector>

#include "agent/ports/port_reservation.h"
#include "base/channel_key.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

using rendezvous::Encryption;
using rendezvous::PairCheck;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

using Result = absl::StatusOr<ConnectionValues>;

constexpr ConnectionLimits kPatient = {.meet = seconds(30),
                                       .total = seconds(60),
                                       .warm_up = milliseconds(1),
                                       .window = milliseconds(5)};
constexpr ConnectionLimits kHasty = {.meet = milliseconds(100),
                                     .total = milliseconds(200)};

class MeasureConnectionTest : public testing::Test {
 protected:
  PairCheck Check(PairCheck::Role role) const {
    return {.number = 7,
            .role = role,
            .partner = "other",
            .address = "127.0.0.1",
            .port = PortOf(role == PairCheck::Role::kServe
                               ? PairCheck::Role::kConnect
                               : PairCheck::Role::kServe),
            .key = key_};
  }
  // The port at which the end with this role listens.
  int PortOf(PairCheck::Role role) const {
    return ports_[role == PairCheck::Role::kServe ? 0 : 1].port();
  }

  std::future<Result> Start(const PairCheck& check, Encryption encryption,
                            const ConnectionLimits& limits) {
    return std::async(std::launch::async, [=, this] {
      return MeasureConnection(check, encryption, PortOf(check.role), {},
                               cancel_.get(), limits);
    });
  }

  const std::array<PortReservation, 2> ports_ = {
      *PortReservation::Take(PortReservation::Sharing::kWithServers),
      *PortReservation::Take(PortReservation::Sharing::kWithServers)};
  const std::string key_ =
      std::string(kChannelKeyBytes - 1, 'k').append(1, '\n');
  const OwnedFd cancel_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

TEST_F(MeasureConnectionTest, BothEndsMeasure) {
  for (const Encryption encryption :
       {Encryption::kNone, Encryption::kWorkers}) {
    auto server = Start(Check(PairCheck::Role::kServe), encryption, kPatient);
    auto client = Start(Check(PairCheck::Role::kConnect), encryption, kPatient);
    for (auto* end : {&server, &client}) {
      const Result result = end->get();
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_THAT(result->round_trip_s, AllOf(Gt(0), Lt(1)));
      EXPECT_THAT(result->bytes_per_s, AllOf(Gt(1e5), Lt(1e12)));
    }
  }
}

// Neither end has a GPU program, so each tells the other at once that it has no
// GPU. One read may return this message together with the last bytes of the
// connection's measurement. The message must not be lost then.
TEST_F(MeasureConnectionTest, WithoutGpusTheMeasurementEndsAsWell) {
  for (int i = 0; i < 20; ++i) {
    PairCheck serve = Check(PairCheck::Role::kServe);
    PairCheck connect = Check(PairCheck::Role::kConnect);
    serve.gpus = connect.gpus = 8;
    auto server = Start(serve, Encryption::kNone, kPatient);
    auto client = Start(connect, Encryption::kNone, kPatient);
    for (auto* end : {&server, &client}) {
      const Result result = end->get();
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_THAT(result->bytes_per_s, Gt(1e5));
      EXPECT_EQ(result->gpus.kind, "");
      EXPECT_EQ(result->gpus.failure, "");
    }
  }
}

TEST_F(MeasureConnectionTest, TheServerMayComeLater) {
  auto client =
      Start(Check(PairCheck::Role::kConnect), Encryption::kNone, kPatient);
  // The server does not listen yet, so the client's first attempt to connect
  // must be refused.
  EXPECT_FALSE(ConnectTcp("127.0.0.1", PortOf(PairCheck::Role::kServe),
                          MonotonicNow() + seconds(5))
                   .ok());
  auto server =
      Start(Check(PairCheck::Role::kServe), Encryption::kNone, kPatient);
  EXPECT_TRUE(client.get().ok());
  EXPECT_TRUE(server.get().ok());
}

TEST_F(MeasureConnectionTest, AnAbsentPartnerIsReportedInTime) {
  for (const auto role : {PairCheck::Role::kServe, PairCheck::Role::kConnect}) {
    const Result result = Start(Check(role), Encryption::kNone, kHasty).get();
    EXPECT_FALSE(result.ok());
    EXPECT_NE(result.status().message(), "");
  }
}

TEST_F(MeasureConnectionTest, AnotherKeyIsRefused) {
  for (const Encryption encryption :
       {Encryption::kNone, Encryption::kWorkers}) {
    PairCheck other = Check(PairCheck::Role::kConnect);
    other.key[0] = 'x';
    auto server = Start(Check(PairCheck::Role::kServe), encryption, kHasty);
    auto client = Start(other, encryption, kHasty);
    EXPECT_FALSE(server.get().ok());
    EXPECT_FALSE(client.get().ok());
  }
}

TEST_F(MeasureConnectionTest, AServerThatKnowsOnlyTheClientsHalfIsRefused) {
  PairCheck other = Check(PairCheck::Role::kServe);
  other.key.back() = 'x';
  auto server = Start(other, Encryption::kNone, kPatient);
  auto client =
      Start(Check(PairCheck::Role::kConnect), Encryption::kNone, kPatient);
  EXPECT_THAT(client.get().status().ToString(),
              HasSubstr("another program answers"));
  EXPECT_FALSE(server.get().ok());
}

TEST_F(MeasureConnectionTest, AnotherNumberIsRefused) {
  PairCheck other = Check(PairCheck::Role::kConnect);
  ++other.number;
  auto server =
      Start(Check(PairCheck::Role::kServe), Encryption::kNone, kHasty);
  auto client = Start(other, Encryption::kNone, kHasty);
  EXPECT_FALSE(server.get().ok());
  EXPECT_FALSE(client.get().ok());
}

TEST_F(MeasureConnectionTest, StrangersDoNotDelayThePartner) {
  for (const Encryption encryption :
       {Encryption::kNone, Encryption::kWorkers}) {
    auto server = Start(Check(PairCheck::Role::kServe), encryption, kPatient);
    std::vector<OwnedFd> strangers;
    while (strangers.size() < 40) {
      absl::StatusOr<OwnedFd> one =
          ConnectTcp("127.0.0.1", PortOf(PairCheck::Role::kServe),
                     MonotonicNow() + seconds(5));
      if (one.ok()) strangers.push_back(*std::move(one));
    }
    auto client = Start(Check(PairCheck::Role::kConnect), encryption, kPatient);
    EXPECT_TRUE(client.get().ok());
    EXPECT_TRUE(server.get().ok());
  }
}

TEST_F(MeasureConnectionTest, ACancelledMeasurementEnds) {
  auto server =
      Start(Check(PairCheck::Role::kServe), Encryption::kNone, kPatient);
  eventfd_write(cancel_.get(), 1);
  EXPECT_EQ(server.get().status().code(), absl::StatusCode::kCancelled);
}

TEST_F(MeasureConnectionTest, WithoutAKeyNothingIsMeasured) {
  PairCheck check = Check(PairCheck::Role::kServe);
  check.key = "short";
  EXPECT_THAT(Start(check, Encryption::kNone, kHasty).get().status().ToString(),
              HasSubstr("no key"));
}

}  // namespace
}  // namespace muster::agent
