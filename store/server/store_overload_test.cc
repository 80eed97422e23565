// Tests of a server whose clients request more data than it may buffer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/little_endian.h"
#include "base/time.h"
#include "store/server/store_server.h"
#include "store/testing/raw_client.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using C = StoreCommand;

const StoreRequest kGetLarge = {.command = C::kGet, .key = "large"};

class StoreOverloadTest : public testing::Test {
 protected:
  // Starts a server with a low limit for unread replies. Requests wait once the
  // unread replies of all clients together exceed about four times the size of
  // the value of the key "large".
  void Start(Duration timeout) {
    StoreServerOptions options;
    options.max_buffer_bytes = 8 * kMaxStoreValueBytes + 4096;
    options.timeout = timeout;
    options.on_notice = [this](const std::string& sentence) {
      const std::lock_guard<std::mutex> lock(mutex_);
      notices_.push_back(sentence);
    };
    auto server = StoreServer::Start(std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    setter_ = std::make_unique<RawClient>(server_->port());
    for (size_t i = 0; i < kMaxStoreValueBytes; ++i) {
      value_.push_back(static_cast<char>(i % 251));
    }
    setter_->Set("large", value_);
    EXPECT_EQ(setter_->Add("n", 1), 1);
    AppendInteger(uint64_t{value_.size()}, &reply_);
    reply_ += value_;
  }
  std::vector<std::string> Notices() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return notices_;
  }

  std::mutex mutex_;
  std::vector<std::string> notices_;
  std::unique_ptr<StoreServer> server_;
  std::unique_ptr<RawClient> setter_;
  std::string value_;
  std::string reply_;
};

TEST_F(StoreOverloadTest, ManyReadersAtOnceAreAllServed) {
  Start(std::chrono::seconds(30));
  ManyClients readers(server_->port(), 40);
  readers.SendByAll(kGetLarge);
  EXPECT_EQ(readers.CountReceivers(reply_), 40);
  EXPECT_THAT(Notices(), IsEmpty());
}

TEST_F(StoreOverloadTest, AClientThatDoesNotReadIsClosedAndTheOthersGoOn) {
  Start(std::chrono::milliseconds(100));
  auto deaf = std::make_unique<ManyClients>(server_->port(), 6);
  deaf->SendByAll(kGetLarge);
  // Too many replies are unread, so each ADD waits. The server answers the ADD
  // once it has closed some of the clients that do not read.
  for (int i = 2; Notices().empty(); ++i) {
    ASSERT_EQ(setter_->Add("n", 1), i);
  }
  EXPECT_THAT(Notices(), Each(HasSubstr("waited 0.1 s for it to read")));
  // A new client gets its whole reply although some clients that do not read
  // are still connected.
  ManyClients reader(server_->port(), 1);
  reader.SendByAll(kGetLarge);
  EXPECT_EQ(reader.CountReceivers(reply_), 1);
  deaf.reset();
  EXPECT_EQ(setter_->Get("large"), value_);
}

// When the overload begins, one request has been received only in part, and
// another not at all. Both must be handled after the overload.
TEST_F(StoreOverloadTest, RequestsThatWaitAreNotLost) {
  Start(std::chrono::milliseconds(100));
  RawClient half(server_->port());
  std::string set;
  AppendRequest({.command = C::kSet, .key = "half", .value = value_}, &set);
  half.Send(std::string_view(set).substr(0, 100));
  auto deaf = std::make_unique<ManyClients>(server_->port(), 6);
  deaf->SendByAll(kGetLarge);
  half.Send(std::string_view(set).substr(100));
  // This client sends a SET and disconnects before the server handles the SET.
  // The server must handle it nevertheless.
  {
    RawClient last_words(server_->port(), RawClient::Greeting::kNone);
    last_words.Send({.command = C::kValidate, .number = kStoreMagic});
    last_words.Set("last words", "v");
  }
  setter_->StartWait("last words");
  EXPECT_TRUE(setter_->Released());
  deaf.reset();
  EXPECT_TRUE(half.Get("half") == value_);
}

}  // namespace
}  // namespace muster::store
