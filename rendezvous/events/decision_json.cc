#include "rendezvous/events/decision_json.h"

#include <nlohmann/json.hpp>

#include "rendezvous/events/time_text.h"

namespace muster::rendezvous {

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
  // Names and reasons may hold bytes that are not UTF-8.
  return json.dump(-1, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

}  // namespace muster::rendezvous
