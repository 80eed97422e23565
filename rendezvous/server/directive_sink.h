#ifndef MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_
#define MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/directive.h"

namespace muster::rendezvous {

// The receiver of one attached agent's directives: a gRPC stream, or an agent
// in the same process.
class DirectiveSink {
 public:
  virtual ~DirectiveSink() = default;
  // Must be thread-safe, must not block and must not call the coordinator. Two
  // calls may arrive out of order; the sink keeps the newest directive only, as
  // DirectiveOrder decides.
  virtual void Deliver(const Directive& directive) = 0;
};

// Decides which directives of a stream are stale. Those of a standby come in
// order, and before those of the coordinator that it becomes, which has the
// same epoch and revisions of its own. Not thread-safe.
class DirectiveOrder {
 public:
  // Returns false if a newer directive of the same coordinator has been
  // admitted.
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
  bool stands_by_ = false;  // whether the newest one is that of a standby
  uint64_t epoch_ = 0;      // those of the newest directive
  uint64_t revision_ = 0;
};

// A sink that can be detached while other threads are about to call it.
// Thread-safe.
class AttachedSink {
 public:
  AttachedSink(StreamId stream, DirectiveSink* sink, std::string peer)
      : stream_(stream), peer_(std::move(peer)), sink_(sink) {}

  StreamId stream() const { return stream_; }
  // ReportArrived::peer of the stream.
  const std::string& peer() const { return peer_; }

  void Deliver(const Directive& directive) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (sink_ != nullptr) sink_->Deliver(directive);
  }

  // Returns once no call of the sink is running; there are none afterwards.
  void Detach() {
    std::lock_guard<std::mutex> lock(mutex_);
    sink_ = nullptr;
  }

 private:
  const StreamId stream_;
  const std::string peer_;
  std::mutex mutex_;
  DirectiveSink* sink_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_DIRECTIVE_SINK_H_
