import Tactus

/// The guard's hold of a hardware watchdog: does what `WatchdogMachine` decides.
struct WatchdogFeeder {
  private let device: any WatchdogDevice
  private var machine: WatchdogMachine
  /// The time-out in effect; `nil` while it is not open.
  private(set) var timeout: Nanoseconds?
  /// Why it is not open, or `nil` if it is, or was not tried.
  private(set) var failure: String?

  init(_ device: any WatchdogDevice, at now: TickInstant) {
    self.device = device
    machine = WatchdogMachine(at: now)
  }

  /// When `look` is to be called at the latest.
  var nextDeadline: TickInstant? { machine.nextDeadline }

  /// Opens or feeds it, if that is due and the guard has reason to. Returns what there is to say, once for each change.
  mutating func look(_ state: GuardMachine.State, at now: TickInstant) -> [GuardReport] {
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

  /// The guard ends. Returns what there is to say.
  mutating func end(isSafe: Bool, at now: TickInstant) -> [GuardReport] {
    let wasOpen = timeout != nil
    guard machine.step(.ended(isSafe: isSafe), at: now) == .disarm else {
      return wasOpen ? [GuardReport(subject: .watchdogLeft, failures: [])] : []
    }
    return device.disarm().map { [GuardReport(subject: .watchdogLeft, failures: [$0])] } ?? []
  }
}
