#ifndef MUSTER_LAUNCHER_RANK_OUTPUT_H_
#define MUSTER_LAUNCHER_RANK_OUTPUT_H_

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "absl/status/status.h"
#include "base/time.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/output_tail.h"

namespace muster::launcher {

// For `launch top`: follows the output of one rank on a thread of its own, and
// keeps its last lines.
class RankOutput {
 public:
  using Take = std::function<void(const rendezvous::InquiryUpdate&)>;
  // Follows the output of `rank` and calls `take` for each update, until the
  // job ends or a stop is requested (AdminClient::Inquire). RankOutput calls
  // this function on its own thread.
  using Inquire = std::function<absl::Status(
      int rank, const std::stop_token& stop, const Take& take)>;

  // If `inquire` fails, it is called again after `pause`.
  RankOutput(Inquire inquire, Duration pause);
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  // Follows another rank; nullopt: none. If another rank was followed before,
  // blocks until the call of `inquire` for the old rank has returned.
  void Follow(std::optional<int> rank);
  // Returns the last lines of the rank that is followed. The note of the result
  // is the reason why no further lines arrive. The note is empty if further
  // lines may arrive or the reason is unknown.
  rendezvous::OutputTail Look();

 private:
  void Run(int rank, const std::stop_token& stop);

  const Inquire inquire_;
  const Duration pause_;
  std::optional<int> rank_;
  std::mutex mutex_;
  // the last lines of the followed rank; guarded by mutex_
  rendezvous::OutputTail tail_;
  // The thread that follows the output of rank `rank_`. The destructor of
  // jthread stops it.
  std::jthread thread_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RANK_OUTPUT_H_
