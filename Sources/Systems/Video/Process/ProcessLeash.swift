#if Video
  import Dispatch
  import Glibc

  /// A thread that starts a process and then only waits. The process asks the kernel to end it with the thread that has started it
  /// (`daemon_die_with_parent`), so `end` is how a confined process, which may send no signal, kills one of its own.
  // Safe: `process` is written once, before `init` returns.
  final class ProcessLeash: @unchecked Sendable {
    /// The process, or −errno if it could not be started.
    private(set) var process: pid_t = -EAGAIN
    private let hasStarted = DispatchSemaphore(value: 0)
    private let isOver = DispatchSemaphore(value: 0)
    private var thread: pthread_t?
    private let start: () -> pid_t

    /// - Parameter start: starts the process, on the new thread. Returns its id or −errno.
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

    /// Kills the process, which has to be waited for. Once, and before the last reference is given up.
    func end() {
      guard let thread else { return }
      isOver.signal()
      pthread_join(thread, nil)
      self.thread = nil
    }
  }
#endif
