// A test worker that meets the other ranks in the round's store, then does what
// its argument says. It survives SIGTERM, like a program that is blocked in a
// library.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/store/store_barrier.h"

namespace muster {
namespace {

volatile sig_atomic_t asked_to_stop = 0;

Instant In(std::chrono::seconds time) { return MonotonicNow() + time; }

void Say(const Session& session, const std::string& what) {
  std::printf("%s rank=%d restart=%d .\n", what.c_str(), session.rank(),
              session.restart_count());
  std::fflush(stdout);
}

// Waits until all ranks of the world have reached this point; returns an error
// after 300 seconds.
absl::Status Meet(Session& session, const std::string& where) {
  return StoreBarrier(*session.store(), where, session.rank(),
                      session.world_size(), In(std::chrono::seconds(300)));
}

// In the first round, rank 1 fails while the others wait for a key that is
// never set. In the second round, no rank may find a key of the first round.
int FailOnce(Session& session) {
  Store& store = *session.store();
  const absl::StatusOr<bool> stale = store.Check({"left behind"});
  if (!stale.ok()) return 10;
  Say(session, *stale ? "stale" : "fresh");
  if (session.restart_count() > 0) return 0;
  if (!Meet(session, "all have looked").ok()) return 11;
  if (session.rank() == 1) {
    std::vector<std::string> waiters;
    for (int rank = 0; rank < session.world_size(); ++rank) {
      if (rank != 1) waiters.push_back("waits " + std::to_string(rank));
    }
    if (!store.Set("left behind", "by round 1").ok()) return 12;
    return store.Wait(waiters, In(std::chrono::seconds(300))).ok() ? 3 : 13;
  }
  if (!store.Set("waits " + std::to_string(session.rank()), "").ok()) {
    return 14;
  }
  const absl::Status waited =
      store.Wait({"never"}, In(std::chrono::seconds(600)));
  Say(session, absl::IsUnavailable(waited) ? "released" : "not released");
  return 0;
}

// Waits for SIGTERM, then agrees with the other ranks to stop.
int StopTogether(Session& session) {
  // Unblock SIGTERM only in sigsuspend. Otherwise the signal could arrive after
  // the loop below has checked asked_to_stop and before it waits, and the wait
  // would not end.
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &before);
  Say(session, "ready");
  while (asked_to_stop == 0) sigsuspend(&before);
  if (!Meet(session, "a last checkpoint").ok()) return 15;
  Say(session, "agreed");
  return 0;
}

int Work(const std::string& deed) {
  struct sigaction action = {};
  action.sa_handler = [](int) { asked_to_stop = 1; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  auto session = Session::FromEnvironment();
  if (!session.ok()) {
    std::fprintf(stderr, "%s\n", session.status().ToString().c_str());
    return 9;
  }
  if (absl::Status met = Meet(**session, "the start"); !met.ok()) {
    std::fprintf(stderr, "%s\n", met.ToString().c_str());
    return 8;
  }
  const char* const master = std::getenv("MASTER_ADDR");
  Say(**session, std::string("met at ") + (master == nullptr ? "" : master));
  if (deed == "fail-once") return FailOnce(**session);
  if (deed == "stop-together") return StopTogether(**session);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::Work(argc > 1 ? argv[1] : "");
}
