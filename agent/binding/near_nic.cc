#include "agent/binding/near_nic.h"

#include <algorithm>
#include <cstddef>

namespace muster::agent {
namespace {

size_t CommonBridges(const PciDevice& a, const PciDevice& b) {
  const auto [end, unused] = std::mismatch(a.bridges.begin(), a.bridges.end(),
                                           b.bridges.begin(), b.bridges.end());
  return static_cast<size_t>(end - a.bridges.begin());
}

std::string Nearest(const PciDevice& device, const std::vector<Nic>& nics,
                    NicKind kind) {
  size_t most = 0;
  std::string name;
  for (const Nic& nic : nics) {
    if (nic.kind != kind) continue;
    const size_t common = CommonBridges(device, nic.at);
    if (common > most) {
      most = common;
      name = nic.name;
    } else if (common == most) {
      name.clear();
    }
  }
  return name;
}

}  // namespace

std::string NearNic(const PciDevice& device, const std::vector<Nic>& nics) {
  const bool fast = std::any_of(nics.begin(), nics.end(), [](const Nic& nic) {
    return nic.kind == NicKind::kInfiniBand;
  });
  return Nearest(device, nics,
                 fast ? NicKind::kInfiniBand : NicKind::kEthernet);
}

}  // namespace muster::agent
