// Tests that creating a group over Gloo fails when the round of the ranks ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "store/server/store_server.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/tcp_store.h"

namespace muster {
namespace {

Instant Late() { return MonotonicNow() + std::chrono::seconds(50); }

std::shared_ptr<Store> ClientOf(const store::StoreServer& server) {
  return TcpStore::Connect({.host = "127.0.0.1",
                            .port = server.port(),
                            .connect_deadline = Late()})
      .value();
}

// Rank 2 closes the round's store before it has published anything, as its
// agent would do if rank 2 died. Creating the group must fail on ranks 0 and 1.
TEST(GlooFormation, EndsWithTheRound) {
  const auto server =
      store::StoreServer::Start({.address = "127.0.0.1"}).value();
  const auto ends = RunRanks(3, [&](int rank) -> absl::Status {
    const std::shared_ptr<Store> store = ClientOf(*server);
    if (rank == 2) {
      // Close the store once ranks 0 and 1 have published their addresses: then
      // both ranks wait for rank 2.
      for (const char* const key : {"watch/tcp/0", "watch/tcp/1"}) {
        absl::Status there = store->Wait({key}, Late());
        if (!there.ok()) return there;
      }
      server->Close("rank 2 has died");
      return absl::OkStatus();
    }
    return FormTransport(
               [](GroupPlace part, Instant deadline) {
                 return NewGlooTransport(std::move(part), {}, deadline);
               },
               {rank, 3, store, "world"}, Late())
        .status();
  });
  EXPECT_EQ(ends[2], absl::OkStatus());
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(absl::IsUnavailable(ends[rank])) << ends[rank];
    EXPECT_THAT(std::string(ends[rank].message()),
                testing::HasSubstr("the round is over"));
  }
}

}  // namespace
}  // namespace muster
