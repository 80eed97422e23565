#ifndef MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_
#define MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Decides when a coordinator inside a `launch` begins to coordinate the job.
// Pure; not thread-safe.
//
//   1. While it knows where the coordinator is, it sends nodes there (kMoved).
//   2. Else it collects the nodes that come (kStandBy). They have lost their
//      coordinator, and go elsewhere if this takes too long. Of two standbys
//      with such nodes, one sends its nodes to the other (Meet).
//   3. Once the nodes here have a majority, it draws an epoch above all that
//      they have promised, and asks for their promise.
//   4. Once a majority has promised to obey no lower epoch, it is elected.
//
// An earlier coordinator forms no world without the same majority (Job), so
// that no two coordinators can. The nodes have a majority if
//   - more than half of each constituency (ConstituenciesOf) is here; or
//   - with Takeover::kAuto: so many nodes are here that those elsewhere are too
//     few (OthersAreTooFew), known spares not counted; or
//   - at the founder, before any round: at least min_nodes nodes are here.
class Standby {
 public:
  enum class Kind {
    // The coordinator that the job's nodes are told to join first. A node that
    // has never met another coordinator begins the job here at once. One that
    // has been deposed, or told of another coordinator, is a successor.
    kFounder,
    kSuccessor,
  };
  // How long the announcement of another coordinator counts.
  static constexpr Duration kToldFor = std::chrono::seconds(3);
  // A node that has come back from another standby is not sent to one again for
  // this time: it may not reach the other one.
  static constexpr Duration kStaysFor = std::chrono::seconds(10);

  // `candidate`: the lowest epoch that it may take if it is elected, with its
  // low kDrawnEpochBits bits drawn at random.
  Standby(Kind kind, uint64_t candidate);

  struct Step {
    std::vector<Delivery> deliveries;
    // The epoch with which it now coordinates the job. The caller passes
    // reports() to a Job, and uses the Standby no more.
    std::optional<uint64_t> elected;
  };

  // A report of the stream's node came.
  Step Hear(Instant now, StreamId stream, const Report& report);
  // The stream is closed.
  void Forget(StreamId stream);
  // A coordinator elsewhere.
  struct Leader {
    std::string endpoint;
    uint64_t epoch = 0;
  };
  // The agent of this process has the coordinator `leader`; nullopt: it has
  // lost it.
  void Follow(std::optional<Leader> leader);
  // The coordinator at `endpoint` announces, as it does about once a second,
  // that it coordinates the job with `epoch`. One without a majority gets only
  // nodes that know no round; others could elect a better one.
  Step Told(Instant now, uint64_t epoch, const std::string& endpoint,
            Backing backing = Backing::kMajority);

  // Nodes that have lost their coordinator and gathered at one standby.
  struct Assembly {
    std::string endpoint;  // of the standby
    int nodes = 0;
  };
  // Another standby announces its assembly, as it does about once a second
  // while it knows no coordinator. If that is larger than the one here, or of
  // the same size and first by its endpoint, the nodes here are sent there.
  // They stay if they have been asked for a promise. `own_endpoint`: of this
  // standby.
  Step Meet(Instant now, const Assembly& other,
            const std::string& own_endpoint);
  // The number of nodes here that wait for a majority; 0: a coordinator is
  // known, or a majority has been asked for its promise.
  int Assembled(Instant now) const;

  // The coordinator, as far as this one knows; nullopt: unknown.
  std::optional<Leader> Known(Instant now) const;
  // The newest reports of the nodes that are here.
  const std::map<StreamId, Report>& reports() const { return reports_; }

 private:
  bool HaveMajority(const std::vector<const Report*>& voting) const;
  Directive NewDirective(DirectiveKind kind, std::string reason);
  Directive StandBy();
  uint64_t HighestPromise() const;

  Kind kind_;
  // The lowest epoch of the next draw; `epoch_`: the one drawn, 0: none.
  uint64_t candidate_;
  uint64_t epoch_ = 0;
  uint64_t revision_ = 0;
  std::optional<Leader> followed_;
  struct Announced {
    Leader leader;
    Instant until;
  };
  std::optional<Announced> announced_;
  std::map<StreamId, Report> reports_;
  // The nodes that Meet has sent elsewhere within kStaysFor, by node id.
  std::map<std::string, Instant> sent_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_
