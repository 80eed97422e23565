#ifndef MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_
#define MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/inquiry.h"

namespace muster::rendezvous {

// The receiver of one attached agent's directives: a gRPC stream, or an agent
// in the same process.
class DirectiveSink {
 public:
  virtual ~DirectiveSink() = default;
  // Delivers a directive. Must be thread-safe, must not block, and must not
  // call the coordinator. Calls from two threads may come in the wrong order,
  // so the sink must drop outdated directives (DirectiveOrder).
  virtual void Deliver(const Directive& directive) = 0;
};

// Decides which directives of a stream are outdated. Directives of a standby
// come in order, so none of them is outdated. If the standby is elected
// coordinator, its later directives have the same epoch, but their revisions
// count separately. So revisions are compared only between two directives of a
// coordinator. Not thread-safe.
class DirectiveOrder {
 public:
  // Returns whether to accept `directive`; false: the stream already had a
  // newer directive of the same coordinator.
  bool Admit(const Directive& directive) {
    const bool stands_by = directive.kind == DirectiveKind::kStandBy ||
                           directive.kind == DirectiveKind::kMoved;
    if (!stands_by && !stands_by_ && directive.epoch == epoch_ &&
        directive.revision < revision_) {
      return false;
    }
    stands_by_ = stands_by;
    epoch_ = directive.epoch;
    revision_ = directive.revision;
    return true;
  }

 private:
  bool stands_by_ = false;  // whether the newest directive came from a standby
  uint64_t epoch_ = 0;      // epoch and revision of the newest directive
  uint64_t revision_ = 0;
};

// Wraps a sink so that it can be detached while other threads are about to call
// it. Thread-safe.
class AttachedSink {
 public:
  AttachedSink(StreamId stream, DirectiveSink* sink, std::string peer)
      : stream_(stream), peer_(std::move(peer)), sink_(sink) {}

  StreamId stream() const { return stream_; }
  // The agent's IP address; empty: the agent runs in this process.
  const std::string& peer() const { return peer_; }

  // Delivers `directive` together with the inquiries that SetInquiries has set
  // (Directive::inquiries). Does nothing after Detach.
  void Deliver(const Directive& directive) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (sink_ == nullptr) return;
    if (inquiries_.empty()) {
      sink_->Deliver(directive);
      return;
    }
    Directive with_inquiries = directive;
    with_inquiries.inquiries = inquiries_;
    sink_->Deliver(with_inquiries);
  }

  // Sets the inquiries (Directive::inquiries) that Deliver adds to all further
  // directives. The caller must deliver a directive afterwards, which sends the
  // inquiries.
  void SetInquiries(std::vector<Inquiry> inquiries) {
    std::lock_guard<std::mutex> lock(mutex_);
    inquiries_ = std::move(inquiries);
  }

  // Removes the sink, so that it gets no further directives. Returns once no
  // call of the sink is running.
  void Detach() {
    std::lock_guard<std::mutex> lock(mutex_);
    sink_ = nullptr;
  }

 private:
  const StreamId stream_;
  const std::string peer_;
  std::mutex mutex_;
  DirectiveSink* sink_;
  // The open inquiries of this node, which every directive to it contains.
  // Guarded by mutex_, like sink_.
  std::vector<Inquiry> inquiries_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_
