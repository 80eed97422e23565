#include "trainer_sdk/session/host_places.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster {
namespace {

std::string HostKey(int rank) { return absl::StrCat("host/", rank); }
std::string PlaceKey(const std::string& host) {
  return absl::StrCat("place/", host);
}

absl::Status TellPlaces(Store& store, int world_size, Instant deadline) {
  std::vector<std::string> keys;
  keys.reserve(world_size);
  for (int rank = 0; rank < world_size; ++rank) keys.push_back(HostKey(rank));
  absl::Status all = store.Wait(keys, deadline);
  if (!all.ok()) return all;
  std::vector<std::string> host_of_rank;
  for (const std::string& key : keys) {
    absl::StatusOr<std::string> host = store.Get(key, deadline);
    if (!host.ok()) return host.status();
    host_of_rank.push_back(*host);
  }
  for (const auto& [host, place] : PlacesOf(host_of_rank)) {
    absl::Status told =
        store.Set(PlaceKey(host),
                  absl::StrCat(place.group_rank, " ", place.group_world_size,
                               " ", place.local_world_size));
    if (!told.ok()) return told;
  }
  return absl::OkStatus();
}

absl::StatusOr<HostPlace> ReadPlace(const std::string& text) {
  const std::vector<std::string> fields = absl::StrSplit(text, ' ');
  HostPlace place;
  if (fields.size() == 3 && absl::SimpleAtoi(fields[0], &place.group_rank) &&
      absl::SimpleAtoi(fields[1], &place.group_world_size) &&
      absl::SimpleAtoi(fields[2], &place.local_world_size)) {
    return place;
  }
  return absl::InternalError(
      absl::StrCat("rank 0 wrote '", text, "' for a host's place"));
}

}  // namespace

std::map<std::string, HostPlace> PlacesOf(
    const std::vector<std::string>& host_of_rank) {
  std::map<std::string, HostPlace> places;
  for (const std::string& host : host_of_rank) {
    const int hosts = static_cast<int>(places.size());
    auto [place, is_new] = places.try_emplace(host);
    if (is_new) place->second.group_rank = hosts;
    ++place->second.local_world_size;
  }
  for (auto& [host, place] : places) {
    place.group_world_size = static_cast<int>(places.size());
  }
  return places;
}

absl::StatusOr<HostPlace> AgreeOnPlaces(Store& store, int rank, int world_size,
                                        const std::string& host,
                                        Instant deadline) {
  absl::Status told = store.Set(HostKey(rank), host);
  if (told.ok() && rank == 0) told = TellPlaces(store, world_size, deadline);
  if (!told.ok()) return told;
  absl::StatusOr<std::string> text = store.Get(PlaceKey(host), deadline);
  if (!text.ok()) return text.status();
  return ReadPlace(*text);
}

}  // namespace muster
