#include "trainer_sdk/cuda/emulation/block_run.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/check.h"
#include "trainer_sdk/cuda/emulation/shared_array.h"

// Attributes of functions that switch to another stack. Without noipa, GCC
// (-fipa-ra) would assume that a call of such a function preserves registers.
// Sanitizers must not instrument these functions.
#define MUSTER_SWITCHES_STACKS \
  __attribute__((noipa, no_sanitize_address, no_sanitize_undefined))

namespace muster::emulation {
namespace {

// The size of a fiber's stack in bytes. It can be small, because kernels have
// no deep calls.
constexpr size_t kStackBytes = 64 << 10;

thread_local BlockRun* current = nullptr;
thread_local ThreadOrder thread_order = ThreadOrder::kForward;

std::string Name(const std::source_location& place) {
  std::ostringstream name;
  name << place.file_name() << ":" << place.line();
  return name.str();
}

bool Same(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         std::string_view(a.file_name()) == b.file_name();
}

MUSTER_SWITCHES_STACKS void JumpTo(void** context) {
  __builtin_longjmp(context, 1);
}

}  // namespace

ScopedThreadOrder::ScopedThreadOrder(ThreadOrder order)
    : before_(thread_order) {
  thread_order = order;
}

ScopedThreadOrder::~ScopedThreadOrder() { thread_order = before_; }

BlockRun& BlockRun::Current() {
  MUSTER_CHECK(current != nullptr) << "device code outside of a kernel";
  return *current;
}

BlockRun::BlockRun(Extent blocks, Extent threads,
                   const std::function<void()>& body)
    : blocks_(blocks), threads_(threads), body_(body) {
  for (unsigned y = 0; y < threads.y; ++y) {
    for (unsigned x = 0; x < threads.x; ++x) threads_at_.push_back({x, y});
  }
  fibers_.resize(threads_at_.size());
  warps_.resize((fibers_.size() + kWarpSize - 1) / kWarpSize);
}

void BlockRun::MakeFibers() {
  for (running_ = 0; running_ < fibers_.size(); ++running_) {
    Fiber& fiber = fibers_[running_];
    fiber.stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    ucontext_t begin;
    getcontext(&begin);
    begin.uc_stack.ss_sp = fiber.stack.get();
    begin.uc_stack.ss_size = kStackBytes;
    begin.uc_link = nullptr;
    makecontext(&begin, &BlockRun::Enter, 0);
    Start(begin);
  }
}

void BlockRun::Enter() {
  BlockRun& run = *current;
  for (;;) {
    // Yield returns when the scheduler resumes this fiber to run the next
    // thread block.
    run.Yield();
    run.body_();
    run.fibers_[run.running_].state = State::kDone;
  }
}

MUSTER_SWITCHES_STACKS void BlockRun::Start(const ucontext_t& begin) {
  if (__builtin_setjmp(scheduler_) == 0) setcontext(&begin);
}

MUSTER_SWITCHES_STACKS void BlockRun::Resume() {
  if (__builtin_setjmp(scheduler_) == 0) JumpTo(fibers_[running_].context);
}

MUSTER_SWITCHES_STACKS void BlockRun::Yield() {
  if (__builtin_setjmp(fibers_[running_].context) == 0) JumpTo(scheduler_);
}

void BlockRun::RunGrid(Extent blocks, Extent threads,
                       const std::function<void()>& body) {
  MUSTER_CHECK(current == nullptr) << "a kernel launches a kernel";
  const unsigned count = threads.x * threads.y;
  MUSTER_CHECK(count > 0 && count <= kMaxThreads)
      << "a block of " << count << " threads";
  MUSTER_CHECK(blocks.x > 0 && blocks.y > 0) << "a grid without blocks";
  MUSTER_CHECK(blocks.y <= 65535) << "a grid of " << blocks.y << " in y";
  BlockRun run(blocks, threads, body);
  current = &run;
  run.MakeFibers();
  for (unsigned y = 0; y < blocks.y; ++y) {
    for (unsigned x = 0; x < blocks.x; ++x) run.RunBlock({x, y});
  }
  current = nullptr;
}

void BlockRun::RunBlock(Extent block) {
  block_ = block;
  SharedMemory::Spoil();
  for (Warp& warp : warps_) warp = {};
  barrier_ = {};
  for (Fiber& fiber : fibers_) {
    fiber.state = State::kReady;
    fiber.exchanges = 0;
  }
  const auto count = static_cast<unsigned>(fibers_.size());
  for (unsigned done = 0; done < count;) {
    bool moved = false;
    for (unsigned i = 0; i < warps_.size(); ++i) {
      moved |= RunWarp(thread_order == ThreadOrder::kForward
                           ? i
                           : static_cast<unsigned>(warps_.size()) - 1 - i,
                       &done);
    }
    MUSTER_CHECK(moved) << Stuck();
  }
}

bool BlockRun::RunWarp(unsigned warp, unsigned* done) {
  const unsigned first = warp * kWarpSize;
  const unsigned size =
      std::min(kWarpSize, static_cast<unsigned>(fibers_.size()) - first);
  bool moved = false;
  for (bool again = true; again;) {
    again = false;
    for (unsigned i = 0; i < size; ++i) {
      running_ =
          first + (thread_order == ThreadOrder::kForward ? i : size - 1 - i);
      if (fibers_[running_].state != State::kReady) continue;
      again = true;
      moved = true;
      Resume();
      if (fibers_[running_].state == State::kDone) ++*done;
    }
  }
  return moved;
}

std::string BlockRun::Stuck() const {
  std::ostringstream text;
  text << "in block (" << block_.x << ", " << block_.y << ") of "
       << fibers_.size() << " threads";
  if (barrier_.arrived > 0) {
    text << ", " << barrier_.arrived << " wait at the barrier of "
         << Name(barrier_.place);
  }
  for (size_t i = 0; i < warps_.size(); ++i) {
    const Gathering& gathering = warps_[i].gathering;
    if (gathering.arrived == 0) continue;
    text << ", " << gathering.arrived << " of warp " << i
         << " wait at the exchange of " << Name(gathering.place);
  }
  text << ", and the others don't come";
  return text.str();
}

void BlockRun::Gather(Gathering& gathering, unsigned first, unsigned size,
                      const char* what, const std::source_location& here) {
  if (gathering.arrived == 0) gathering.place = here;
  MUSTER_CHECK(Same(gathering.place, here))
      << "threads of one group are at the " << what << " of "
      << Name(gathering.place) << " and of " << Name(here);
  if (++gathering.arrived == size) {
    gathering.arrived = 0;
    for (unsigned i = first; i < first + size; ++i) {
      fibers_[i].state = State::kReady;
    }
    return;
  }
  fibers_[running_].state = State::kWaiting;
  Yield();
}

void BlockRun::Barrier(const std::source_location& here) {
  Gather(barrier_, 0, static_cast<unsigned>(fibers_.size()), "barrier", here);
}

uint64_t BlockRun::Exchange(uint32_t mask, uint64_t value, int lane_mask,
                            const std::source_location& here) {
  const unsigned lane = running_ % kWarpSize;
  const unsigned first = running_ - lane;
  MUSTER_CHECK(mask == 0xffffffff && first + kWarpSize <= fibers_.size())
      << "an exchange without a whole warp at " << Name(here);
  MUSTER_CHECK(lane_mask >= 0 && lane_mask < static_cast<int>(kWarpSize))
      << "no such lane at " << Name(here);
  Warp& warp = warps_[running_ / kWarpSize];
  auto& values = warp.values[fibers_[running_].exchanges++ % 2];
  values[lane] = value;
  Gather(warp.gathering, first, kWarpSize, "exchange", here);
  return values[lane ^ static_cast<unsigned>(lane_mask)];
}

}  // namespace muster::emulation
