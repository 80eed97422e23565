#ifndef MUSTER_RENDEZVOUS_JOURNAL_HELD_RESULTS_H_
#define MUSTER_RENDEZVOUS_JOURNAL_HELD_RESULTS_H_

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace muster::rendezvous {

// Decides which results of a job's steps may be sent, and when the job's record
// is written. A result is sent once the record of its step, and of all earlier
// steps, is durable. Only one write runs at a time. Each write has the state
// after the newest step, so it makes all steps so far durable.
//
// `Result`: a movable type. Pure. Not thread-safe.
template <typename Result>
class HeldResults {
 public:
  // Counts a step that has changed the record. Call it before Hold of the same
  // step.
  void CountChange() { ++changes_; }

  // Takes `result`, and returns true, if it must wait. False: it may be sent
  // now, because the record is durable.
  bool Hold(Result& result) {
    if (durable_ == changes_) return false;
    std::vector<Result>& held = written_ == changes_ ? in_write_ : later_;
    held.push_back(std::move(result));
    return true;
  }

  // Returns whether the caller must write the record of the newest step now,
  // and then call EndWrite once it is durable.
  bool BeginWrite() {
    if (written_ == changes_ || written_ != durable_) return false;
    written_ = changes_;
    in_write_ = std::exchange(later_, {});
    return true;
  }

  // The write has ended: the record is durable. Returns the results that may be
  // sent now, oldest first.
  std::vector<Result> EndWrite() {
    durable_ = written_;
    return std::exchange(in_write_, {});
  }

  // Returns all held results, oldest first, and holds none of them any more.
  std::vector<Result> Drop() {
    std::vector<Result> dropped = std::exchange(in_write_, {});
    std::move(later_.begin(), later_.end(), std::back_inserter(dropped));
    later_.clear();
    return dropped;
  }

  // The number of steps that have changed the record, and the number of these
  // steps that are durable. changes() >= durable().
  uint64_t changes() const { return changes_; }
  uint64_t durable() const { return durable_; }

 private:
  uint64_t changes_ = 0;
  uint64_t written_ = 0;  // value of changes_ when the newest write began
  uint64_t durable_ = 0;
  std::vector<Result> in_write_;  // results that wait for the current write
  std::vector<Result> later_;     // results that wait for the next write
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_HELD_RESULTS_H_
