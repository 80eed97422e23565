#include "trainer_sdk/gloo/gloo_transport.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/gloo/gloo_mesh.h"
#include "trainer_sdk/gloo/gloo_plugin.h"
#include "trainer_sdk/network/peer_name.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/store_exchange.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/tcp/rendezvous.h"

namespace muster {
namespace {

std::string RankKey(int rank) { return absl::StrCat("gloo/rank/", rank); }

absl::Status Failed(const std::string& what, Instant deadline) {
  return MonotonicNow() >= deadline ? absl::DeadlineExceededError(what)
                                    : absl::UnavailableError(what);
}

// Exchanges the addresses at which each rank can be reached.
absl::StatusOr<std::vector<std::string>> ExchangeAddresses(
    const GroupPlace& place, const std::vector<std::string>& own,
    Instant deadline) {
  absl::Status s = place.store->Set(RankKey(place.rank), EncodeTexts(own));
  if (!s.ok()) return s;
  std::vector<std::string> keys;
  keys.reserve(static_cast<size_t>(place.size));
  for (int rank = 0; rank < place.size; ++rank) keys.push_back(RankKey(rank));
  // Wait names the absent ranks in its error.
  if (s = place.store->Wait(keys, deadline); !s.ok()) return s;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < place.size; ++rank) {
    const absl::StatusOr<std::string> value =
        place.store->Get(keys[rank], deadline);
    if (!value.ok()) return value.status();
    auto texts = DecodeTexts(*value, place.size);
    if (!texts.ok()) return texts.status();
    addresses.push_back(std::move((*texts)[place.rank]));
  }
  return addresses;
}

absl::Status ConnectPairs(const GroupPlace& place,
                          const std::vector<PeerName>& names, Instant deadline,
                          const GlooPlugin& gloo, void* context) {
  std::vector<std::string> own(place.size);
  for (int peer = 0; peer < place.size; ++peer) {
    if (peer == place.rank) continue;
    GlooText address;
    gloo.address(context, peer, &address);
    own[peer] = address.Text();
  }
  const auto addresses = ExchangeAddresses(place, own, deadline);
  if (!addresses.ok()) return addresses.status();
  const FormationReaction interruption(
      place.formation,
      [&](const absl::Status&) { gloo.interrupt_connect(context); });
  for (int peer = 0; peer < place.size; ++peer) {
    // After an interruption `connect` does nothing, and this reports the cause.
    if (absl::Status s = FormationStatus(place); !s.ok()) return s;
    if (peer == place.rank) continue;
    const std::string& address = (*addresses)[peer];
    GlooText why;
    if (gloo.connect(context, peer, address.data(), address.size(), &why) ==
        GlooOutcome::kDone) {
      continue;
    }
    // Gloo's message about an interruption does not contain the cause.
    if (absl::Status s = FormationStatus(place); !s.ok()) return s;
    return Failed(
        absl::StrCat("with ", Describe(names[peer]), ": ", why.Text()),
        deadline);
  }
  return FormationStatus(place);
}

// The end of a peer ends the formation; if there is none, only the mesh learns
// of it.
absl::Status WatchWhileForming(const GroupPlace& place,
                               std::vector<OwnedFd> sockets, GlooMesh& mesh) {
  return mesh.Watch(std::move(sockets),
                    [formation = place.formation](const absl::Status& gone) {
                      if (formation != nullptr) formation->Interrupt(gone);
                    });
}

absl::StatusOr<std::unique_ptr<Mesh>> Connect(const GroupPlace& place,
                                              const GlooPlugin& gloo,
                                              ConnectedRanks ranks,
                                              const std::string& address,
                                              Instant deadline) {
  // Connecting a pair may take five times as long.
  const auto patience = std::chrono::ceil<std::chrono::milliseconds>(
      std::max<Duration>(deadline - MonotonicNow(),
                         std::chrono::milliseconds(5)) /
      5);
  GlooText why;
  void* const context = gloo.new_context(address.c_str(), place.rank,
                                         place.size, patience.count(), &why);
  std::unique_ptr<GlooMesh> mesh;
  absl::Status failure;
  if (context == nullptr) {
    failure = FormationStatus(place);
    if (failure.ok()) failure = Failed(why.Text(), deadline);
  } else {
    mesh = std::make_unique<GlooMesh>(
        gloo, GlooHandle(context, GlooDelete{gloo.delete_context}), place.rank,
        ranks.names);
    // Gloo itself would wait for a dead peer until the deadline.
    failure = WatchWhileForming(place, std::move(ranks.sockets), *mesh);
    if (failure.ok()) {
      failure = ConnectPairs(place, ranks.names, deadline, gloo, context);
    }
  }
  if (failure.ok()) return std::unique_ptr<Mesh>(std::move(mesh));
  // Before this rank's connections close, so that their peers find the cause.
  failure = FailFormation(
      place,
      absl::Status(
          failure.code(),
          absl::StrCat(place.name, ": connecting the ranks over Gloo at ",
                       address, ": ", std::string(failure.message()))));
  if (mesh != nullptr) mesh->Abandon();
  return failure;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NetworkTransport>> NewGlooTransport(
    GroupPlace place, const GlooOptions& options, Instant deadline) {
  const absl::StatusOr<const GlooPlugin*> gloo = LoadGlooPlugin();
  if (!gloo.ok()) return gloo.status();
  const absl::StatusOr<std::string> address = LocalAddress(options.address);
  if (!address.ok()) return address.status();
  // Exchanges the ranks' names, and makes the connections by which their ends
  // are detected.
  GroupPlace watched = place;
  watched.store = std::make_shared<PrefixStore>("watch", place.store);
  absl::StatusOr<ConnectedRanks> ranks =
      ConnectRanks(watched, *address, deadline);
  if (!ranks.ok()) return ranks.status();
  MUSTER_CHECK(options.told_as.empty() ||
               options.told_as.size() == ranks->names.size())
      << "every rank is told as one";
  for (size_t rank = 0; rank < options.told_as.size(); ++rank) {
    ranks->names[rank].rank = options.told_as[rank];
  }
  absl::StatusOr<std::unique_ptr<Mesh>> mesh =
      Connect(place, **gloo, *std::move(ranks), *address, deadline);
  if (!mesh.ok()) return mesh.status();
  return std::make_unique<NetworkTransport>("gloo", std::move(place),
                                            *std::move(mesh));
}

}  // namespace muster
