#if Video
  import Dispatch
  import Glibc

  /// A thread that starts a process and then only waits. The process asks the kernel to end it together with the thread that started it
  /// (`daemon_die_with_parent`). A confined process, which may send no signals, can thus kill its child by `end`.
  // Safe: `process` is written once, before `init` returns.
  final class ProcessLeash: @unchecked Sendable {
    /// The process id, or −errno if the process could not be started.
    private(set) var process: pid_t = -EAGAIN
    private let hasStarted = DispatchSemaphore(value: 0)
    private let isOver = DispatchSemaphore(value: 0)
    private var thread: pthread_t?
    private let start: () -> pid_t

    /// Starts a process on a new thread.
    ///
    /// - Parameter start: starts the process on the new thread and returns its id or −errno.
    init(start: @escaping () -> pid_t) {
      self.start = start
      var thread = pthread_t()
      let created = pthread_create(
        &thread, nil,
        { context in
          let leash = Unmanaged<ProcessLeash>.fromOpaque(context!).takeRetainedValue()
          leash.process = leash.start()
          leash.hasStarted.signal()
          if leash.process > 0 { leash.isOver.wait() }
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
      guard created == 0 else {
        Unmanaged.passUnretained(self).release()
        return
      }
      self.thread = thread
      hasStarted.wait()
      if process <= 0 { end() }
    }

    /// Kills the process, for which the caller must then wait. The function is to be called once, before the last reference is released.
    func end() {
      guard let thread else { return }
      isOver.signal()
      pthread_join(thread, nil)
      self.thread = nil
    }
  }
#endif
