#ifndef MUSTER_STORE_CORE_STORE_EFFECTS_H_
#define MUSTER_STORE_CORE_STORE_EFFECTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// A client of the store, by whatever number its driver gives it; never reused.
using StoreClientId = uint64_t;

// What is to be done after a step of the store, in this order. Holds its bytes
// in one buffer, so that a step in the steady state allocates nothing.
class StoreEffects {
 public:
  enum class Kind {
    kReply,
    // A reply to a WAIT that one element of a queue caused: where several wait
    // behind one client id (a relay's), only one of them may have it.
    kReplyToOne,
    // The client broke a rule; its connection ends. The bytes say why.
    kClose,
  };

  struct Effect {
    StoreClientId client;
    Kind kind;
    size_t begin;
    size_t size;
  };

  // The reply's bytes are appended to what this returns, before another effect
  // is added.
  std::string* AddReply(StoreClientId client, Kind kind = Kind::kReply) {
    Finish();
    effects_.push_back({client, kind, bytes_.size(), 0});
    return &bytes_;
  }
  void AddClose(StoreClientId client, std::string_view reason) {
    AddReply(client, Kind::kClose)->append(reason);
  }

  const std::vector<Effect>& All() {
    Finish();
    return effects_;
  }
  std::string_view BytesOf(const Effect& effect) const {
    return std::string_view(bytes_).substr(effect.begin, effect.size);
  }
  bool empty() const { return effects_.empty(); }

  // Forgets all effects; keeps memory for as much as is usual.
  void Clear() {
    effects_.clear();
    bytes_.clear();
    if (bytes_.capacity() > kUsualBytes) bytes_.shrink_to_fit();
    if (effects_.capacity() > kUsualEffects) effects_.shrink_to_fit();
  }

 private:
  static constexpr size_t kUsualBytes = size_t{1} << 20;
  static constexpr size_t kUsualEffects = 4096;

  void Finish() {
    if (!effects_.empty() && effects_.back().size == 0) {
      effects_.back().size = bytes_.size() - effects_.back().begin;
    }
  }

  std::vector<Effect> effects_;
  std::string bytes_;
};

}  // namespace muster

#endif  // MUSTER_STORE_CORE_STORE_EFFECTS_H_
