#include "agent/guardian/socket_folder.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace muster::agent {
namespace {

class SocketFolder : public ::testing::Test {
 protected:
  SocketFolder() {
    std::string pattern = "/tmp/folder-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~SocketFolder() override { std::filesystem::remove_all(folder_); }

  void MakeSocket(const std::string& name) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    (folder_ + "/" + name).copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
              0);
    close(fd);
  }
  bool Exists(const std::string& name = "") {
    return std::filesystem::exists(folder_ + "/" + name);
  }

  std::string folder_;
};

TEST_F(SocketFolder, GoesWithItsSockets) {
  MakeSocket("1.0");
  MakeSocket("1.1");
  RemoveSocketFolder(folder_);
  EXPECT_FALSE(Exists());
  // The folder no longer exists: a second call does nothing.
  RemoveSocketFolder(folder_);
}

TEST_F(SocketFolder, GoesWithTheNoticeOfAPreemption) {
  MakeSocket("1.0");
  std::ofstream(folder_ + "/" + kFileAmongSockets) << "{}";
  RemoveSocketFolder(folder_);
  EXPECT_FALSE(Exists());
}

TEST_F(SocketFolder, OtherFilesAreKept) {
  MakeSocket("1.0");
  std::ofstream(folder_ + "/precious") << "bytes";
  RemoveSocketFolder(folder_);
  EXPECT_FALSE(Exists("1.0"));
  EXPECT_TRUE(Exists("precious"));
}

TEST_F(SocketFolder, ALinkIsNotFollowed) {
  MakeSocket("1.0");
  const std::string link = folder_ + "-link";
  std::filesystem::create_symlink(folder_, link);
  RemoveSocketFolder(link);
  std::filesystem::remove(link);
  EXPECT_TRUE(Exists("1.0"));
}

}  // namespace
}  // namespace muster::agent
