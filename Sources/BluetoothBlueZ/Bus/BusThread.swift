#if Bluetooth
  import Dispatch
  import Glibc
  import Synchronization
  import Tactus

  /// The work of one end of a link on its thread.
  protocol LinkRole: AnyObject {
    /// Examines the present state and takes the actions that follow from it.
    func settle(at now: TickInstant)
    /// The descriptors to wait for in addition to the bus and the bells.
    var waits: [(descriptor: Int32, events: Int16)] { get }
    /// Handles a descriptor of `waits` that is ready.
    func ready(_ descriptor: Int32)
    /// The instant at which `settle` is due even if nothing happens, or `nil` if only an event is awaited.
    var deadline: TickInstant? { get }
    /// Handles a message or an order from the link's loop.
    func rung()
    /// Withdraws everything from bluetoothd.
    func finish()
  }

  /// The one thread of a link, which waits for the bus, the loop's bell and BlueZ's sockets. It has normal priority and blocks only in poll.
  final class BusThread: @unchecked Sendable {
    // Safe: the role and the client are touched on the thread only; the flag is atomic.
    private let role: any LinkRole
    private let client: BlueZClient
    private let bell: Doorbell
    private let stopBell: Doorbell
    private let isStopping = Atomic<Bool>(false)
    private let ended = DispatchGroup()

    /// Creates the thread of one end of a link. The thread runs from `start` on.
    ///
    /// - Parameter bell: the bell of the link's driver.
    init(_ role: any LinkRole, client: BlueZClient, bell: Doorbell) throws(RuntimeError) {
      self.role = role
      self.client = client
      self.bell = bell
      stopBell = try Doorbell()
      client.changed = { [unowned role] in role.settle(at: MonotonicClock.now) }
    }

    func start(label: String) {
      ended.enter()
      // A serial queue whose block does not return before the end serves as a thread.
      DispatchQueue(label: label).async {
        self.run()
        self.ended.leave()
      }
    }

    /// Stops the thread. Returns when everything has been withdrawn, which takes some milliseconds, or seconds if bluetoothd does not answer.
    func stop() {
      isStopping.store(true, ordering: .releasing)
      stopBell.button.ring()
      ended.wait()
    }

    private func run() {
      while !isStopping.load(ordering: .acquiring) {
        role.settle(at: MonotonicClock.now)
        wait()
        client.process(at: MonotonicClock.now)
      }
      // The loop's last message, such as a disarm, is handled before the end.
      role.rung()
      role.finish()
      client.disconnect()
    }

    private func wait() {
      var polls = [entry(stopBell.descriptor), entry(bell.descriptor)]
      if let bus = client.bus { polls.append(entry(bus.descriptor, bus.events)) }
      let first = polls.count
      for wait in role.waits { polls.append(entry(wait.descriptor, wait.events)) }
      guard poll(&polls, nfds_t(clamping: polls.count), timeout()) > 0 else { return }
      if polls[1].revents != 0 {
        bell.clear()
        role.rung()
      }
      for poll in polls[first...] where poll.revents != 0 { role.ready(poll.fd) }
    }

    private func entry(_ descriptor: Int32, _ events: Int16 = Int16(truncatingIfNeeded: POLLIN)) -> pollfd {
      pollfd(fd: descriptor, events: events, revents: 0)
    }

    /// Returns the time to wait in milliseconds, rounded up, or −1 if there is no deadline.
    private func timeout() -> Int32 {
      var first = role.deadline
      if let own = client.deadline { first = first.map { min($0, own) } ?? own }
      if let bus = client.bus?.deadlineMicroseconds {
        let instant = TickInstant(nanoseconds: Int64(clamping: bus).multipliedReportingOverflow(by: 1000).partialValue)
        first = first.map { min($0, instant) } ?? instant
      }
      guard let first else { return -1 }
      return Int32(clamping: max(0, ((first - MonotonicClock.now).count + 999_999) / 1_000_000))
    }
  }
#endif
