#include "rendezvous/client/output_cursor.h"

#include <algorithm>

namespace muster::rendezvous {

void OutputCursor::Pass(Instant now, InquiryUpdate* update) {
  heard_at_ = now;
  std::erase_if(update->part.lines, [&](const OutputLine& line) {
    // Agents of an older version send position 0 with every line. Repeated
    // lines of such an agent cannot be recognised, so all its lines are kept.
    if (line.position == 0) return false;
    const int newest =
        positions_.empty() ? 0 : positions_.rbegin()->first.round;
    if (line.round < newest - 1) return true;
    uint64_t& passed = positions_[{.round = line.round,
                                   .node_id = update->node_id,
                                   .rank = line.rank,
                                   .stream = line.stream}];
    if (line.position <= passed) return true;
    passed = line.position;
    if (line.round > newest) {
      positions_.erase(positions_.begin(),
                       positions_.lower_bound({.round = line.round - 1}));
    }
    return false;
  });
}

Inquiry OutputCursor::RestOf(const Inquiry& question, Instant now,
                             Instant lost) const {
  Inquiry rest = question;
  rest.lines = -1;
  rest.since = now - std::max(heard_at_, lost - kSilence) + kMargin;
  return rest;
}

}  // namespace muster::rendezvous
