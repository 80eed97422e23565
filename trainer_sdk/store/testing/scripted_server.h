#ifndef MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_
#define MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "base/owned_fd.h"

namespace muster {

// The server's end of one connection, for test scripts. Calls block for at most
// 30 seconds.
class ScriptedPeer {
 public:
  explicit ScriptedPeer(OwnedFd socket);

  // Receives exactly `bytes` bytes; fewer if the client closes the connection.
  std::string Receive(size_t bytes);
  void Send(const std::string& bytes);
  // Receives the client's VALIDATE and PING requests, and answers the PING.
  void Greet();
  // Discards received data until the client closes the connection.
  void AwaitClose();

 private:
  friend class ScriptedServer;
  OwnedFd socket_;
};

// A server on 127.0.0.1 that misbehaves as a test requires. Runs a script for
// each connection, on one thread per connection, and closes the connection when
// the script returns.
class ScriptedServer {
 public:
  // `script` gets the connection, and the number of connections accepted before
  // it.
  explicit ScriptedServer(
      std::function<void(ScriptedPeer& peer, int connection)> script);
  ~ScriptedServer();

  int port() const { return port_; }

 private:
  void Accept();

  const std::function<void(ScriptedPeer& peer, int connection)> script_;
  OwnedFd listener_;
  int port_ = 0;
  // the threads that run scripts; used only by the thread that accepts
  // connections
  std::list<std::thread> scripts_;
  std::thread accepting_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_STORE_TESTING_SCRIPTED_SERVER_H_
