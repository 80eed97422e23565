// Tests of collectives between ranks on different simulated hosts. The network
// between the hosts is slow, lossy or cut. Each rank is a process.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/address_set.h"
#include "store/server/store_server.h"
#include "tests/namespaces/hosts.h"
#include "trainer_sdk/gloo/gloo_transport.h"
#include "trainer_sdk/hierarchical/hierarchical_transport.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/prepared_operation.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"
#include "trainer_sdk/shared_memory/testing/forked_store.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/store/tcp_store.h"
#include "trainer_sdk/tcp/tcp_transport.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kTestTimeout = seconds(60);
constexpr Duration kOperation = milliseconds(800);
// Maximum time from an operation's deadline until it returns its error. In this
// time the operation finds out which ranks are silent, which takes longer if
// the store does not answer.
constexpr Duration kAllowed = seconds(15);

enum class Kind { kTcp, kGloo, kHierarchical };

// Where the store runs. kOwn: on a host that every rank can always reach.
// kFirst: on rank 0's host, which the ranks of the other host cannot reach
// after the cut.
enum class StoreHost { kOwn, kFirst };
constexpr int kStoreHost = 2;
// a free port: the store's network namespace has no other server
constexpr int kStorePort = 29500;

struct World {
  std::string name;
  Kind kind = Kind::kTcp;
  std::vector<int> host_of;  // host of each rank
  StoreHost store = StoreHost::kOwn;
  // Index (from 0) of the part of the conformance cases that this world runs.
  // The cases are divided into `shares` parts, one for each world that tests
  // the same transport.
  int share = 0;
  int shares = 1;
};

void PrintTo(const World& world, std::ostream* out) { *out << world.name; }

absl::StatusOr<std::unique_ptr<Transport>> Make(const World& world,
                                                const std::string& address,
                                                const GroupPlace& place) {
  const Instant deadline = MonotonicNow() + kTestTimeout;
  LocalAddressOptions own;
  own.interface = address;
  switch (world.kind) {
    case Kind::kTcp: {
      TcpOptions options;
      options.address = own;
      return NewTcpTransport(place, options, deadline);
    }
    case Kind::kGloo: {
      GlooOptions options;
      options.address = own;
      return NewGlooTransport(place, options, deadline);
    }
    case Kind::kHierarchical:
      break;
  }
  HierarchicalOptions options;
  options.network = [own](GroupPlace part,
                          const std::vector<int>& ranks_in_errors,
                          Instant until) {
    TcpOptions tcp;
    tcp.address = own;
    tcp.ranks_in_errors = ranks_in_errors;
    return NewTcpTransport(std::move(part), tcp, until);
  };
  return NewHierarchicalTransport(place, options, deadline);
}

class Namespaces : public testing::TestWithParam<World> {
 protected:
  void SetUp() override {
    auto hosts = Hosts::Make(3);
    if (!hosts.ok()) {
      GTEST_SKIP() << "hosts of their own need network namespaces and TUN "
                      "interfaces: "
                   << hosts.status();
    }
    hosts_ = *std::move(hosts);
    ServeStore();
  }

  using Body = std::function<absl::Status(Transport&, const GroupPlace&)>;

  // Starts one process for each rank. Each process enters its rank's host,
  // creates the transport of the test's world, and runs `body`.
  std::unique_ptr<ForkedRanks> Start(const Body& body,
                                     const std::string& group = "group") {
    return std::make_unique<ForkedRanks>(
        size(), [this, body, group](const GroupPlace& given) -> absl::Status {
          GroupPlace place = given;
          place.store = store_;
          const int host = GetParam().host_of[place.rank];
          if (absl::Status s = hosts_->Enter(host); !s.ok()) return s;
          TcpStoreOptions where;
          where.host = hosts_->Address(store_host());
          where.port = kStorePort;
          where.connect_deadline = MonotonicNow() + kTestTimeout;
          auto store = TcpStore::Connect(where);
          if (!store.ok()) return store.status();
          GroupPlace own = place;
          own.store = std::make_shared<PrefixStore>(
              group, std::shared_ptr<Store>(*std::move(store)));
          auto transport = Make(GetParam(), hosts_->Address(host), own);
          if (!transport.ok()) return transport.status();
          return body(**transport, place);
        });
  }

  int store_host() const {
    return GetParam().store == StoreHost::kOwn ? kStoreHost
                                               : GetParam().host_of[0];
  }

  // Serves the store in a child process. The test process forks the ranks
  // later, so it must not have the threads of a store server.
  void ServeStore() {
    const pid_t parent = getpid();
    server_ = fork();
    ASSERT_GE(server_, 0);
    if (server_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !hosts_->Enter(store_host()).ok()) _exit(1);
    store::StoreServerOptions options;
    options.port = kStorePort;
    options.clients = AddressSet::All();
    const auto server = store::StoreServer::Start(std::move(options));
    while (server.ok()) pause();
    _exit(1);
  }

  void TearDown() override {
    if (server_ <= 0) return;
    kill(server_, SIGKILL);
    waitpid(server_, nullptr, 0);
  }

  // Repeats `collective` until it fails, and returns the error. The sequence
  // number of the first repetition is 2: the caller may have run an operation
  // with number 1.
  static absl::Status UntilItFails(Transport& transport,
                                   const GroupPlace& place,
                                   Operation collective) {
    const int64_t elements = collective.count * place.size;
    std::vector<float> input(elements), output(elements);
    collective.input = input.data();
    collective.output = output.data();
    for (uint64_t sequence = 2;; ++sequence) {
      const Instant deadline = MonotonicNow() + kOperation;
      const absl::Status s =
          transport.Execute(collective, OperationContext{sequence, deadline});
      if (sequence == 3) {
        place.store->Set(absl::StrCat("goes/", place.rank), "").IgnoreError();
      }
      if (s.ok()) continue;
      if (MonotonicNow() > deadline + kAllowed) {
        return absl::InternalError(absl::StrCat("late: ", s.ToString()));
      }
      return s;
    }
  }

  int size() const { return static_cast<int>(GetParam().host_of.size()); }

  std::unique_ptr<Hosts> hosts_;
  pid_t server_ = -1;
  // A store on the machine's loopback interface. The delays and cuts of the
  // simulated network do not affect it.
  const std::shared_ptr<ForkedStore> store_ = std::make_shared<ForkedStore>();
};

// Runs the part of the conformance cases that is assigned to `world`. All
// worlds with the same transport together test each collective, type, reduction
// and length.
absl::Status RunItsCases(const World& world, Transport& transport,
                         const GroupPlace& place) {
  ConformanceMemory memory;
  RankUnderTest rank{&transport, &memory, place.rank, place.size};
  for (const CollectiveCase& test :
       CasesOfSize({.sizes = {place.size},
       .every_nth = std::numeric_limits<int>::max(),
       .share = world.share,
       .shares = world.shares,
       .longest_every_nth = 5},
                   0)) {
    if (absl::Status s = RunCase(test, rank); !s.ok()) return s;
  }
  const Instant deadline = MonotonicNow() + kTestTimeout;
  return transport.Execute(Barrier(),
                           OperationContext{rank.sequence + 1, deadline});
}

TEST_P(Namespaces, CollectivesAreCorrectOverASlowLossyWire) {
  hosts_->Delay(std::chrono::microseconds(500));
  hosts_->Lose(5);
  const auto ranks = Start([](Transport& transport, const GroupPlace& place) {
    return RunItsCases(GetParam(), transport, place);
  });
  for (const absl::Status& s : ranks->Wait(MonotonicNow() + 2 * kTestTimeout)) {
    EXPECT_TRUE(s.ok()) << s;
  }
}

// Whether `told`, the error that `rank` got, names a rank on the other host.
// This may be a silent rank, or a rank that detected the failure.
bool NamesOneBeyondTheWire(const World& world, int rank,
                           const absl::Status& told) {
  const std::string message(told.message());
  static const std::regex kNamed("rank ([0-9]+) (found|\\((host|pid) )");
  for (std::sregex_iterator it(message.begin(), message.end(), kNamed), end;
       it != end; ++it) {
    const int named = std::stoi((*it)[1]);
    if (world.host_of.at(named) != world.host_of[rank]) return true;
  }
  return false;
}

TEST_P(Namespaces, NoRankHangsWhenTheWireIsCut) {
  const auto ranks = Start([](Transport& transport, const GroupPlace& place) {
    return UntilItFails(transport, place,
                        {.kind = OperationKind::kAllReduce, .count = 4096});
  });
  // Each rank sets a key after its second operation. Wait for the keys of all
  // ranks, and then cut the network.
  std::vector<std::string> keys;
  for (int rank = 0; rank < size(); ++rank) {
    keys.push_back(absl::StrCat("goes/", rank));
  }
  ASSERT_TRUE(store_->Wait(keys, MonotonicNow() + kTestTimeout).ok());
  hosts_->Cut();
  const std::vector<absl::Status> ended =
      ranks->Wait(MonotonicNow() + 2 * kTestTimeout);
  for (int rank = 0; rank < size(); ++rank) {
    const absl::Status& s = ended[rank];
    EXPECT_TRUE(absl::IsDeadlineExceeded(s) || absl::IsUnavailable(s)) << s;
    EXPECT_TRUE(absl::StrContains(std::string(s.message()), "all_reduce"));
    EXPECT_TRUE(NamesOneBeyondTheWire(GetParam(), rank, s)) << s;
  }
}

// Makes the kernel kill this process after `moment` (less than a second),
// wherever the program is then. SIGALRM kills it, because it has no handler.
void DieAfter(std::chrono::microseconds moment) {
  itimerval alarm{};
  // A time of 0 would set no alarm.
  alarm.it_value.tv_usec = std::max<int64_t>(moment.count(), 1);
  setitimer(ITIMER_REAL, &alarm, nullptr);
}

// Draws a random collective of 4,096 or 70,000 elements. A barrier has none.
Operation DrawCollective(std::mt19937& draw, int size) {
  constexpr OperationKind kKinds[] = {
      OperationKind::kAllReduce, OperationKind::kReduceScatter,
      OperationKind::kAllGather, OperationKind::kBroadcast,
      OperationKind::kReduce,    OperationKind::kAllToAll,
      OperationKind::kGather,    OperationKind::kScatter,
      OperationKind::kBarrier};
  Operation collective;
  collective.kind = kKinds[draw() % std::size(kKinds)];
  collective.root = static_cast<int>(draw() % size);
  collective.count = draw() % 2 == 0 ? 4096 : 70'000;
  if (collective.kind == OperationKind::kBarrier) collective.count = 0;
  return collective;
}

TEST_P(Namespaces, ARankThatDiesAtAnyTimeIsNamedByAllOthers) {
  std::mt19937 draw(static_cast<unsigned>(size()));
  for (int attempt = 0; attempt < 12; ++attempt) {
    const int victim = static_cast<int>(draw() % size());
    const Operation collective = DrawCollective(draw, size());
    const std::chrono::microseconds moment(draw() % 10'000);
    SCOPED_TRACE(absl::StrCat(Name(collective.kind), " of ", collective.count,
                              ", root ", collective.root, ", rank ", victim,
                              " dies after ", moment.count(), " us"));
    const auto ranks = Start(
        [&](Transport& transport, const GroupPlace& place) -> absl::Status {
          // Let no rank die before all ranks are connected. Gloo needs no such
          // barrier: its error names the dead rank even if the ranks are still
          // connecting.
          if (GetParam().kind != Kind::kGloo) {
            const OperationContext first{1, MonotonicNow() + kTestTimeout};
            absl::Status met = transport.Execute(Barrier(), first);
            if (!met.ok()) return met;
          }
          if (place.rank == victim) DieAfter(moment);
          return UntilItFails(transport, place, collective);
        },
        absl::StrCat("attempt", attempt));
    const std::vector<absl::Status> ended =
        ranks->Wait(MonotonicNow() + 2 * kTestTimeout);
    const std::string name = absl::StrCat("rank ", victim);
    const std::string pid = absl::StrCat("pid ", ranks->pid(victim));
    for (int rank = 0; rank < size(); ++rank) {
      if (rank == victim) continue;
      const std::string message(ended[rank].message());
      EXPECT_TRUE(absl::IsUnavailable(ended[rank])) << ended[rank];
      EXPECT_TRUE(absl::StrContains(message, name)) << message;
      EXPECT_TRUE(absl::StrContains(message, pid)) << message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    TwoHosts, Namespaces,
    testing::Values(
        World{"Tcp", Kind::kTcp, {0, 1}, StoreHost::kOwn, 0, 2},
        World{"StoreAtTheFirst", Kind::kTcp, {0, 1}, StoreHost::kFirst, 1, 2},
        World{"Gloo", Kind::kGloo, {0, 1}},
        World{"Even", Kind::kHierarchical, {0, 0, 1, 1}, StoreHost::kOwn, 0, 2},
        World{"Uneven", Kind::kHierarchical, {0, 0, 1}, StoreHost::kOwn, 1, 2}),
    [](const testing::TestParamInfo<World>& param) {
      return param.param.name;
    });

}  // namespace
}  // namespace muster
