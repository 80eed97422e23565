#include "trainer_sdk/gloo/gloo_transport.h"

#include <gloo/rendezvous/context.h>
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
#include "trainer_sdk/gloo/gloo_store.h"
#include "trainer_sdk/gloo/without_sigpipe.h"
#include "trainer_sdk/network/peer_name.h"

namespace muster {
namespace {

std::string NameKey(int rank) { return absl::StrCat("gloo/name/", rank); }

absl::StatusOr<std::vector<PeerName>> ExchangeNames(const GroupPlace& place,
                                                    Instant deadline) {
  absl::Status s =
      place.store->Set(NameKey(place.rank), Encoded(OwnName(place.rank)));
  if (!s.ok()) return s;
  std::vector<std::string> keys;
  for (int rank = 0; rank < place.size; ++rank) keys.push_back(NameKey(rank));
  // Told by name who is absent, before Gloo waits for whoever is next.
  if (s = place.store->Wait(keys, deadline); !s.ok()) return s;
  std::vector<PeerName> names;
  for (int rank = 0; rank < place.size; ++rank) {
    const absl::StatusOr<std::string> text =
        place.store->Get(keys[rank], deadline);
    if (!text.ok()) return text.status();
    absl::StatusOr<PeerName> name = DecodePeerName(rank, *text);
    if (!name.ok()) return name.status();
    names.push_back(*std::move(name));
  }
  return names;
}

absl::StatusOr<std::shared_ptr<gloo::rendezvous::Context>> Connect(
    const GroupPlace& place, const std::string& address, Instant deadline) {
  // Gloo's own thread starts here, and keeps this thread's mask.
  const WithoutSigpipe guard;
  std::string thrown;
  try {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = address;
    std::shared_ptr<gloo::transport::Device> device =
        gloo::transport::tcp::CreateDevice(attributes);
    auto context =
        std::make_shared<gloo::rendezvous::Context>(place.rank, place.size);
    // A pair waits five times as long to be connected.
    context->setTimeout(std::chrono::ceil<std::chrono::milliseconds>(
        std::max<Duration>(deadline - MonotonicNow(),
                           std::chrono::milliseconds(5)) /
        5));
    if (place.size > 1) {
      GlooStore store(place.store, deadline);
      context->connectFullMesh(store, device);
    }
    return context;
  } catch (const std::exception& e) {
    thrown = e.what();
  }
  const std::string message =
      absl::StrCat(place.name, ": connecting the ranks over Gloo at ", address,
                   ": ", thrown);
  return MonotonicNow() >= deadline ? absl::DeadlineExceededError(message)
                                    : absl::UnavailableError(message);
}

}  // namespace

absl::StatusOr<std::unique_ptr<NetworkTransport>> NewGlooTransport(
    GroupPlace place, const GlooOptions& options, Instant deadline) {
  const absl::StatusOr<std::string> address = LocalAddress(options.address);
  if (!address.ok()) return address.status();
  absl::StatusOr<std::vector<PeerName>> names = ExchangeNames(place, deadline);
  if (!names.ok()) return names.status();
  MUSTER_CHECK(options.told_as.empty() ||
               options.told_as.size() == names->size())
      << "every rank is told as one";
  for (size_t rank = 0; rank < options.told_as.size(); ++rank) {
    (*names)[rank].rank = options.told_as[rank];
  }
  absl::StatusOr<std::shared_ptr<gloo::rendezvous::Context>> context =
      Connect(place, *address, deadline);
  if (!context.ok()) return context.status();
  auto mesh =
      std::make_unique<GlooMesh>(*std::move(context), *std::move(names));
  return std::make_unique<NetworkTransport>("gloo", std::move(place),
                                            std::move(mesh));
}

}  // namespace muster
