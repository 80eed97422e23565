#include "launcher/report/decision_line.h"

#include "launcher/report/text_layout.h"
#include "rendezvous/events/time_text.h"

namespace muster::launcher {
namespace {

constexpr int kKindColumns = 7;
constexpr int kMaxNodeColumns = 28;

}  // namespace

std::string DecisionLine(const rendezvous::Decision& decision, double unix_time,
                         TextStyle style) {
  std::string node = Shorten(PrintableLine(decision.node_id), kMaxNodeColumns);
  std::string line = Inked(rendezvous::UtcText(unix_time), Ink::kFaint, style) +
                     "  round " + std::to_string(decision.round) + "  " +
                     Inked(PadRight(PrintableLine(decision.kind), kKindColumns),
                           Ink::kBold, style) +
                     "  ";
  if (!node.empty()) line += node + ": ";
  return line + PrintableLine(decision.reason) + "\n";
}

}  // namespace muster::launcher
