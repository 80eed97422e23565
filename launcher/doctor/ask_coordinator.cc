#include "launcher/doctor/ask_coordinator.h"

#include "absl/strings/str_cat.h"
#include "base/net/resolve.h"
#include "rendezvous/client/admin_client.h"

namespace muster::launcher {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);

}  // namespace

agent::CoordinatorFacts AskCoordinator(
    const rendezvous::Endpoint& endpoint,
    const absl::StatusOr<std::string>& token) {
  agent::CoordinatorFacts facts;
  facts.endpoint = endpoint.ToString();
  const auto addresses =
      Resolve(endpoint.host, endpoint.port, {.timeout = kPatience});
  if (!addresses.ok()) {
    facts.error = std::string(addresses.status().message());
    return facts;
  }
  for (const SocketAddress& address : *addresses) {
    facts.addresses.push_back(address.Ip());
  }
  if (!token.ok()) {
    facts.token_error = std::string(token.status().message());
    return facts;
  }
  const bool has_token = !token->empty();
  rendezvous::AdminClient client(
      {.coordinator = endpoint, .token = *token, .timeout = kPatience});
  const auto caller = client.WhoAmI();
  facts.local_address = LocalAddressTowards(addresses->front());
  // A coordinator without this method is an older version, and one that needs a
  // token rejects the call; both are reachable.
  if (absl::IsUnimplemented(caller.status())) return facts;
  if (absl::IsUnauthenticated(caller.status())) {
    facts.wants_token = !has_token;
    if (has_token) facts.token_error = std::string(caller.status().message());
    return facts;
  }
  if (!caller.ok()) {
    facts.error = std::string(caller.status().message());
    return facts;
  }
  facts.seen_address = caller->address;
  facts.version = caller->version;
  facts.clock_ahead = caller->clock_ahead;
  facts.round_trip = caller->round_trip;
  return facts;
}

}  // namespace muster::launcher
