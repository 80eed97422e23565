#ifndef MUSTER_AGENT_TERMINAL_TERMINAL_BRIDGE_H_
#define MUSTER_AGENT_TERMINAL_TERMINAL_BRIDGE_H_

#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "agent/terminal/terminal.h"
#include "base/owned_fd.h"

namespace muster::agent {

// The terminal on which this process runs, if one of its descriptors 0 to 2 is
// its controlling terminal. Forwards keys to a worker's pseudo-terminal, and
// passes on the terminal's size and job control.
//
// Keys are read only while this process is in the terminal's foreground; in the
// background the shell reads them. Thread-safe except for the constructor; owns
// a thread while keys are forwarded.
class TerminalBridge {
 public:
  // A callback that receives the terminal, and the modes that another process
  // must restore if this process is killed. Null modes: nothing to restore.
  // Called by Forward and Release.
  using OnModes = std::function<void(int fd, const TerminalModes* modes)>;
  explicit TerminalBridge(OnModes on_modes = nullptr);
  // Calls Release: ends FollowSize and Forward, and restores the terminal's
  // modes.
  ~TerminalBridge();

  TerminalBridge(const TerminalBridge&) = delete;
  TerminalBridge& operator=(const TerminalBridge&) = delete;

  // The signals of job control that this process must catch, and block in every
  // thread; empty if this process has no terminal.
  static std::vector<int> Signals();

  // The kind of descriptor 0: the controlling terminal, with this process in
  // its foreground or background; or something else.
  enum class Stdin { kOther, kForeground, kBackground };
  static Stdin LookAtStdin();

  // Starts to keep a worker's pseudo-terminals at the size of this process's
  // terminal. A closed descriptor is ignored. `controlling` may be the worker's
  // controlling terminal. It is resized last, because its resize sends SIGWINCH
  // to the worker, and the worker's handler must find the new size on both
  // pseudo-terminals.
  void FollowSize(OwnedFd controlling, OwnedFd other);
  // Starts forwarding the keys that are typed at descriptor 0 to the
  // pseudo-terminal `master`.
  void Forward(OwnedFd master);
  // Ends FollowSize and Forward, and restores the terminal's modes.
  void Release();

  // Gives the terminal's new size to the worker's pseudo-terminals. Must be
  // called after SIGWINCH.
  void Resized();
  // Sets the terminal's modes again if necessary. Must be called after SIGCONT,
  // because a shell may have changed the modes.
  void Continued();
  // Restores the terminal's modes and stops this process, like Ctrl-Z. Returns
  // after SIGCONT. Returns at once if no process could send SIGCONT, because
  // the session has no process outside of this process's group.
  void Stop();

 private:
  void Run(int master);
  void Wake();
  bool IsEnding();
  // Whether this process is in the terminal's foreground and may read the typed
  // keys. If so, also sets the terminal's modes for forwarding the keys to the
  // worker.
  bool TakeForeground();
  // Corrects bytes that were typed before a change of the terminal's modes and
  // are read after it. Linux has replaced an end-of-input character (Ctrl-D) in
  // such bytes by a NUL byte; RestoreTypedEnds restores the character.
  void RestoreTypedBefore(std::string& typed);
  void RestoreLocked();
  void ResizeLocked();

  const OnModes on_modes_;
  const int terminal_;  // descriptor 0, 1 or 2 of the terminal; -1: no terminal
  // An eventfd that interrupts the wait of the thread in Run. That thread then
  // checks whether it must end, and whether this process is in the terminal's
  // foreground.
  OwnedFd wake_;
  std::thread thread_;

  std::mutex mutex_;  // guards the fields below
  bool ending_ = false;
  bool stopped_ = false;
  // Whether the terminal is now set to the modes in which keys are forwarded.
  bool forwarding_ = false;
  // The terminal's modes just before they were set for forwarding, if typed
  // bytes were unread then: these bytes were typed in these modes. nullopt:
  // there are no such bytes.
  std::optional<termios> typed_in_;
  // The terminal's modes; known once this process has been in the foreground.
  std::optional<TerminalModes> modes_;
  // The agent's ends (masters) of the worker's pseudo-terminals that are kept
  // at the terminal's size; the worker's controlling terminal is the last.
  std::vector<OwnedFd> sized_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TERMINAL_TERMINAL_BRIDGE_H_
