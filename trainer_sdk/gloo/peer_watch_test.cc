#include "trainer_sdk/gloo/peer_watch.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <vector>

namespace muster {
namespace {

constexpr Duration kNoGrace = Duration::zero();
constexpr Duration kNeverOver = std::chrono::hours(1);

// A fixture with a group of three ranks. This process is rank 0, and also holds
// the other ends of its connections to ranks 1 and 2.
class PeerWatchTest : public testing::Test {
 protected:
  PeerWatchTest() : ours_(3), theirs_(3) {
    for (int peer = 1; peer < 3; ++peer) {
      int ends[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
      ours_[peer] = OwnedFd(ends[0]);
      theirs_[peer] = OwnedFd(ends[1]);
    }
  }

  std::unique_ptr<PeerWatch> Start(std::vector<OwnedFd> sockets, Duration grace,
                                   PeerWatch::OnGone on_gone) {
    auto watch =
        PeerWatch::Start(std::move(sockets), grace, std::move(on_gone));
    EXPECT_TRUE(watch.ok()) << watch.status();
    return *std::move(watch);
  }

  PeerWatch::OnGone Tell() {
    return [this](int peer) { gone_.set_value(peer); };
  }
  static PeerWatch::OnGone Fail() {
    return [](int peer) { ADD_FAILURE() << "rank " << peer << " is gone"; };
  }

  // Returns the connections of rank `peer`, indexed by rank. Only the
  // connection to rank 0 is open.
  std::vector<OwnedFd> TheirsOf(int peer) {
    std::vector<OwnedFd> sockets(3);
    sockets[0] = std::move(theirs_[peer]);
    return sockets;
  }

  std::vector<OwnedFd> ours_, theirs_;
  std::promise<int> gone_;
};

TEST_F(PeerWatchTest, ClosedConnectionIsReported) {
  const auto watch = Start(std::move(ours_), kNoGrace, Tell());
  theirs_[2].Close();
  EXPECT_EQ(gone_.get_future().get(), 2);
}

TEST_F(PeerWatchTest, GoodbyeIsNoDeath) {
  const auto watch = Start(std::move(ours_), kNoGrace, Tell());
  // Start and destroy the PeerWatch of rank 1, which sends the goodbye message.
  // Rank 0 must not report rank 1 as dead.
  Start(TheirsOf(1), kNoGrace, Fail()).reset();
  theirs_[2].Close();
  EXPECT_EQ(gone_.get_future().get(), 2);
}

TEST_F(PeerWatchTest, CutConnectionsAreADeath) {
  const auto watch = Start(std::move(ours_), kNoGrace, Tell());
  const auto other = Start(TheirsOf(1), kNoGrace, Fail());
  other->Cut();
  EXPECT_EQ(gone_.get_future().get(), 1);
}

TEST_F(PeerWatchTest, IsSilentAboutItsOwnCut) {
  const auto watch = Start(std::move(ours_), kNoGrace, Fail());
  watch->Cut();
}

TEST_F(PeerWatchTest, EndsWithinTheGrace) {
  const auto watch = Start(std::move(ours_), kNeverOver, Fail());
  theirs_[1].Close();
}

}  // namespace
}  // namespace muster
