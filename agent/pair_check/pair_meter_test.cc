#include "agent/pair_check/pair_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

#include "base/channel_key.h"

namespace muster::agent {
namespace {

using rendezvous::NetworkCheckTime;
using rendezvous::PairCheck;
using rendezvous::PairMeasurement;
using ::testing::Gt;

rendezvous::JobSpec CheckedSpec() {
  rendezvous::JobSpec spec;
  spec.network_check = NetworkCheckTime::kStart;
  return spec;
}

TEST(PairMeter, WithoutChecksThereIsNoPort) {
  EXPECT_EQ(PairMeter(rendezvous::JobSpec(), {}).port(), 0);
  EXPECT_GT(PairMeter(CheckedSpec(), {}).port(), 0);
}

TEST(PairMeter, TwoNodesMeasureTheirConnection) {
  PairMeter server(CheckedSpec(), {});
  PairMeter client(CheckedSpec(), {});
  PairCheck check{.number = 3,
                  .partner = "other",
                  .address = "127.0.0.1",
                  .port = client.port(),
                  .key = std::string(kChannelKeyBytes, 'k')};
  std::promise<PairMeasurement> of_server;
  std::promise<PairMeasurement> of_client;
  server.Measure(9, check, [&](PairMeasurement m) { of_server.set_value(m); });
  check.role = PairCheck::Role::kConnect;
  check.port = server.port();
  client.Measure(9, check, [&](PairMeasurement m) { of_client.set_value(m); });
  for (auto* promise : {&of_server, &of_client}) {
    const PairMeasurement measured = promise->get_future().get();
    EXPECT_EQ(measured.failure, "");
    EXPECT_EQ(measured.epoch, 9u);
    EXPECT_EQ(measured.number, 3u);
    EXPECT_THAT(measured.round_trip_s, Gt(0));
    EXPECT_THAT(measured.bytes_per_s, Gt(0));
    EXPECT_THAT(measured.compute_s, Gt(0));
  }
}

TEST(PairMeter, ADroppedMeasurementSaysNothing) {
  PairMeter meter(CheckedSpec(), {});
  meter.Measure(1, {.number = 1, .key = std::string(kChannelKeyBytes, 'k')},
                [](const PairMeasurement&) { ADD_FAILURE() << "not awaited"; });
  meter.Drop();
}

}  // namespace
}  // namespace muster::agent
