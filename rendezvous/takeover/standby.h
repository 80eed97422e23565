#ifndef MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_
#define MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_

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
//   1. It knows where the coordinator is: nodes that come are sent there
//      (kMoved).
//   2. Else it collects the nodes that come (kStandBy). Those have lost their
//      coordinator; they go elsewhere if this takes too long.
//   3. Once a majority is here (Takeover), it draws an epoch above all that
//      they have been told, and asks for their promise.
//   4. Once a majority has promised to obey no lower epoch, it is elected.
//
// An earlier coordinator forms no world without the same majority (Job), so
// that no two of them can. A majority is one of the electorate, and of every
// newer world whose beginning the nodes here report: it may have begun on all
// of its nodes.
class Standby {
 public:
  enum class Kind {
    // The coordinator that the job's nodes are told to join first. A node that
    // has never met another coordinator begins the job here at once.
    kFounder,
    kSuccessor,
  };

  // `candidate`: the lowest epoch that it may take. Its low kDrawnBits bits
  // must be drawn at random, because two coordinators may draw at a time.
  Standby(Kind kind, uint64_t candidate);
  static constexpr int kDrawnBits = 22;

  struct Step {
    std::vector<Delivery> deliveries;
    // The epoch with which it now coordinates the job. The caller passes
    // reports() to a Job; the Standby must not be used any more.
    std::optional<uint64_t> elected;
  };

  // The newest report of the stream's node.
  Step Hear(Instant now, StreamId stream, const Report& report);
  void Forget(StreamId stream);

  // This node's agent has the coordinator at `endpoint`; nullopt: it has lost
  // it. Without effect on nodes that have come already.
  void Follow(std::optional<std::string> endpoint);
  // The coordinator at `endpoint` says that it coordinates the job with
  // `epoch`. It says so about once a second.
  Step Told(Instant now, uint64_t epoch, const std::string& endpoint);

  // The newest reports of the nodes that are here.
  const std::map<StreamId, Report>& reports() const { return reports_; }

 private:
  bool IsElected(uint64_t promised) const;
  Step Consider();
  Directive NewDirective(DirectiveKind kind, std::string reason);
  std::string Progress() const;

  const Kind kind_;
  uint64_t epoch_ = 0;      // 0: not drawn
  uint64_t candidate_ = 0;  // lower bound of the next `epoch_`
  uint64_t revision_ = 0;
  std::optional<std::string> followed_;
  struct Leader {
    std::string endpoint;
    uint64_t epoch = 0;
    Instant until;
  };
  std::optional<Leader> told_;
  std::map<StreamId, Report> reports_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TAKEOVER_STANDBY_H_
