#include "agent/report/decision_line.h"

#include <nlohmann/json.hpp>

#include "agent/report/text_layout.h"
#include "agent/report/time_text.h"

namespace muster {
namespace {

constexpr int kKindColumns = 7;
constexpr int kMostNodeColumns = 28;

}  // namespace

std::string DecisionLine(const Decision& decision, double unix_time,
                         TextStyle style) {
  std::string node = Shorten(PrintableLine(decision.node_id), kMostNodeColumns);
  std::string line = Inked(UtcText(unix_time), Ink::kFaint, style) +
                     "  round " + std::to_string(decision.round) + "  " +
                     Inked(PadRight(PrintableLine(decision.kind), kKindColumns),
                           Ink::kBold, style) +
                     "  ";
  if (!node.empty()) line += node + ": ";
  return line + PrintableLine(decision.reason) + "\n";
}

std::string DecisionJson(const std::string& run_id, const Decision& decision,
                         double unix_time) {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"time", IsoText(unix_time)},
      {"run_id", run_id},
      {"round", decision.round},
      {"kind", decision.kind},
      {"node", decision.node_id.empty() ? Json() : Json(decision.node_id)},
      {"reason", decision.reason}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster
