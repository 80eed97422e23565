#include "launcher/ssh/host_tree.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace muster::launcher {

std::vector<std::vector<RemoteHost>> PartHosts(std::vector<RemoteHost> hosts,
                                               size_t fan_out) {
  MUSTER_CHECK(fan_out > 0);
  const size_t groups = std::min(fan_out, hosts.size());
  std::vector<std::vector<RemoteHost>> parts(groups);
  auto next = hosts.begin();
  for (size_t i = 0; i < groups; ++i) {
    const size_t left = static_cast<size_t>(hosts.end() - next);
    const size_t size = (left + groups - i - 1) / (groups - i);
    const auto end = next + static_cast<std::ptrdiff_t>(size);
    parts[i].assign(std::make_move_iterator(next),
                    std::make_move_iterator(end));
    next = end;
  }
  return parts;
}

}  // namespace muster::launcher
