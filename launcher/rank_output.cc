#include "launcher/rank_output.h"

#include <condition_variable>
#include <string>
#include <utility>

#include "base/blocked_signals.h"
#include "base/time.h"

namespace muster::launcher {

RankOutput::RankOutput(Inquire inquire, Duration pause)
    : inquire_(std::move(inquire)), pause_(pause) {}

void RankOutput::Follow(std::optional<int> rank) {
  if (rank == rank_) return;
  // Stop and join the thread that receives the output of the previous rank.
  thread_ = std::jthread();
  rank_ = rank;
  tail_ = {};
  if (!rank.has_value()) return;
  // Block all signals while the thread is created: it inherits this thread's
  // signal mask. SIGWINCH (the terminal has a new size) must interrupt the
  // thread that runs ncurses and no other thread.
  const BlockedSignals blocked;
  thread_ = std::jthread(
      [this, rank = *rank](const std::stop_token& stop) { Run(rank, stop); });
}

rendezvous::OutputTail RankOutput::Look() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return tail_;
}

void RankOutput::Run(int rank, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    bool is_first = true;
    const absl::Status status =
        inquire_(rank, stop, [&](const rendezvous::InquiryUpdate& update) {
          const std::lock_guard<std::mutex> lock(mutex_);
          // Each call of inquire_ begins with the rank's last lines, which the
          // previous call has delivered already. So drop the lines of the
          // previous call.
          if (std::exchange(is_first, false)) tail_ = {};
          tail_.Add(update);
        });
    std::unique_lock<std::mutex> lock(mutex_);
    tail_.SetNote(status.ok() ? "the output has ended"
                              : std::string(status.message()));
    if (status.ok()) return;
    std::condition_variable_any stopped;
    stopped.wait_for(lock, stop, pause_, [] { return false; });
  }
}

}  // namespace muster::launcher
