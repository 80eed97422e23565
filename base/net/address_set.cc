#include "base/net/address_set.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr size_t kAllBits = 128;
// The length in bits of the prefix ::ffff:0:0/96 of IPv4 addresses that are
// mapped into IPv6.
constexpr size_t kMappedBits = 96;

absl::Status NotAnAddress(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", absl::string_view(text.data(), text.size()),
      "\" is neither an IP address nor a network such as 10.0.0.0/8"));
}

}  // namespace

AddressSet AddressSet::All() {
  AddressSet all;
  all.networks_.push_back({Bits{}, 0});
  return all;
}

AddressSet AddressSet::Loopback() {
  AddressSet loopback;
  loopback.Add("127.0.0.1").IgnoreError();
  loopback.Add("::1").IgnoreError();
  return loopback;
}

AddressSet::Bits AddressSet::BitsOf(const SocketAddress& address) {
  Bits bits{};
  if (address.family() == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    std::memcpy(bits.data(), &v6->sin6_addr, bits.size());
    return bits;
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
  bits[10] = bits[11] = 0xff;
  std::memcpy(bits.data() + kMappedBits / 8, &v4->sin_addr,
              sizeof(v4->sin_addr));
  return bits;
}

absl::Status AddressSet::Add(std::string_view text) {
  if (text == "any") {
    networks_.push_back({Bits{}, 0});
    return absl::OkStatus();
  }
  const size_t slash = text.find('/');
  // The zone (such as %eth0) is removed before the address is parsed: the zone
  // names an interface of the client's host, which this host does not know.
  const size_t end = std::min(slash, text.find('%'));
  const std::optional<SocketAddress> address =
      NumericAddress(std::string(text.substr(0, end)), 0);
  // The system's parser also accepts 10.1 for 10.0.0.1; such short forms are
  // refused.
  if (!address.has_value() ||
      text.find_first_of(".:") == std::string_view::npos ||
      (address->family() == AF_INET &&
       std::count(text.begin(), text.end(), '.') != 3)) {
    return NotAnAddress(text);
  }
  const Bits bits = BitsOf(*address);
  if (slash == std::string_view::npos) {
    addresses_.insert(bits);
    return absl::OkStatus();
  }
  const size_t offset = address->family() == AF_INET6 ? 0 : kMappedBits;
  const std::string_view digits = text.substr(slash + 1);
  uint32_t prefix = 0;
  if (digits.find_first_not_of("0123456789") != std::string_view::npos ||
      !absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()),
                        &prefix) ||
      prefix + offset > kAllBits) {
    return NotAnAddress(text);
  }
  networks_.push_back({bits, prefix + offset});
  return absl::OkStatus();
}

bool AddressSet::Contains(const SocketAddress& address) const {
  if (address.family() != AF_INET && address.family() != AF_INET6) return false;
  const Bits bits = BitsOf(address);
  if (addresses_.contains(bits)) return true;
  for (const Network& network : networks_) {
    const size_t bytes = network.prefix_bits / 8;
    const size_t rest = network.prefix_bits % 8;
    if (std::memcmp(bits.data(), network.first.data(), bytes) != 0) continue;
    if (rest == 0) return true;
    const auto mask = static_cast<uint8_t>(0xff << (8 - rest));
    if (((bits[bytes] ^ network.first[bytes]) & mask) == 0) return true;
  }
  return false;
}

}  // namespace muster
