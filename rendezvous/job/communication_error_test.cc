#include "rendezvous/job/communication_error.h"

#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

TEST(CommunicationError, MessagesOfALostPeer) {
  for (const char* const message :
       {"RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] "
        "Connection closed by peer [127.0.0.1]:1234",
        "torch.distributed.DistBackendError: NCCL error in: x.cpp:1",
        "DistNetworkError: The client socket has timed out after 1s",
        "BrokenPipeError: [Errno 32] Broken pipe",
        "ConnectionResetError: [Errno 104] Connection reset by peer",
        "exit code 1: rank 3 closed its connection"}) {
    EXPECT_TRUE(IsCommunicationError(message)) << message;
  }
}

TEST(CommunicationError, OtherMessages) {
  for (const char* const message :
       {"", "ValueError: bad batch", "exit code 3", "killed by SIGKILL (9)",
        "torch.cuda.OutOfMemoryError: CUDA out of memory",
        "RuntimeError: shape mismatch in peer_norm"}) {
    EXPECT_FALSE(IsCommunicationError(message)) << message;
  }
}

}  // namespace
}  // namespace muster::rendezvous
