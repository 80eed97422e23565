#include "trainer_sdk/hierarchical/hierarchical_transport.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/hierarchical/host_layout.h"
#include "trainer_sdk/hierarchical/rank_wording.h"
#include "trainer_sdk/hierarchical/tiered_collectives.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/process_group/failure_record.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/tcp/tcp_transport.h"

namespace muster {
namespace {

// Returns a name that is equal for two processes if and only if they can share
// memory. It consists of the boot id and the network namespace. The boot id
// alone is not enough: two containers on one machine have the same one.
absl::StatusOr<std::string> HostIdentity() {
  const char* const boot_file = "/proc/sys/kernel/random/boot_id";
  std::string boot;
  std::ifstream(boot_file) >> boot;
  if (boot.empty()) {
    return absl::NotFoundError(absl::StrCat(
        boot_file, " cannot be read, so it is unknown who shares this host"));
  }
  const char* const network_file = "/proc/self/ns/net";
  struct stat network {};
  if (stat(network_file, &network) != 0) {
    return absl::NotFoundError(
        absl::StrCat(network_file, ": ", std::strerror(errno)));
  }
  return absl::StrCat(boot, "/", network.st_ino);
}

// The longest time for which a rank accesses the group's store after a failure,
// to write or read the cause. An operation may end this much later than its
// deadline.
constexpr Duration kRecordTimeout = std::chrono::seconds(2);
// The longest time to wait for other ranks to report that they are late, or to
// write the cause of a failure to the store. This time exceeds the time for
// which a network transport waits for late ranks before the transport writes
// its cause.
constexpr Duration kOthersAreLate = std::chrono::milliseconds(600);

class HierarchicalTransport final : public Transport {
 public:
  HierarchicalTransport(GroupPlace place, Tiers tiers)
      : place_(std::move(place)),
        record_(place_.store, place_.rank, kRecordTimeout),
        tiers_(std::move(tiers)) {}

  const char* name() const override { return "hierarchical"; }

  absl::Status Execute(const Operation& operation,
                       const OperationContext& context) override {
    if (absl::Status s = broken(); !s.ok()) return s;
    const OperationSignature signature =
        SignatureOf(operation, context.sequence);
    const absl::Status s =
        RunOverTiers(operation, signature, context.deadline, tiers_);
    if (s.ok()) {
      // This rank has succeeded, but the group may be broken. A rank on another
      // host may have failed in a step in which it sends nothing to this rank.
      const absl::Status elsewhere = tiers_.flat->BrokenElsewhere();
      return elsewhere.ok() ? s : Break(elsewhere);
    }
    // The text with which every error message begins. The message of a failed
    // network transport already has this text.
    const std::string heading = absl::StrCat(Describe(signature), ": ");
    std::string message = FromLast(heading, std::string(s.message()));
    const bool found_by_another = !absl::StartsWith(message, heading);
    if (absl::IsDeadlineExceeded(s)) {
      const std::string silent = Silent(Describe(signature));
      // `silent` is empty if every rank of the group has reported a timeout. So
      // no rank is missing, and the delay is between hosts. If this rank waited
      // only for ranks of its own host (failed_on_host), this rank does not
      // know which host is late. Another rank waits for the late host, and
      // writes the cause: wait for this cause.
      if (silent.empty() && tiers_.failed_on_host) {
        record_.AwaitCause(kOthersAreLate);
        if (tiers_.compared) message += OtherHosts();
      }
      message += silent;
    }
    // If the message says that another rank found this failure, wait until that
    // rank has written the cause for the whole group.
    if (found_by_another) record_.AwaitCause(kOthersAreLate);
    return Break(absl::Status(s.code(), message));
  }

  void Abort(const std::string& reason) override {
    Break(absl::AbortedError(
              absl::StrCat("aborted by rank ", place_.rank, ": ", reason)))
        .IgnoreError();
  }

  absl::StatusOr<std::unique_ptr<TransportMemory>> Allocate(
      int64_t bytes, const OperationContext& context) override {
    if (absl::Status s = broken(); !s.ok()) return s;
    for (int host = 0; host < tiers_.layout.hosts(); ++host) {
      if (tiers_.layout.members(host).size() == 1) {
        return absl::UnimplementedError(
            "not every host has ranks that share memory");
      }
    }
    OperationContext own = context;
    own.sequence = ++tiers_.local_sequence;
    absl::StatusOr<std::unique_ptr<TransportMemory>> memory =
        tiers_.local->Allocate(bytes, own);
    if (memory.ok() || absl::IsResourceExhausted(memory.status()) ||
        absl::IsUnimplemented(memory.status())) {
      return memory;
    }
    return Break(absl::Status(
        memory.status().code(),
        absl::StrCat("allocation of ", bytes, " bytes: ",
                     ToldByHost(tiers_, "has not asked for it",
                                std::string(memory.status().message())))));
  }

 private:
  // Returns a text that names one rank of each other host. The ranks of this
  // host may be waiting for these hosts.
  std::string OtherHosts() const {
    std::vector<std::string> others;
    for (const int rank : tiers_.layout.Across(tiers_.place())) {
      if (tiers_.layout.host_of(rank) == tiers_.host()) continue;
      others.push_back(Describe(tiers_.names[rank]));
    }
    return absl::StrCat("; those of this host may wait for other hosts: ",
                        absl::StrJoin(others, ", "));
  }

  // Returns a text that names the ranks that have not reported that they are
  // late; empty if every rank has. The text includes ranks of other hosts,
  // because this host may wait for them.
  std::string Silent(const std::string& operation) const {
    std::vector<std::string> silent;
    const std::vector<LateRank> ranks =
        record_.CompareLate(operation, place_.size, kOthersAreLate);
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
      if (ranks[rank] == LateRank::kSilent) {
        silent.push_back(Describe(tiers_.names[rank]));
      }
    }
    return silent.empty()
               ? ""
               : absl::StrCat("; in the whole group, nothing is ", "heard of ",
                              absl::StrJoin(silent, ", "));
  }

  absl::Status Break(const absl::Status& cause) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!broken_.ok()) return broken_;
    }
    // Write the cause before closing the connections, so that a peer that
    // notices a closed connection finds the cause.
    const absl::Status agreed = record_.Settle(cause);
    absl::Status result;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (broken_.ok()) broken_ = agreed;
      result = broken_;
    }
    std::string why(result.message());
    // The other ranks of this host return this text as their error. Name this
    // rank as the finder of the failure; otherwise each of them would seem to
    // have found the failure itself.
    if (!absl::IsAborted(result) && !absl::StartsWith(why, "rank ")) {
      why = absl::StrCat("rank ", place_.rank, " found: ", why);
    }
    if (tiers_.local != nullptr) tiers_.local->Abort(why);
    if (tiers_.lane != nullptr) tiers_.lane->Break(result).IgnoreError();
    tiers_.flat->Break(result).IgnoreError();
    return result;
  }

  absl::Status broken() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return broken_;
  }

  const GroupPlace place_;
  const FailureRecord record_;
  Tiers tiers_;

  mutable std::mutex mutex_;
  // OK, or the error with which the group broke; guarded by mutex_
  absl::Status broken_;
};

struct Introduced {
  std::vector<std::string> hosts;
  std::vector<PeerName> names;
};

// Exchanges host identities and names among the ranks. DeadlineExceeded: the
// message names the missing ranks.
absl::StatusOr<Introduced> Introduce(const GroupPlace& place,
                                     const std::string& host,
                                     Instant deadline) {
  const PeerName own = OwnName(place.rank);
  absl::Status s = place.store->Set(absl::StrCat("host/", place.rank), host);
  if (s.ok()) {
    s = place.store->Set(absl::StrCat("name/", place.rank), Encoded(own));
  }
  if (!s.ok()) return s;
  std::vector<std::string> keys;
  for (int rank = 0; rank < place.size; ++rank) {
    keys.push_back(absl::StrCat("host/", rank));
    keys.push_back(absl::StrCat("name/", rank));
  }
  if (s = place.store->Wait(keys, deadline); !s.ok()) return s;
  Introduced all;
  for (int rank = 0; rank < place.size; ++rank) {
    absl::StatusOr<std::string> where =
        place.store->Get(keys[2 * rank], deadline);
    if (!where.ok()) return where.status();
    const absl::StatusOr<std::string> text =
        place.store->Get(keys[2 * rank + 1], deadline);
    if (!text.ok()) return text.status();
    absl::StatusOr<PeerName> name = DecodePeerName(rank, *text);
    if (!name.ok()) return name.status();
    all.hosts.push_back(*std::move(where));
    all.names.push_back(*std::move(name));
  }
  return all;
}

// Returns this rank's place in the subgroup called `name`, whose ranks in the
// whole group are `ranks`.
GroupPlace PartOf(const GroupPlace& whole, const std::string& name,
                  const std::vector<int>& ranks) {
  GroupPlace part;
  part.size = static_cast<int>(ranks.size());
  for (int rank = 0; rank < part.size; ++rank) {
    if (ranks[rank] == whole.rank) part.rank = rank;
    if (!whole.global_ranks.empty()) {
      part.global_ranks.push_back(whole.global_ranks[ranks[rank]]);
    }
  }
  part.store = std::make_shared<PrefixStore>(name, whole.store);
  part.name = absl::StrCat(whole.name, "/", name);
  part.formation = whole.formation;
  return part;
}

}  // namespace

NetworkFactory TcpNetwork() {
  return [](GroupPlace place, const std::vector<int>& ranks_in_errors,
            Instant deadline) {
    TcpOptions options;
    options.ranks_in_errors = ranks_in_errors;
    return NewTcpTransport(std::move(place), options, deadline);
  };
}

absl::StatusOr<std::unique_ptr<Transport>> NewHierarchicalTransport(
    GroupPlace place, const HierarchicalOptions& options, Instant deadline) {
  absl::StatusOr<std::string> host = options.host;
  if (options.host.empty()) host = HostIdentity();
  if (!host.ok()) return host.status();
  absl::StatusOr<Introduced> all = Introduce(place, *host, deadline);
  if (!all.ok()) return all.status();

  Tiers tiers{HostLayout(all->hosts), place.rank, std::move(all->names)};
  const HostLayout& layout = tiers.layout;
  std::vector<int> everybody;
  for (int rank = 0; rank < place.size; ++rank) everybody.push_back(rank);
  // If all ranks are on one host, return the shared memory transport itself. If
  // each rank is on a host of its own, return the network transport itself.
  if (layout.hosts() == 1) {
    return NewSharedMemoryTransport(place, options.shared_memory, deadline);
  }
  if (layout.hosts() == place.size) {
    return options.network(std::move(place), everybody, deadline);
  }
  if (tiers.locals() > 1) {
    const GroupPlace local = PartOf(place, absl::StrCat("host", tiers.host()),
                                    layout.members(tiers.host()));
    auto made =
        NewSharedMemoryTransport(local, options.shared_memory, deadline);
    if (!made.ok()) return made.status();
    tiers.local = *std::move(made);
  }
  if (layout.even() || tiers.leads()) {
    const std::vector<int> ranks = layout.Across(tiers.place());
    auto made = options.network(
        PartOf(place, absl::StrCat("lane", tiers.place()), ranks), ranks,
        deadline);
    if (!made.ok()) return made.status();
    tiers.lane = *std::move(made);
  }
  auto made =
      options.network(PartOf(place, "flat", everybody), everybody, deadline);
  if (!made.ok()) return made.status();
  tiers.flat = *std::move(made);
  return std::make_unique<HierarchicalTransport>(std::move(place),
                                                 std::move(tiers));
}

NetworkFactory GlooNetwork() {
  return [](GroupPlace place, const std::vector<int>& ranks_in_errors,
            Instant deadline) {
    GlooOptions options;
    options.ranks_in_errors = ranks_in_errors;
    return NewGlooTransport(std::move(place), options, deadline);
  };
}

}  // namespace muster
