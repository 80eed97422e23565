#ifndef MUSTER_RENDEZVOUS_CLIENT_OUTPUT_CURSOR_H_
#define MUSTER_RENDEZVOUS_CLIENT_OUTPUT_CURSOR_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/inquiry.h"

namespace muster::rendezvous {

// Records which lines of the workers' output an operator has received. If the
// coordinator is lost, the client asks the next coordinator only for lines that
// the operator may lack, and shows no line twice. Keeps one position for each
// output (stdout, stderr) of each rank of the two newest rounds. Pure; not
// thread-safe.
class OutputCursor {
 public:
  // The lost coordinator may have received lines from the nodes without
  // forwarding them to this client. So the client also asks for the lines that
  // are up to kMargin older than its last update.
  static constexpr Duration kMargin = std::chrono::seconds(10);
  // Maximum time between the loss of the coordinator and the time at which a
  // client notices it.
  static constexpr Duration kSilence = std::chrono::seconds(20);

  // Removes from `update` the lines that an earlier update contained, and
  // records the remaining ones. O(log n) for each line.
  void Pass(Instant now, InquiryUpdate* update);
  // Returns `question`, changed so that the answer contains all lines that the
  // operator has not received. `lost`: the time at which the client noticed
  // that the coordinator was lost.
  Inquiry RestOf(const Inquiry& question, Instant now, Instant lost) const;

 private:
  struct Stream {
    int round = 0;
    std::string node_id;
    int rank = 0;
    OutputLine::Stream stream = OutputLine::Stream::kOut;
    auto operator<=>(const Stream&) const = default;
  };
  // Key: stdout or stderr of one rank in one round. Value: the highest position
  // of its lines so far.
  std::map<Stream, uint64_t> positions_;
  Instant heard_at_;  // time of the newest call of Pass
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_OUTPUT_CURSOR_H_
