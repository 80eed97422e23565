#ifndef MUSTER_TRAINER_SDK_GLOO_GLOO_MESH_H_
#define MUSTER_TRAINER_SDK_GLOO_GLOO_MESH_H_

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/gloo/gloo_plugin.h"
#include "trainer_sdk/gloo/peer_watch.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/peer_name.h"

namespace muster {

// Deletes what the plugin has made, by one of its functions.
struct GlooDelete {
  void (*function)(void*) = nullptr;
  void operator()(void* made) const { function(made); }
};
using GlooHandle = std::unique_ptr<void, GlooDelete>;

// A mesh of Gloo pairs, whose own thread moves the bytes. Each rank first sends
// the next rank the signature of its collective. A message is preceded by its
// label, and a part of an all_to_all with counts by its length.
class GlooMesh final : public Mesh {
 public:
  // `context`: of `plugin`, for this rank and the ranks with these names.
  GlooMesh(const GlooPlugin& plugin, GlooHandle context, int rank,
           std::vector<PeerName> names);
  ~GlooMesh() override;

  // Call it once, before anything is sent. Detects the death of peers by
  // `sockets`, one connection to each rank but this one. The first death fails
  // the running and all later operations. `on_gone` is then called with the
  // error on a thread of the mesh's own, and may block.
  absl::Status Watch(std::vector<OwnedFd> sockets,
                     std::function<void(const absl::Status& gone)> on_gone);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(names_.size()); }
  const PeerName& name(int peer) const override { return names_[peer]; }
  absl::Status Begin(const OperationSignature& signature,
                     Instant deadline) override;
  void Send(int peer, const void* data, int64_t bytes) override;
  void SendMessage(int peer, const MessageLabel& label,
                   const void* data) override;
  Ticket Receive(int peer, void* data, int64_t bytes) override;
  Ticket ReceiveMessage(int peer, const MessageLabel& label,
                        void* data) override;
  absl::Status Wait(Ticket ticket) override;
  absl::Status Flush() override;
  absl::Status Finish() override;
  bool PeerHungUp() override {
    return watch_ != nullptr && watch_->PeerHungUp();
  }
  void Close() override;

  // For a mesh whose construction failed: called instead of Close, directly
  // before destruction. Sends no goodbye and resets no connection (see
  // GlooPlugin::reset_connections).
  void Abandon();

 private:
  // Text sent before a collective or a message.
  static constexpr int kNoteBytes = 192;
  using Note = std::array<char, kNoteBytes>;

  struct Outgoing {
    int peer = 0;
    std::unique_ptr<Note> note;  // data to send, if not the caller's
    GlooHandle buffer;
  };
  struct Incoming {
    int peer = 0;
    void* data = nullptr;
    int64_t bytes = 0;
    uint64_t slot = 0;
    bool message = false;
    MessageLabel label;
    // Text that arrives before the data; null if there is none, or once the
    // receive of the data is posted.
    std::unique_ptr<Note> note;
    GlooHandle buffer;  // the note's, later the data's
  };

  void Post(int peer, uint64_t slot, const void* data, int64_t bytes,
            std::unique_ptr<Note> note);
  GlooHandle PostReceive(int peer, uint64_t slot, void* data, int64_t bytes);
  GlooHandle NewBuffer(const void* data, int64_t bytes);
  // The outcome of a call of the plugin; an error names `peer`.
  absl::Status StatusOf(GlooOutcome outcome, int peer,
                        const GlooText& why) const;
  absl::Status WaitFor(int peer, void* buffer);
  // Waits by `wait`, which Close and the death of a peer interrupt.
  absl::Status WaitAt(int peer, void* buffer,
                      GlooOutcome (*wait)(void*, int64_t, GlooText*));
  // Records that `peer` is gone, and returns the error.
  absl::Status Gone(int peer);
  void Interrupt();            // ends the running wait; needs mutex_
  int64_t PatienceMs() const;  // until the deadline
  bool PartsAreNoted() const;
  void PostNote(int peer, uint64_t slot, const std::string& text);
  void PostNoteReceive(Incoming& incoming, uint64_t slot);
  // Waits for the note of `incoming`, if it has one, and posts the receive of
  // the data.
  absl::Status FollowNote(Incoming& incoming);
  absl::Status CompareLabel(const Incoming& incoming) const;
  absl::Status CompareLength(const Incoming& incoming) const;

  // Gloo sends no empty messages, so one byte with no meaning is sent instead.
  char nothing_ = 0;
  const GlooPlugin& plugin_;
  GlooHandle context_;
  const int rank_;
  const std::vector<PeerName> names_;

  OperationSignature signature_;
  Instant begun_;
  Instant deadline_;
  // number of parts in this operation, by peer
  std::vector<uint64_t> sent_, received_;
  std::deque<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;  // by ticket
  absl::Status failed_;             // error of a call that returns no status

  std::mutex mutex_;  // guards the three below
  bool closed_ = false;
  absl::Status gone_;  // error for the peer that died
  void* waited_for_ = nullptr;

  // Last: its thread uses the members above.
  std::unique_ptr<PeerWatch> watch_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_MESH_H_
