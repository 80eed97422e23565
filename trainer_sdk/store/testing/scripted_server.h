#ifndef MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_
#define MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "base/owned_fd.h"

namespace muster {

// The server's end of one connection. Blocking; every call gives up after 30
// seconds.
class ScriptedPeer {
 public:
  explicit ScriptedPeer(OwnedFd socket);

  // Receives exactly `bytes` bytes; fewer if the client closed.
  std::string Receive(size_t bytes);
  void Send(const std::string& bytes);
  // Receives VALIDATE and PING, and answers PING.
  void Greet();
  // Discards input until the client closes.
  void AwaitClose();

 private:
  friend class ScriptedServer;
  OwnedFd socket_;
};

// A server on 127.0.0.1 that misbehaves as a test demands: it runs a script on
// each connection, in a thread of its own, and closes the connection when the
// script returns.
class ScriptedServer {
 public:
  // `script` gets the connection and the number of connections before it.
  explicit ScriptedServer(
      std::function<void(ScriptedPeer& peer, int connection)> script);
  ~ScriptedServer();

  int port() const { return port_; }

 private:
  void Accept();

  const std::function<void(ScriptedPeer& peer, int connection)> script_;
  OwnedFd listener_;
  int port_ = 0;
  std::list<std::thread> scripts_;  // used by the accepting thread
  std::thread accepting_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_
