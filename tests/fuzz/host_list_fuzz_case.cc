// Fuzzes the parser of Slurm's host lists with edits (edited_bytes.h) of a
// valid list. Aborts if an accepted list exceeds the limits for names. Also
// aborts if its names, written one by one and parsed again, give other names.

#include <iterator>
#include <string>
#include <vector>

#include "base/check.h"
#include "launcher/cluster/slurm/host_list.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

constexpr std::string_view kSound[] = {
    "n[1-3,7,010-012]",
    "rack[0-1]node[08-11]-ib,login",
    "a,b[65000-65535],c.d",
    "",
};

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const std::string_view sound =
      kSound[static_cast<unsigned char>(input[0]) % std::size(kSound)];
  input.remove_prefix(1);
  const auto hosts = launcher::ExpandHostList(EditedBytes(sound, input));
  if (!hosts.ok()) {
    MUSTER_CHECK(!hosts.status().message().empty());
    return;
  }
  MUSTER_CHECK(hosts->size() <= 65536);
  std::string written;
  for (const std::string& host : *hosts) {
    MUSTER_CHECK(!host.empty() && host.size() <= 255);
    MUSTER_CHECK(host.find_first_of("[], /") == std::string::npos);
    written += host + ",";
  }
  const auto again = launcher::ExpandHostList(written);
  // Skip the check if the names, written one by one, exceed the parser's limit.
  if (written.size() > 1 << 20) return;
  MUSTER_CHECK(again.ok()) << again.status();
  MUSTER_CHECK(*again == *hosts);
}

}  // namespace muster
