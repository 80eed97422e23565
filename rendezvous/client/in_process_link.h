#ifndef MUSTER_RENDEZVOUS_CLIENT_IN_PROCESS_LINK_H_
#define MUSTER_RENDEZVOUS_CLIENT_IN_PROCESS_LINK_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/server/directive_sink.h"

namespace muster::rendezvous {

// A link to a coordinator in the same process, without gRPC; it never breaks.
// Owns one thread, which makes all callbacks without holding a lock.
class InProcessLink : public CoordinatorLink, private DirectiveSink {
 public:
  // `coordinator` must outlive the link.
  explicit InProcessLink(Coordinator* coordinator);
  ~InProcessLink() override;  // calls Close if it was not called

  void Open(LinkEvents events) override;
  // Passes the report to the coordinator, and returns after the coordinator has
  // processed the report.
  void Send(const Report& report) override;
  std::unique_ptr<AnswerSender> Answer(const std::string& run_id,
                                       uint64_t inquiry) override;
  void Close() override;

 private:
  void Deliver(const Directive& directive) override;
  void Run();

  Coordinator* const coordinator_;
  LinkEvents events_;
  std::thread thread_;

  // Held while this link calls the coordinator, so that its calls do not
  // overlap; not held during callbacks.
  std::mutex reporting_;
  std::optional<StreamId> stream_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  // The newest directive that was not yet passed to `events_`.
  std::optional<Directive> directive_;
  DirectiveOrder order_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_IN_PROCESS_LINK_H_
