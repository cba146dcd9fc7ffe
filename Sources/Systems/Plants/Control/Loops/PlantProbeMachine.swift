import Devices
import Tactus

/// The interval at which a probe is read, and the number of samples of each reading.
public struct PlantProbeSettings: Sendable, Hashable, BitwiseCopyable {
  /// The time from the beginning of one reading to that of the next, at least 1 s.
  public var period: Nanoseconds
  /// The number of samples of which the median is taken: odd, 1…9.
  public var samples: Int
  /// The number of attempts for one sample after the first, 0 or more.
  public var retries: Int

  @_noLocks @_noAllocation
  public init(period: Nanoseconds = .seconds(10), samples: Int = 5, retries: Int = 3) {
    precondition(period.count >= 1_000_000_000, "a probe is read once a second at most")
    precondition(samples >= 1 && samples <= 9 && samples & 1 == 1, "the median is of 1, 3, 5, 7 or 9 samples")
    precondition(retries >= 0, "retries are counted from 0")
    self.period = period
    self.samples = samples
    self.retries = retries
  }
}

/// The next operation on the bus for a probe.
public enum PlantProbeTask: Sendable, BitwiseCopyable {
  case none
  case reset
  case request(SeesawSoil.Quantity)
  case read(SeesawSoil.Quantity)
}

/// The result of a task.
public enum PlantProbeEvent: Sendable, BitwiseCopyable {
  /// The reset or the request was made.
  case done
  case identified
  case sample(Int64)
  case celsius(Double)
  /// A radio sensor has advertised this moisture, in hundredths of a per cent, since its sighting was last read.
  case heard(Int64, celsius: Double?)
  /// A radio sensor has advertised nothing since its sighting was last read.
  case nothingNew
  case failed(PlantProbeFailure)
}

/// The reason why a task failed.
public enum PlantProbeFailure: Sendable, Hashable, BitwiseCopyable {
  /// The chip did not acknowledge, or the port failed.
  case noAnswer
  /// The transfer timed out because the bus is stuck.
  case timedOut
  /// The value is out of range, or was not ready in time.
  case notAMeasurement
  /// Another kind of chip answers at the address.
  case wrongChip
}

/// The result of a step.
public enum PlantProbeOutcome: Sendable, BitwiseCopyable {
  case none
  /// A reading: the median in the chip's native unit, and the temperature, which is `nil` without a thermometer or if the thermometer failed.
  case reading(median: Int64, celsius: Double?)
  /// The reading of this period failed.
  case failed(PlantProbeFailure)
}

/// The order of a probe's transfers: reset and identification, samples with retries, temperature, a pause.
///
/// A conversion is a request and a later read; the loop can serve other probes in between.
public struct PlantProbeMachine: Sendable, BitwiseCopyable {
  public enum State: Sendable, BitwiseCopyable {
    case waiting(until: TickInstant)
    /// A reset is due, not before `from`.
    case resetting(from: TickInstant)
    case starting(until: TickInstant)
    /// A request is due, not before `from`.
    case asking(SeesawSoil.Quantity, from: TickInstant)
    case converting(SeesawSoil.Quantity, until: TickInstant)
  }

  /// The pause between a failed attempt and the next one.
  public static var retryGap: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(20) }
  }

  public let probe: PlantProbe
  public let settings: PlantProbeSettings
  public private(set) var state = State.waiting(until: .zero)
  /// The number of repeated attempts and of invalid values since the start.
  public private(set) var retries: Int64 = 0
  private var isKnown: Bool
  /// The instant at which the present reading began.
  private var began = TickInstant.zero
  private var attempts = 0
  private var samples: [9 of Int64]
  private var count = 0

  @_noLocks @_noAllocation
  public init(_ probe: PlantProbe, _ settings: PlantProbeSettings) {
    self.probe = probe
    self.settings = settings
    isKnown = !probe.hasIdentity
    samples = .init(repeating: 0)
  }

  public var nextDeadline: TickInstant {
    @_noLocks @_noAllocation get {
      switch state {
      case .waiting(let instant), .resetting(let instant), .starting(let instant), .asking(_, let instant),
        .converting(_, let instant):
        instant
      }
    }
  }

  public var isConverting: Bool {
    @_noLocks @_noAllocation get {
      if case .converting = state { true } else { false }
    }
  }

  @_noLocks @_noAllocation
  public func task(at now: TickInstant) -> PlantProbeTask {
    guard !(now < nextDeadline) else { return .none }
    switch state {
    case .waiting: return isKnown ? .request(.moisture) : .reset
    case .resetting: return .reset
    case .starting: return .request(.hardware)
    case .asking(let quantity, _): return .request(quantity)
    case .converting(let quantity, _): return .read(quantity)
    }
  }

  /// Handles the result of the task that `task(at:)` returned at `now`.
  @_noLocks @_noAllocation
  public mutating func step(_ event: PlantProbeEvent, at now: TickInstant) -> PlantProbeOutcome {
    if case .waiting = state { begin(at: now) }
    switch event {
    case .done: proceed(at: now)
    case .identified:
      isKnown = true
      attempts = 0
      state = .asking(.moisture, from: now)
    case .sample(let value): return addSample(value, at: now)
    case .celsius(let celsius): return finish(celsius: celsius, at: now)
    case .heard(let value, let celsius):
      rest(at: now)
      return .reading(median: value, celsius: celsius)
    case .nothingNew: rest(at: now)
    case .failed(let failure): return fail(failure, at: now)
    }
    return .none
  }

  @_noLocks @_noAllocation
  private mutating func begin(at now: TickInstant) {
    began = now
    attempts = 0
    count = 0
  }

  @_noLocks @_noAllocation
  private mutating func proceed(at now: TickInstant) {
    switch state {
    case .waiting:
      state =
        isKnown ? .converting(.moisture, until: now + probe.conversion) : .starting(until: now + SeesawSoil.startUp)
    case .resetting: state = .starting(until: now + SeesawSoil.startUp)
    case .starting: state = .converting(.hardware, until: now + probe.conversion)
    case .asking(let quantity, _): state = .converting(quantity, until: now + probe.conversion)
    case .converting: break
    }
  }

  @_noLocks @_noAllocation
  private mutating func addSample(_ value: Int64, at now: TickInstant) -> PlantProbeOutcome {
    // The samples are kept sorted, so that the middle one is the median.
    var index = count
    while index > 0, samples[index - 1] > value {
      samples[index] = samples[index - 1]
      index -= 1
    }
    samples[index] = value
    count += 1
    attempts = 0
    if count < settings.samples {
      state = .asking(.moisture, from: now)
      return .none
    }
    guard probe.hasThermometer else { return finish(celsius: nil, at: now) }
    state = .asking(.temperature, from: now)
    return .none
  }

  @_noLocks @_noAllocation
  private mutating func finish(celsius: Double?, at now: TickInstant) -> PlantProbeOutcome {
    rest(at: now)
    return .reading(median: samples[count / 2], celsius: celsius)
  }

  /// Waits for the next reading. Readings stay in phase unless a whole period was missed.
  @_noLocks @_noAllocation
  private mutating func rest(at now: TickInstant) {
    let next = began + settings.period
    state = .waiting(until: now < next ? next : now + settings.period)
  }

  @_noLocks @_noAllocation
  private mutating func fail(_ failure: PlantProbeFailure, at now: TickInstant) -> PlantProbeOutcome {
    attempts += 1
    // Another attempt on a stuck bus would cost the tick the same time again, and a chip of another kind stays one.
    let isWorthRetrying =
      switch failure {
      case .noAnswer, .notAMeasurement: true
      case .timedOut, .wrongChip: false
      }
    if isWorthRetrying, attempts <= settings.retries {
      retries &+= 1
      switch state {
      case .converting(let quantity, _), .asking(let quantity, _): state = .asking(quantity, from: now + Self.retryGap)
      case .waiting where isKnown: state = .asking(.moisture, from: now + Self.retryGap)
      case .waiting, .resetting: state = .resetting(from: now + Self.retryGap)
      case .starting: state = .starting(until: now + Self.retryGap)
      }
      return .none
    }
    // The soil was measured; only its temperature is unknown.
    if isTemperature, isWorthRetrying { return finish(celsius: nil, at: now) }
    isKnown = !probe.hasIdentity
    rest(at: now)
    return .failed(failure)
  }

  private var isTemperature: Bool {
    @_noLocks @_noAllocation get {
      switch state {
      case .converting(.temperature, _), .asking(.temperature, _): true
      default: false
      }
    }
  }
}
