import CDaemon
import Dispatch
import Glibc
import Logging
import Synchronization
import Tactus

/// A program that runs beside the daemon as a child process. A thread of its own starts the process, sends it settings
/// and orders, reads its messages, kills it if it hangs, and starts it again after it has ended. `ChildSupervision`
/// makes the decisions.
///
/// The child's descriptor 3 is a socket over which both sides speak `Talk`. Its standard input and output lead nowhere,
/// and its environment contains only the variables that a child may know. Its standard error is logged. When its end of
/// the socket is closed, the daemon has ended.
public final class Child<Talk: ChildTalk>: Sendable {
  struct State {
    var orders: [(order: Talk.Order, file: Int32?)] = []
    /// The process, or `nil` if none runs.
    var process: pid_t?
    /// The first message to the next process, or `nil` if the child gets no settings.
    var settings: Talk.Order?
    /// Whether the running process has outdated settings.
    var isOutdated = false
    /// The functions to call when a process with the present settings has received them.
    var told: [@Sendable () -> Void] = []
  }

  let program: ChildProgram
  let heard: @Sendable (Talk.Word) -> Void
  let changed: @Sendable (ChildReport) -> Void
  let logger: Logger
  let state: Mutex<State>
  let isStopping = Atomic<Bool>(false)
  let bell: Doorbell
  private let ended = DispatchGroup()
  /// The queue on which files for the child are created, which may wait for a disk.
  private let files: DispatchQueue

  /// Declares the program to start. A confined daemon can start no other programs.
  ///
  /// - Parameters:
  ///   - settings: the first message to each process, or `nil` if the child gets no settings.
  ///   - logger: the logger, whose lines name the child by the program's `title`.
  ///   - heard: called with each message of the child, on the child's thread, as is `changed`.
  ///   - changed: called when the child has started or ended.
  /// - Throws: `RuntimeError.system` if the process or the machine has no free descriptor.
  init(
    _ program: ChildProgram, settings: Talk.Order?, logger: Logger, heard: @escaping @Sendable (Talk.Word) -> Void,
    changed: @escaping @Sendable (ChildReport) -> Void
  ) throws(RuntimeError) {
    (self.program, self.logger, self.heard, self.changed) = (program, logger, heard, changed)
    state = Mutex(State(settings: settings))
    bell = try Doorbell()
    files = DispatchQueue(label: "tactus.child.files")
    program.withArguments { _ = daemon_declare(program.path, $0) }
  }

  /// Sends an order to the process. Safe to call from any thread; does not block. The order is lost if no process runs,
  /// which `changed` reports.
  public func send(_ order: Talk.Order) { enqueue(order, file: nil) }

  /// Sends an order together with a new file. The file is created here and passed as an open descriptor, because the
  /// process cannot create files. Another thread waits for the disk.
  ///
  /// - Parameters:
  ///   - path: the path of the file; an existing file is not opened.
  ///   - failed: called with the reason if the file cannot be created; the order is not sent then.
  public func send(
    _ order: Talk.Order, withNewFile path: String, failed: @escaping @Sendable (_ reason: String) -> Void
  ) {
    files.async { [self] in
      let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
      guard file < 0 else { return enqueue(order, file: file) }
      failed("\(path): \(String(cString: strerror(errno)))")
    }
  }

  /// Sends an order without a file, after all orders with files that were sent before.
  public func sendBehindFiles(_ order: Talk.Order) { files.async { self.enqueue(order, file: nil) } }

  /// Ends the process and starts one with other settings.
  ///
  /// - Parameter told: called on any thread when the new process has received the settings.
  public func replace(_ settings: Talk.Order, told: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.settings = settings
      state.isOutdated = true
      state.told.append(told)
    }
    bell.button.ring()
  }

  private func enqueue(_ order: Talk.Order, file: Int32?) {
    let isTaken = state.withLock { state in
      guard state.process != nil, state.orders.count < 256 else { return false }
      state.orders.append((order, file))
      return true
    }
    if !isTaken, let file { close(file) }
    bell.button.ring()
  }
}

extension Child: RunsBeside {
  func start() {
    ended.enter()
    // The block does not return until the end, so the queue is one thread, to which the kernel binds the child.
    DispatchQueue(label: "tactus.child").async {
      var run = ChildRun(self)
      run.run()
      self.ended.leave()
    }
  }

  /// Ends the process and waits for its end, but not for a driver that hangs, so that a camera cannot delay the rest of
  /// an orderly stop.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    state.withLock { if let process = $0.process { _ = daemon_send_signal(process, SIGKILL) } }
    bell.button.ring()
    // The longest wait for the thread: the machine waits less, but a process may have closed its end and still hang in a driver.
    let end = MonotonicClock.now + SupervisionMachine.endLimit + .seconds(1)
    _ = ended.wait(timeout: DispatchTime(uptimeNanoseconds: UInt64(clamping: end.nanoseconds)))
  }
}

/// A program that runs beside a system's desk from the start of the daemon to its end.
protocol RunsBeside: AnyObject, Sendable {
  func start()
  /// Stops the program. Called once, after `start`, when every loop has ended.
  func stop()
}
