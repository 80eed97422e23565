#ifndef MUSTER_RENDEZVOUS_SERVER_ATTACHED_SINK_H_
#define MUSTER_RENDEZVOUS_SERVER_ATTACHED_SINK_H_

#include <mutex>

#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/server/directive_sink.h"

namespace muster::rendezvous {

// A sink that can be detached while other threads are about to call it.
// Thread-safe.
class AttachedSink {
 public:
  AttachedSink(StreamId stream, DirectiveSink* sink)
      : stream_(stream), sink_(sink) {}

  StreamId stream() const { return stream_; }

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
  std::mutex mutex_;
  DirectiveSink* sink_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_ATTACHED_SINK_H_
