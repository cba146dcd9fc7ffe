import NIOCore

/// Runs the tasks of one event loop's connections on that event loop: what a client sends is read, admitted and handed to its system on one thread,
/// and waits for none of those that make answers.
final class LoopExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Adds a job without waiting; called by the concurrency runtime for each job of a task that prefers this executor.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
