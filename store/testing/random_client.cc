#include "store/testing/random_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/little_endian.h"
#include "store/wire/request.h"

namespace muster::store {
namespace {

// Not a distribution of the standard library, so that a seed gives the same
// sequence on every platform.
size_t Below(size_t bound, std::mt19937* random) { return (*random)() % bound; }

}  // namespace

void RandomClient::Send(StoreCommand command, std::string_view key) {
  StoreRequest request{.command = command, .key = key, .value = "v"};
  if (command == StoreCommand::kWait) request.keys = keys_;
  store_->Send(id_, request);
  silent_ = false;
}

void RandomClient::Leave(SimulatedStore::Unread unread) {
  if (gone()) return;
  state_ = State::kGone;
  store_->Disconnect(id_, unread);
}

bool RandomClient::GoOn() {
  if (state_ != State::kTold) return false;
  state_ = State::kPops;
  Send(StoreCommand::kQueuePop, keys_[0]);
  return true;
}

void RandomClient::GiveUpBy(State state, StoreCommand command,
                            std::string_view key) {
  state_ = state;
  gave_up_ = true;
  Send(command, key);
}

void RandomClient::Wait(std::vector<std::string_view> keys) {
  keys_ = std::move(keys);
  state_ = State::kWaits;
  Send(StoreCommand::kWait, "");
}

void RandomClient::Act(std::mt19937* random) {
  const bool may_end = state_ == State::kIdle || state_ == State::kWaits ||
                       state_ == State::kTold;
  if (may_end && Below(24, random) == 0) {
    // Its requests in flight may still arrive, or are lost with the connection.
    return Leave(Below(2, random) == 0 ? SimulatedStore::Unread::kArrives
                                       : SimulatedStore::Unread::kIsLost);
  }
  if (GoOn()) return;
  if (state_ == State::kIdle) return Begin(random);
  if (state_ != State::kWaits || Below(24, random) != 0) return;
  // The client gives up; an old client cannot cancel, so it sends another
  // request.
  if (framing_ == StoreFraming::kModern) {
    GiveUpBy(State::kCancels, StoreCommand::kCancelWait, "");
  } else {
    GiveUpBy(State::kAsks, StoreCommand::kGet, "k");
  }
}

void RandomClient::Begin(std::mt19937* random) {
  const std::string_view queue = Below(3, random) == 0 ? "r" : "q";
  const bool modern = framing_ == StoreFraming::kModern;
  const size_t choice = Below(22, random);
  waits_to_pop_ = modern && choice < 6;
  if (choice < 7) {
    Wait({queue});
  } else if (choice == 7) {
    Wait({queue, "k"});
  } else if (choice == 8) {
    Wait({"r", "q", "r"});
  } else if (choice == 9) {
    Wait({"k"});
  } else if (choice < 15) {
    // Keeps the queues short, so that clients have to wait for elements.
    if (modern && store_->LengthOf(queue) < 4) {
      Send(StoreCommand::kQueuePush, queue);
    }
  } else if (choice < 17) {
    Send(StoreCommand::kSet, "k");
  } else if (choice < 20) {
    state_ = State::kAsks;
    Send(choice == 17 ? StoreCommand::kDelete : StoreCommand::kGet, "k");
  } else if (choice == 20 && modern && told_ == Told::kMayFindNothing) {
    state_ = State::kPops;
    Send(StoreCommand::kQueuePop, queue);
  }
}

bool RandomClient::Read() {
  if (gone()) return false;
  const std::optional<SimulatedStore::Input> input = store_->Read(id_);
  if (!input) return false;
  if (input->refused) {
    ++tally_->refused;
    Leave(SimulatedStore::Unread::kIsLost);
    return true;
  }
  const std::string_view reply = input->bytes;
  if (reply.size() == 1 && reply[0] == kStoreStopWaiting) {
    EXPECT_TRUE(state_ == State::kWaits || gave_up_)
        << "client " << id_ << " is told twice";
    if (state_ == State::kWaits) {
      state_ = waits_to_pop_ ? State::kTold : State::kIdle;
      silent_ = true;
    }
    gave_up_ = false;
    return true;
  }
  if (state_ == State::kPops) {
    ReadElement(reply);
  } else if (state_ == State::kCancels) {
    EXPECT_EQ(reply, std::string(1, kStoreWaitCanceled));
    ++tally_->canceled;
  } else {
    EXPECT_EQ(static_cast<int>(state_), static_cast<int>(State::kAsks))
        << "client " << id_ << " did not ask";
  }
  state_ = State::kIdle;
  gave_up_ = false;
  return true;
}

void RandomClient::ReadElement(std::string_view reply) {
  const bool found = ReadInteger<int64_t>(reply) > 0;
  ++(found ? tally_->found : tally_->found_nothing);
  EXPECT_TRUE(found || told_ == Told::kMayFindNothing)
      << "client " << id_ << " was told of an element that is not there";
}

bool RandomClient::WaitsFor(std::string_view key) const {
  return state_ == State::kWaits && keys_ == std::vector<std::string_view>{key};
}

bool RandomClient::MayHold(std::string_view queue) const {
  return !gone() && silent_ &&
         std::find(keys_.begin(), keys_.end(), queue) != keys_.end();
}

}  // namespace muster::store
