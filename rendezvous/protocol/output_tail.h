#ifndef MUSTER_RENDEZVOUS_PROTOCOL_OUTPUT_TAIL_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_OUTPUT_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "rendezvous/protocol/inquiry.h"

namespace muster::rendezvous {

// Collects the last lines of a rank's output, which arrive as InquiryUpdates.
// The dashboard and `launch top` show them. Keeps at most kMaxLines lines;
// drops older ones. Pure; not thread-safe.
class OutputTail {
 public:
  static constexpr size_t kMaxLines = 50;
  // Maximum total size of the texts of all lines, in bytes.
  static constexpr size_t kMaxBytes = 16 << 10;
  // Maximum length of a line in bytes. A longer line is cut, and the number of
  // omitted bytes is appended.
  static constexpr size_t kMaxLineBytes = 2 << 10;

  // Appends the lines of an update. O(number of lines in the update).
  void Add(InquiryUpdate update);

  // Replaces the sentence that says which output is missing.
  void SetNote(std::string note) { note_ = std::move(note); }

  // The kept lines, oldest first.
  const std::deque<OutputLine>& lines() const { return lines_; }
  // The number of older lines that were dropped because of the limits.
  uint64_t dropped() const { return dropped_; }
  // The newest sentence about output that is missing; empty: none.
  const std::string& note() const { return note_; }
  bool empty() const { return lines_.empty() && note_.empty(); }

 private:
  std::deque<OutputLine> lines_;
  size_t bytes_ = 0;
  uint64_t dropped_ = 0;
  std::string note_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_OUTPUT_TAIL_H_
