#include "trainer_sdk/shared_memory/heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/shared_memory/gathering.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Instant Far() { return MonotonicNow() + std::chrono::minutes(2); }

// The Peers objects of two ranks that have formed a group.
std::vector<std::unique_ptr<Peers>> TwoPeers() {
  const auto store = std::make_shared<InProcessStore>();
  std::vector<std::unique_ptr<Peers>> peers(2);
  const absl::Status met =
      FirstFailure(RunRanks(2, [&](int rank) -> absl::Status {
        GroupPlace place;
        place.rank = rank;
        place.size = 2;
        place.store = store;
        place.name = "world";
        absl::StatusOr<Gathered> gathered =
            Gather(place, {kPageBytes, kPageBytes}, Far());
        if (!gathered.ok()) return gathered.status();
        auto joined = Peers::Join(place, *std::move(gathered));
        if (!joined.ok()) return joined.status();
        peers[rank] = *std::move(joined);
        return absl::OkStatus();
      }));
  EXPECT_TRUE(met.ok()) << met;
  return peers;
}

// Runs `meanwhile` while rank 1 waits for the memory file that rank 0 creates,
// and returns the status of rank 1's wait.
template <typename Meanwhile>
absl::Status WaitForFile(std::vector<std::unique_ptr<Peers>>& peers,
                         Meanwhile meanwhile) {
  Heap heap(peers[1].get());
  absl::Status status;
  std::thread waiting([&] {
    status = heap.Create(64, {SignatureOf(Operation(), 1), Far()}).status();
  });
  meanwhile();
  waiting.join();
  return status;
}

TEST(HeapTest, AnAbortReleasesWhoWaitsForTheFile) {
  auto peers = TwoPeers();
  const absl::Status status =
      WaitForFile(peers, [&] { peers[0]->Abort("enough"); });
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("enough"));
}

TEST(HeapTest, LeavingRankReleasesAWaitForItsFile) {
  auto peers = TwoPeers();
  // Rank 0 leaves the group, but its connection stays open, as if a forked
  // child held a copy. Rank 0 sets the mark `left` in the shared memory. By
  // this mark, rank 1 must detect that rank 0 has left.
  const absl::Status status = WaitForFile(peers, [&] {
    peers[0]->own_page().left.store(1, std::memory_order_seq_cst);
  });
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("rank 0"), HasSubstr("has left the group")));
}

}  // namespace
}  // namespace muster
