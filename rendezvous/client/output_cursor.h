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

// Which lines of the workers' output an operator has received, so that another
// coordinator can be asked for the rest and no line is shown twice. Keeps one
// position for each stream of each rank of the two newest rounds. Pure; not
// thread-safe.
class OutputCursor {
 public:
  // How much older than the last update a line may be that the operator has not
  // received, because it was on its way through the lost coordinator.
  static constexpr Duration kMargin = std::chrono::seconds(10);
  // The longest time until the loss of a coordinator shows.
  static constexpr Duration kSilence = std::chrono::seconds(20);

  // Removes from `update` the lines that an earlier update has had, and records
  // the others. O(log n) for each line.
  void Pass(Instant now, InquiryUpdate* update);
  // Returns the question for the output that the operator has not received.
  // `lost`: when the loss of the coordinator showed.
  Inquiry RestOf(const Inquiry& question, Instant now, Instant lost) const;

 private:
  struct Stream {
    int round = 0;
    std::string node_id;
    int rank = 0;
    OutputLine::Stream stream = OutputLine::Stream::kOut;
    auto operator<=>(const Stream&) const = default;
  };
  std::map<Stream, uint64_t> positions_;  // the highest of each stream
  Instant heard_at_;                      // the time of the last update
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_OUTPUT_CURSOR_H_
