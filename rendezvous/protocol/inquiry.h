#ifndef MUSTER_RENDEZVOUS_PROTOCOL_INQUIRY_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_INQUIRY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::rendezvous {

// Maximum number of open inquiries of one job.
inline constexpr size_t kMaxInquiries = 16;
// kMaxInquiredRanks: maximum number of Inquiry::ranks. kMaxInquiredLines:
// maximum value of Inquiry::lines. kMaxPatternBytes: maximum length in bytes of
// Inquiry::pattern.
inline constexpr size_t kMaxInquiredRanks = 4096;
inline constexpr int kMaxInquiredLines = 1'000'000;
inline constexpr size_t kMaxPatternBytes = 256;
// Limits of one part of a node's answer to an inquiry (AnswerPart): the numbers
// of lines, stacks and notes, the bytes of one line and of one note, and the
// bytes of the whole part.
inline constexpr size_t kMaxPartLines = 1024;
inline constexpr size_t kMaxPartStacks = 64;
inline constexpr size_t kMaxPartNotes = 64;
inline constexpr size_t kMaxOutputLineBytes = 65 << 10;
inline constexpr size_t kMaxNoteBytes = 512;
inline constexpr size_t kMaxPartBytes = 128 << 10;

// A question of an operator (`launch logs`, `launch stacks`) to nodes. While
// the inquiry is open, the coordinator puts it into every directive of each
// asked node, and the node answers it once.
struct Inquiry {
  enum class Kind { kLogs, kStacks };
  enum class Follow { kNo, kYes };
  enum class Frames { kWithoutStopping, kNative };

  // Random number that identifies the inquiry to one node. Only this node and
  // the coordinator know it, so that no other node can answer in its place.
  uint64_t id = 0;
  Kind kind = Kind::kLogs;
  std::vector<int> ranks;  // global ranks; empty: all ranks of the node
  // kLogs: how many of the newest lines of each rank are sent; -1: all that the
  // node has.
  int lines = 10;
  // kLogs: only lines that the node received at most this long ago; zero: all.
  Duration since = Duration::zero();
  // kLogs: whether later lines are sent as well, until the job ends.
  Follow follow = Follow::kNo;
  // kLogs: RE2 expression; only lines that match it are sent. Empty: all lines.
  std::string pattern;
  // kStacks: whether native frames are read, which stops each process briefly.
  Frames frames = Frames::kWithoutStopping;

  friend bool operator==(const Inquiry&, const Inquiry&) = default;
};

// One line of a worker's output.
struct OutputLine {
  enum class Stream { kOut, kErr };

  int rank = 0;
  int round = 0;
  Stream stream = Stream::kOut;
  std::string text;  // the line without its line end; any bytes
  // The line's position: increases from line to line within one stream of a
  // rank in a round. The same line has the same position in every answer.
  uint64_t position = 0;

  friend bool operator==(const OutputLine&, const OutputLine&) = default;
};

// The most informative lines of one worker's stack (MostInformativeLines in
// agent/stacks).
struct RankStack {
  int rank = 0;
  int64_t pid = 0;
  // The lines of the stack, at most kMaxStackLines; empty: the stack could not
  // be read.
  std::vector<std::string> lines;

  friend bool operator==(const RankStack&, const RankStack&) = default;
};

// A part of a node's answer to an inquiry.
struct AnswerPart {
  std::vector<OutputLine> lines;
  std::vector<RankStack> stacks;
  // Sentences about what the answer lacks, such as output that the node has
  // not kept.
  std::vector<std::string> notes;
  bool is_last = false;

  friend bool operator==(const AnswerPart&, const AnswerPart&) = default;
};

// A part of one node's answer, as the coordinator sends it to the operator.
struct InquiryUpdate {
  std::string node_id;
  std::string host;
  AnswerPart part;
  // If the node's answer ended too early: the reason. `part` is then the last
  // part of this node, and the rest of its answer is missing. Empty: the answer
  // continues, or is complete.
  std::string missing;
  // HOST:PORT of the processes that can take over the job, at most
  // kMaxStandbys; empty: they are the same as in the previous update, or the
  // inquiry does not follow the output. If it follows the output, the first
  // update has only this field.
  std::vector<std::string> standbys;

  friend bool operator==(const InquiryUpdate&, const InquiryUpdate&) = default;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_INQUIRY_H_
