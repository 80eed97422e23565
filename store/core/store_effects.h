#ifndef MUSTER_STORE_CORE_STORE_EFFECTS_H_
#define MUSTER_STORE_CORE_STORE_EFFECTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// The number by which the server identifies a client; never reused.
using StoreClientId = uint64_t;

// The actions to carry out after a step of the store, in the order in which
// they were added. The bytes of all actions are in one buffer, which is reused,
// so that a step normally allocates nothing.
class StoreEffects {
 public:
  enum class Kind {
    kReply,
    // A reply to a WAIT that ended because a queue has one new element. If the
    // WAIT came from a relay (a node's proxy for the store), several of the
    // relay's clients may share this WAIT. The relay gives the reply to only
    // one of them.
    kReplyToOne,
    // An order to close the client's connection, because a request was invalid
    // or exceeded a limit. The bytes of the effect are the reason, as text.
    kClose,
  };

  struct Effect {
    StoreClientId client;
    Kind kind;
    size_t begin;
    size_t size;
  };

  // Adds a reply. The caller appends its bytes to the returned string before it
  // adds another effect.
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

  // Removes all effects. Frees the buffers only if they are unusually large.
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

}  // namespace muster::store

#endif  // MUSTER_STORE_CORE_STORE_EFFECTS_H_
