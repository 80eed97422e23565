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
//      coordinator, and go elsewhere if this takes too long.
//   3. Once the nodes here have a majority, it draws an epoch above all that
//      they have promised, and asks for their promise.
//   4. Once a majority has promised to obey no lower epoch, it is elected.
//
// An earlier coordinator forms no world without the same majority (Job), so
// that no two coordinators can. The nodes have a majority if
//   - more than half of each constituency (ConstituenciesOf) is here; or
//   - with Takeover::kAuto: at least min_nodes nodes are here, known spares not
//     counted, and min_nodes is more than half of max_nodes; or
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
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_
