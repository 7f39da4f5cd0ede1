// A fiber: a stack of its own on the host thread. The scheduler resumes it, it suspends itself, and
// when its task is done it waits for the next one.
#pragma once

#include <cstddef>

namespace executor {

class Fiber {
 public:
  using Task = void (*)();

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;

  /// Runs the task, or goes on with it, until it suspends itself or ends.
  void resume();
  /// Called from inside a fiber: back to resume().
  static void suspend();

  /// The task to be begun by the next resume(). The one before must have ended or been forgotten.
  void begin(Task task) { task_ = task; }
  /// Gives up a task that has not ended; its stack is not unwound.
  void forget();

 private:
  static void loop();
  void prepare();

  void* context_ = nullptr;  // the stack pointer, or a ucontext_t
  Task task_ = nullptr;
  char* memory_;
  void* race_fiber_ = nullptr;
};

}  // namespace executor
