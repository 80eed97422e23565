#ifndef MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_
#define MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "base/owned_fd.h"

namespace muster {

// The server's end of one connection, blocking; gives up after half a minute.
class ScriptedPeer {
 public:
  explicit ScriptedPeer(OwnedFd socket);

  // Exactly so many bytes; fewer where the client went.
  std::string Receive(size_t bytes);
  void Send(const std::string& bytes);
  // Receives VALIDATE and PING and answers the latter.
  void Greet();
  // Waits until the client closes, whatever it still says.
  void AwaitClose();

 private:
  friend class ScriptedServer;
  OwnedFd socket_;
};

// Does what a store would not: a server on 127.0.0.1 that plays a script on
// each connection, in a thread of its own. When the script returns the
// connection is closed.
class ScriptedServer {
 public:
  // `script` gets the connection and how many came before it.
  explicit ScriptedServer(
      std::function<void(ScriptedPeer& peer, int connection)> script);
  ~ScriptedServer();

  int port() const { return port_; }

 private:
  void Accept();

  const std::function<void(ScriptedPeer& peer, int connection)> script_;
  OwnedFd listener_;
  int port_ = 0;
  std::list<std::thread> scripts_;  // of the accepting thread
  std::thread accepting_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_
