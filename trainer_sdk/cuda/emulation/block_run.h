#ifndef MUSTER_TRAINER_SDK_CUDA_EMULATION_BLOCK_RUN_H_
#define MUSTER_TRAINER_SDK_CUDA_EMULATION_BLOCK_RUN_H_

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace muster::emulation {

// A size or position in x and y, like CUDA's dim3 without the third dimension.
struct Extent {
  unsigned x = 1;
  unsigned y = 1;
};

// The order in which the emulated warps, and the threads of a warp, run: by
// ascending index (kForward) or by descending index (kBackward). A warp runs
// alone up to the next point at which the whole block must wait. A correct
// kernel gives the same result in both orders; a kernel that lacks a barrier
// usually gives different results.
enum class ThreadOrder { kForward, kBackward };

// Sets the thread order of kernels that the calling thread runs, while this
// object lives. The default is kForward.
class ScopedThreadOrder {
 public:
  explicit ScopedThreadOrder(ThreadOrder order);
  ~ScopedThreadOrder();
  ScopedThreadOrder(const ScopedThreadOrder&) = delete;
  ScopedThreadOrder& operator=(const ScopedThreadOrder&) = delete;

 private:
  const ThreadOrder before_;
};

// Runs a kernel's thread blocks one after another. The threads of a block are
// fibers of the calling thread. Fibers switch only where they must wait for
// each other, so that results are deterministic. All threads of a block must
// call Barrier at the same place, and all lanes of a warp must call Exchange at
// the same place. Otherwise the process aborts with a message that names the
// place. In CUDA such a mismatch is undefined behaviour.
class BlockRun {
 public:
  static constexpr unsigned kWarpSize = 32;
  // The largest number of threads that a GPU allows in a block.
  static constexpr unsigned kMaxThreads = 1024;

  // Runs a kernel: every thread of a grid of thread blocks calls `body`.
  static void RunGrid(Extent blocks, Extent threads,
                      const std::function<void()>& body);

  // The BlockRun of the kernel that the calling thread is running.
  static BlockRun& Current();

  const Extent& thread() const { return threads_at_[running_]; }
  const Extent& block() const { return block_; }
  const Extent& threads() const { return threads_; }
  const Extent& blocks() const { return blocks_; }

  // Emulates __syncthreads: blocks until all threads of the block have called
  // it.
  void Barrier(const std::source_location& here);
  // Emulates __shfl_xor_sync: returns the `value` of the lane whose number is
  // this lane's number XOR `lane_mask`.
  uint64_t Exchange(uint32_t mask, uint64_t value, int lane_mask,
                    const std::source_location& here);

 private:
  // The saved context of a fiber, for __builtin_setjmp. Unlike swapcontext,
  // __builtin_setjmp does not save the signal mask and is therefore faster.
  // setjmp cannot be used: AddressSanitizer intercepts setjmp, and would assume
  // at each switch of stacks that all stack frames have ended.
  using Context = void* [5];

  enum class State { kReady, kWaiting, kDone };

  struct Fiber {
    std::unique_ptr<char[]> stack;
    Context context;
    State state = State::kDone;
    // Number of warp exchanges (__shfl_xor_sync) in which the thread has taken
    // part.
    unsigned exchanges = 0;
  };

  // The state of a barrier or of a warp exchange: how many threads have
  // arrived, and the place in the source at which they wait.
  struct Gathering {
    unsigned arrived = 0;
    std::source_location place;
  };

  struct Warp {
    Gathering gathering;
    // The lanes' values in the current exchange and in the previous one. Both
    // are kept, because a lane may write its value for the next exchange before
    // all other lanes have read its value for the current exchange.
    std::array<std::array<uint64_t, kWarpSize>, 2> values;
  };

  BlockRun(Extent blocks, Extent threads, const std::function<void()>& body);

  void MakeFibers();
  void RunBlock(Extent block);
  // Runs a warp until each of its threads waits or has finished. Adds the
  // number of threads that finished to `done`. Returns whether any thread ran.
  bool RunWarp(unsigned warp, unsigned* done);
  // The main function of a fiber: runs the kernel's body once for each block.
  static void Enter();
  // Start (the first time) and Resume (later) switch from the scheduler to the
  // fiber with index running_. Yield switches back to the scheduler.
  void Start(const ucontext_t& begin);
  void Resume();
  void Yield();
  // Blocks the calling fiber until all fibers [first, first + size) of the
  // block have called Gather with `gathering`.
  void Gather(Gathering& gathering, unsigned first, unsigned size,
              const char* what, const std::source_location& here);
  std::string Stuck() const;

  const Extent blocks_;
  const Extent threads_;
  const std::function<void()>& body_;
  Extent block_;
  unsigned running_ = 0;
  std::vector<Extent> threads_at_;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  Gathering barrier_;
  Context scheduler_;
};

}  // namespace muster::emulation

#endif  // MUSTER_TRAINER_SDK_CUDA_EMULATION_BLOCK_RUN_H_
