import Tactus

/// The last pulses of a tachometer, each with its instant and its number. The value owns its memory.
struct TachometerTurns: ~Copyable {
  private struct Pulse: BitwiseCopyable {
    var at: TickInstant
    var number: Int64
  }

  private static var capacity: Int {
    @_noLocks @_noAllocation get { 64 }
  }

  private let pulsesPerTurn: Int64
  private let pulses: UnsafeMutablePointer<Pulse>
  private var count = 0
  /// The index of the next pulse.
  private var end = 0
  private var number: Int64 = 0

  init(pulsesPerTurn: Int64) {
    self.pulsesPerTurn = pulsesPerTurn
    pulses = .allocate(capacity: Self.capacity)
    pulses.initialize(repeating: Pulse(at: .zero, number: 0), count: Self.capacity)
  }

  deinit { pulses.deallocate() }

  var isEmpty: Bool {
    @_noLocks @_noAllocation get { count == 0 }
  }

  /// The instant of the newest pulse, or `nil` if no pulse is known.
  var newest: TickInstant? {
    @_noLocks @_noAllocation get { count == 0 ? nil : self[0].at }
  }

  @_noLocks @_noAllocation
  mutating func removeAll() { count = 0 }

  /// Adds a pulse, `steps` after the previous one; `steps` is more than 1 if pulses were lost.
  @_noLocks @_noAllocation
  mutating func add(_ instant: TickInstant, after steps: Int64) {
    number &+= steps
    pulses[end] = Pulse(at: instant, number: number)
    end = (end &+ 1) % Self.capacity
    if count < Self.capacity { count &+= 1 }
  }

  /// Returns the speed in rpm over as many whole turns as fit into `window`, and at least one, or over the known part of a turn
  /// while less than one turn is known. Returns `nil` with fewer than two pulses.
  @_noLocks @_noAllocation
  func speed(over window: Nanoseconds) -> Double? {
    guard count >= 2 else { return nil }
    let newest = self[0]
    var first = self[1]
    var isWhole = false
    for index in 1..<count {
      let pulse = self[index]
      if isWhole, newest.at - pulse.at > window { break }
      if (newest.number &- pulse.number) % pulsesPerTurn == 0 {
        first = pulse
        isWhole = true
      } else if !isWhole {
        first = pulse
      }
    }
    return rpm(newest.number &- first.number, in: newest.at - first.at)
  }

  /// Returns the greatest possible speed at `now`, in rpm, given that the turn of the next pulse is not complete yet.
  @_noLocks @_noAllocation
  func bound(at now: TickInstant) -> Double {
    guard count > 0 else { return .infinity }
    let newest = self[0]
    var first = newest
    for index in 0..<count {
      guard newest.number &- self[index].number < pulsesPerTurn else { break }
      first = self[index]
    }
    return rpm(newest.number &- first.number &+ 1, in: now - first.at)
  }

  @_noLocks @_noAllocation
  private func rpm(_ pulses: Int64, in time: Nanoseconds) -> Double {
    guard time.count > 0 else { return .infinity }
    return Double(pulses) * 60e9 / (Double(pulsesPerTurn) * Double(time.count))
  }

  /// The pulses in reverse order; index 0 is the newest.
  @_noLocks @_noAllocation
  private subscript(index: Int) -> Pulse {
    pulses[(end &- 1 &- index &+ 2 &* Self.capacity) % Self.capacity]
  }
}
