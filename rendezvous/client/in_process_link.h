#ifndef MUSTER_RENDEZVOUS_CLIENT_IN_PROCESS_LINK_H_
#define MUSTER_RENDEZVOUS_CLIENT_IN_PROCESS_LINK_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/directive_sink.h"

namespace muster {

// A link to a coordinator in the same process, without gRPC: it never breaks.
// Owns one thread, from which all events come, with no lock held.
class InProcessLink : public CoordinatorLink, private DirectiveSink {
 public:
  // `coordinator` outlives the link.
  explicit InProcessLink(Coordinator* coordinator);
  ~InProcessLink() override;  // closes, if nobody has

  void Open(LinkEvents events) override;
  // The coordinator has taken the report when this returns.
  void Send(const Report& report) override;
  void Close() override;

 private:
  void Deliver(const Directive& directive) override;
  void Run();

  Coordinator* const coordinator_;
  LinkEvents events_;
  std::thread thread_;

  // Held while the coordinator is called, so that one stream's calls do not
  // overlap; never while it calls back.
  std::mutex reporting_;
  std::optional<StreamId> stream_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::optional<Directive> directive_;  // the newest, not yet passed on
  uint64_t epoch_ = 0;                  // of the newest that came
  uint64_t revision_ = 0;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_CLIENT_IN_PROCESS_LINK_H_
