#ifndef MUSTER_RENDEZVOUS_JOURNAL_HELD_RESULTS_H_
#define MUSTER_RENDEZVOUS_JOURNAL_HELD_RESULTS_H_

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace muster::rendezvous {

// Decides when a job's record is written, and for which write the results of a
// step wait. Only one write runs at a time. Each write has the state after the
// newest step, so it makes all steps so far durable. Pure. Not thread-safe.
class WriteOrder {
 public:
  enum class Wait { kNone, kCurrentWrite, kNextWrite };

  // Counts a step that has changed the record.
  void CountChange() { ++changes_; }
  // Returns the write that makes the record of the newest step durable.
  Wait Next() const;
  // Begins a write if one is needed and none is in progress. Returns true if
  // so: the caller must then write the record as of the newest step, and call
  // End when this write has succeeded.
  bool Begin();
  void End();

  // The number of steps that have changed the record, and the number of these
  // steps that are durable. changes() >= durable().
  uint64_t changes() const { return changes_; }
  uint64_t durable() const { return durable_; }

 private:
  uint64_t changes_ = 0;
  uint64_t written_ = 0;  // value of changes_ when the newest write began
  uint64_t durable_ = 0;
};

// Holds the results of a job's steps back until the record of their step, and
// of all earlier steps, is durable. `Result`: a movable type. Pure. Not
// thread-safe.
template <typename Result>
class HeldResults {
 public:
  // Call it before Hold of the same step.
  void CountChange() { order_.CountChange(); }

  // Takes `result`, and returns true, if it must wait. False: it may be sent
  // now, because the record is durable.
  bool Hold(Result& result) {
    const WriteOrder::Wait wait = order_.Next();
    if (wait == WriteOrder::Wait::kNone) return false;
    (wait == WriteOrder::Wait::kCurrentWrite ? in_write_ : later_)
        .push_back(std::move(result));
    return true;
  }

  // Begins a write if one is needed and none is in progress. Returns true if
  // so: the caller must then write the record as of the newest step, and call
  // EndWrite when this write has succeeded.
  bool BeginWrite() {
    if (!order_.Begin()) return false;
    in_write_ = std::exchange(later_, {});
    return true;
  }

  // The write has ended: the record is durable. Returns the results that may be
  // sent now, oldest first.
  std::vector<Result> EndWrite() {
    order_.End();
    return std::exchange(in_write_, {});
  }

  // Returns all held results, oldest first, and holds none of them any more.
  std::vector<Result> Drop() {
    std::vector<Result> dropped = std::exchange(in_write_, {});
    std::move(later_.begin(), later_.end(), std::back_inserter(dropped));
    later_.clear();
    return dropped;
  }

  uint64_t changes() const { return order_.changes(); }
  uint64_t durable() const { return order_.durable(); }

 private:
  WriteOrder order_;
  std::vector<Result> in_write_;  // results that wait for the current write
  std::vector<Result> later_;     // results that wait for the next write
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOURNAL_HELD_RESULTS_H_
