#include "rendezvous/journal/held_results.h"

namespace muster::rendezvous {

WriteOrder::Wait WriteOrder::Next() const {
  if (durable_ == changes_) return Wait::kNone;
  return written_ == changes_ ? Wait::kCurrentWrite : Wait::kNextWrite;
}

bool WriteOrder::Begin() {
  if (written_ == changes_ || written_ != durable_) return false;
  written_ = changes_;
  return true;
}

void WriteOrder::End() { durable_ = written_; }

}  // namespace muster::rendezvous
