#ifndef MUSTER_TRAINER_SDK_GLOO_GLOO_MESH_H_
#define MUSTER_TRAINER_SDK_GLOO_GLOO_MESH_H_

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

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
#include "trainer_sdk/gloo/peer_watch.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/peer_name.h"

namespace muster {

// A mesh of Gloo's pairs, whose own thread moves the bytes. Before a
// collective's data each rank tells the next what it is about to do, before a
// message's its label, and before a part of an all_to_all with counts its
// length.
class GlooMesh final : public Mesh {
 public:
  GlooMesh(std::shared_ptr<gloo::Context> context, std::vector<PeerName> names);
  ~GlooMesh() override;

  // Once, before anything is sent: notices the ends of peers by `sockets`, a
  // connection to each, by rank, none for this one. The first such end fails
  // what is under way and whatever comes later; `on_gone` is told it by a
  // thread of the mesh's own, and may take its time.
  absl::Status Watch(std::vector<OwnedFd> sockets,
                     std::function<void(const absl::Status& gone)> on_gone);

  int rank() const override { return context_->rank; }
  int size() const override { return context_->size; }
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

  // For a mesh whose making failed, instead of Close and right before its end:
  // no goodbye is said, and nothing is reset (see MeshContext).
  void Abandon();

 private:
  using Buffer = gloo::transport::UnboundBuffer;

  // What goes ahead of a collective or a message, as text.
  static constexpr int kNoteBytes = 192;
  using Note = std::array<char, kNoteBytes>;

  struct Outgoing {
    int peer = 0;
    std::unique_ptr<Note> note;  // what is sent, if it is not the caller's
    std::unique_ptr<Buffer> buffer;
  };
  struct Incoming {
    int peer = 0;
    void* data = nullptr;
    int64_t bytes = 0;
    uint64_t slot = 0;
    bool message = false;
    MessageLabel label;
    // What goes ahead of the data, as it comes; null where nothing does or the
    // data's receive is posted.
    std::unique_ptr<Note> note;
    std::unique_ptr<Buffer> buffer;  // the note's, then the data's
  };

  void Post(int peer, uint64_t slot, const void* data, int64_t bytes,
            std::unique_ptr<Note> note);
  std::unique_ptr<Buffer> PostReceive(int peer, uint64_t slot, void* data,
                                      int64_t bytes);
  // Calls Gloo; what it throws is told of `peer`.
  absl::Status Guard(int peer, const std::function<bool()>& call);
  absl::Status WaitFor(int peer, Buffer* buffer);
  // Waits by `wait`, which Close and a peer's end interrupt.
  absl::Status WaitAt(int peer, Buffer* buffer,
                      const std::function<bool()>& wait);
  // Takes in that it is, and says so.
  absl::Status Gone(int peer);
  void Interrupt();  // the wait under way; mutex_ is held
  std::chrono::milliseconds Patience() const;  // until the deadline
  bool PartsAreNoted() const;
  void PostNote(int peer, uint64_t slot, const std::string& text);
  void PostNoteReceive(Incoming& incoming, uint64_t slot);
  // Waits for `incoming`'s note, if it has one, and posts the data's receive.
  absl::Status FollowNote(Incoming& incoming);
  absl::Status CompareLabel(const Incoming& incoming) const;
  absl::Status CompareLength(const Incoming& incoming) const;

  // Gloo moves no empty messages: one byte, never looked at, stands for none.
  char nothing_ = 0;
  std::shared_ptr<gloo::Context> context_;
  const std::vector<PeerName> names_;

  OperationSignature signature_;
  Instant begun_;
  Instant deadline_;
  std::vector<uint64_t> sent_, received_;  // parts in this operation, by peer
  std::deque<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;  // by ticket
  absl::Status failed_;             // of a call that has no status

  std::mutex mutex_;  // guards the three below
  bool closed_ = false;
  absl::Status gone_;  // who died, once that is known
  Buffer* waited_for_ = nullptr;

  // Last: its thread uses the above.
  std::unique_ptr<PeerWatch> watch_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_GLOO_GLOO_MESH_H_
