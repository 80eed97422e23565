#include "trainer_sdk/gloo/gloo_transport.h"

#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/gloo/gloo_mesh.h"
#include "trainer_sdk/gloo/mesh_context.h"
#include "trainer_sdk/gloo/without_sigpipe.h"
#include "trainer_sdk/network/peer_name.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/store_exchange.h"

namespace muster {
namespace {

std::string RankKey(int rank) { return absl::StrCat("gloo/rank/", rank); }

// A group's ranks, connected.
struct Connected {
  std::shared_ptr<gloo::Context> context;
  std::vector<PeerName> names;
};

// Who the ranks are, and how this one reaches each.
struct Introduced {
  std::vector<PeerName> names;
  std::vector<std::string> addresses;
};

absl::StatusOr<Introduced> Introduce(const GroupPlace& place,
                                     std::vector<std::string> addresses,
                                     Instant deadline) {
  addresses.push_back(Encoded(OwnName(place.rank)));
  absl::Status s =
      place.store->Set(RankKey(place.rank), EncodeTexts(addresses));
  if (!s.ok()) return s;
  std::vector<std::string> keys;
  for (int rank = 0; rank < place.size; ++rank) keys.push_back(RankKey(rank));
  // Told by name who is absent.
  if (s = place.store->Wait(keys, deadline); !s.ok()) return s;
  Introduced introduced;
  for (int rank = 0; rank < place.size; ++rank) {
    const absl::StatusOr<std::string> value =
        place.store->Get(keys[rank], deadline);
    if (!value.ok()) return value.status();
    const auto texts = DecodeTexts(*value, place.size + 1);
    if (!texts.ok()) return texts.status();
    absl::StatusOr<PeerName> name = DecodePeerName(rank, texts->back());
    if (!name.ok()) return name.status();
    introduced.names.push_back(*std::move(name));
    introduced.addresses.push_back((*texts)[place.rank]);
  }
  return introduced;
}

// Throws what Gloo throws.
absl::Status ConnectPairs(const GroupPlace& place, Instant deadline,
                          MeshContext& context, std::vector<PeerName>& names) {
  absl::StatusOr<Introduced> introduced =
      Introduce(place, context.Addresses(), deadline);
  if (!introduced.ok()) return introduced.status();
  names = std::move(introduced->names);
  const FormationReaction interruption(place.formation,
                                       [&](const absl::Status&) {
                                         const WithoutSigpipe guard;
                                         try {
                                           context.closeConnections();
                                         } catch (const std::exception&) {
                                           // Closed is closed.
                                         }
                                       });
  for (int peer = 0; peer < place.size; ++peer) {
    // Where an interruption made Connect return, this says so.
    if (absl::Status s = FormationStatus(place); !s.ok()) return s;
    if (peer != place.rank) context.Connect(peer, introduced->addresses[peer]);
  }
  return FormationStatus(place);
}

absl::StatusOr<Connected> Connect(const GroupPlace& place,
                                  const std::string& address,
                                  Instant deadline) {
  // Gloo's own thread starts here, and keeps this thread's mask.
  const WithoutSigpipe guard;
  Connected mesh;
  absl::Status failure;
  try {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = address;
    // A pair waits five times as long to be connected.
    const auto patience = std::chrono::ceil<std::chrono::milliseconds>(
        std::max<Duration>(deadline - MonotonicNow(),
                           std::chrono::milliseconds(5)) /
        5);
    auto context = std::make_shared<MeshContext>(
        place.rank, place.size, gloo::transport::tcp::CreateDevice(attributes),
        patience);
    mesh.context = context;
    failure = ConnectPairs(place, deadline, *context, mesh.names);
  } catch (const std::exception& e) {
    // What Gloo says of an interruption is not its cause.
    failure = FormationStatus(place);
    if (failure.ok()) {
      failure = MonotonicNow() >= deadline
                    ? absl::DeadlineExceededError(e.what())
                    : absl::UnavailableError(e.what());
    }
  }
  if (failure.ok()) return mesh;
  // While those whose connections end with this can still learn why.
  return FailFormation(
      place,
      absl::Status(
          failure.code(),
          absl::StrCat(place.name, ": connecting the ranks over Gloo at ",
                       address, ": ", std::string(failure.message()))));
}

}  // namespace

absl::StatusOr<std::unique_ptr<NetworkTransport>> NewGlooTransport(
    GroupPlace place, const GlooOptions& options, Instant deadline) {
  const absl::StatusOr<std::string> address = LocalAddress(options.address);
  if (!address.ok()) return address.status();
  absl::StatusOr<Connected> connected = Connect(place, *address, deadline);
  if (!connected.ok()) return connected.status();
  std::vector<PeerName>& names = connected->names;
  MUSTER_CHECK(options.told_as.empty() ||
               options.told_as.size() == names.size())
      << "every rank is told as one";
  for (size_t rank = 0; rank < options.told_as.size(); ++rank) {
    names[rank].rank = options.told_as[rank];
  }
  auto mesh = std::make_unique<GlooMesh>(std::move(connected->context),
                                         std::move(names));
  return std::make_unique<NetworkTransport>("gloo", std::move(place),
                                            std::move(mesh));
}

}  // namespace muster
