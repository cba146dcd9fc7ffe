import Tactus

/// The guard's hold of a hardware watchdog. It carries out what `WatchdogMachine` decides.
struct WatchdogFeeder {
  private let device: any WatchdogDevice
  private var machine: WatchdogMachine
  /// The timeout in effect, or `nil` while the watchdog is not open.
  private(set) var timeout: Nanoseconds?
  /// The reason why the watchdog is not open, or `nil` if it is open or has not been tried.
  private(set) var failure: String?

  init(_ device: any WatchdogDevice, at now: TickInstant) {
    self.device = device
    machine = WatchdogMachine(at: now)
  }

  /// The latest instant at which `check` has to be called, or `nil` if no call is due.
  var nextDeadline: TickInstant? { machine.nextDeadline }

  /// Opens or feeds the watchdog if that is due and the guard's state permits it. Returns the reports for a log, one for each change.
  mutating func check(_ state: GuardMachine.State, at now: TickInstant) -> [GuardReport] {
    switch machine.step(.look(state), at: now) {
    case .open: return open(at: now)
    case .feed:
      let failed = device.feed()
      defer { failure = failed }
      return failed == nil || failed == failure
        ? [] : [GuardReport(subject: .watchdogNotFed, failures: failed.map { [$0] } ?? [])]
    case .none, .disarm: return []
    }
  }

  private mutating func open(at now: TickInstant) -> [GuardReport] {
    switch device.open() {
    case .success(let timeout):
      let wasMissing = failure != nil
      (self.timeout, failure) = (timeout, nil)
      _ = machine.step(.opened(timeout: timeout), at: now)
      return wasMissing ? [GuardReport(subject: .watchdogOpened, failures: [])] : []
    case .failure(let failed):
      _ = machine.step(.notOpened, at: now)
      defer { failure = failed.reason }
      return failure == failed.reason ? [] : [GuardReport(subject: .watchdogNotOpened, failures: [failed.reason])]
    }
  }

  /// Handles the end of the guard. Returns the reports for a log.
  mutating func end(isSafe: Bool, at now: TickInstant) -> [GuardReport] {
    let wasOpen = timeout != nil
    guard machine.step(.ended(isSafe: isSafe), at: now) == .disarm else {
      return wasOpen ? [GuardReport(subject: .watchdogLeft, failures: [])] : []
    }
    return device.disarm().map { [GuardReport(subject: .watchdogLeft, failures: [$0])] } ?? []
  }
}
