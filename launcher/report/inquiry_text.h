#ifndef MUSTER_LAUNCHER_REPORT_INQUIRY_TEXT_H_
#define MUSTER_LAUNCHER_REPORT_INQUIRY_TEXT_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/report/text_layout.h"
#include "rendezvous/protocol/inquiry.h"

namespace muster::launcher {

// Texts of `launch logs` and `launch stacks`. All functions are pure.

// Formats ascending ranks as "0-6,8".
std::string RankList(const std::vector<int>& ranks);

// The stack of one rank, as its node has sent it.
struct HostStack {
  std::string host;
  rendezvous::RankStack stack;
};

// Ranks whose stacks are equal (see FoldStacks).
struct StackGroup {
  std::vector<int> ranks;          // ranks with this stack, ascending
  std::vector<std::string> hosts;  // the host of each element of `ranks`
  std::vector<std::string> lines;  // lines of the stack; empty: not readable
};

// Puts equal stacks into groups. The smallest groups come first: a rank that
// executes other code than most ranks is probably the rank for which the other
// ranks wait. Groups of the same size are ordered by their lowest rank. All
// stacks that could not be read are in one group, the last.
//
// Two stacks are equal if the frames of their main threads are equal. Without
// frames, the kernel's descriptions of the main threads must be equal, except
// for thread ids.
std::vector<StackGroup> FoldStacks(const std::vector<HostStack>& stacks);

// Formats the groups that FoldStacks returns, as `launch stacks` prints them.
std::string StacksText(const std::vector<StackGroup>& groups,
                       const TextTarget& target);

// Formats workers' output as `launch logs` prints it. Each line begins with
// "[host:rank] ", as on the console of `launch`. If a rank's output continues
// in another round, the line "--- round N ---" is inserted. Removes characters
// that would move a terminal's cursor.
class OutputText {
 public:
  explicit OutputText(TextStyle style) : style_(style) {}
  std::string Format(const rendezvous::InquiryUpdate& update);

 private:
  const TextStyle style_;
  // The round in which a rank printed its last formatted line; the key is the
  // rank. Before a line of another round, "--- round N ---" is inserted.
  std::map<int, int> rounds_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_REPORT_INQUIRY_TEXT_H_
