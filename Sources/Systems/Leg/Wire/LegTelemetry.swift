/// The status that a leg sends ten times a second: one frame of the LegCtrl protocol v0.1, 12 bytes.
public struct LegTelemetry: Sendable, Hashable, BitwiseCopyable {
  public enum State: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case disarmed = 0
    case armed = 1
    case fault = 2
  }
  public var state: State
  public var error: LegErrorCode
  /// The time since the last command that fed the deadman, in ms; 65535 stands for that time or longer. 0 while disarmed.
  public var lastCommandAgeMilliseconds: UInt16
  /// The battery's voltage; 0 if there is no sensor.
  public var battery: Millivolts

  @_noLocks @_noAllocation
  public init(state: State, error: LegErrorCode, lastCommandAgeMilliseconds: UInt16, battery: Millivolts) {
    self.state = state
    self.error = error
    self.lastCommandAgeMilliseconds = lastCommandAgeMilliseconds
    self.battery = battery
  }
}

/// The reason why a leg is in fault or rejected a command.
public enum LegErrorCode: UInt8, Sendable, BitwiseCopyable, CaseIterable {
  case none = 0
  case deadmanTimeout = 1
  case lowBattery = 2
  case i2cFault = 3
  case invalidCommand = 4
  /// An error for which the protocol has no number.
  case unknown = 0xFF
}

extension LegTelemetry {
  /// Decodes the telemetry in a frame.
  ///
  /// Every byte string yields a telemetry or an error. An error code that the protocol does not define is decoded as `.unknown`, so that
  /// the state of a newer leg is still understood; reserved bytes are ignored. Timing: constant; no allocation.
  @_noLocks @_noAllocation
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(LegFrameError) -> LegTelemetry {
    let type = try LegFrame.type(of: bytes)
    guard type == LegFrame.telemetry else { throw .notTelemetry(type: type) }
    try LegFrame.check(bytes, payload: 8)
    guard let state = State(wire: bytes[4]) else { throw .unknownState(bytes[4]) }
    return LegTelemetry(
      state: state, error: LegErrorCode(wire: bytes[5]), lastCommandAgeMilliseconds: LegFrame.word(bytes, at: 6),
      battery: Millivolts(LegFrame.word(bytes, at: 8)))
  }

  /// The length of a telemetry frame in bytes.
  public static var encodedLength: Int {
    @_noLocks @_noAllocation get { 12 }
  }

  /// Writes the frame and returns its length, 12. `buffer` holds at least that many bytes. Nothing is allocated.
  @_noLocks @_noAllocation @discardableResult
  public func encode(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    precondition(buffer.count >= Self.encodedLength, "the buffer is too small for a telemetry frame")
    buffer[4] = state.wire
    buffer[5] = error.wire
    LegFrame.put(lastCommandAgeMilliseconds, in: buffer, at: 6)
    LegFrame.put(battery.count, in: buffer, at: 8)
    LegFrame.put(0, in: buffer, at: 10)
    return LegFrame.begin(LegFrame.telemetry, payload: 8, in: buffer)
  }
}

// Switches instead of raw values: the derived initialisers and getters are beyond the compiler's proof.

extension LegTelemetry.State {
  @_noLocks @_noAllocation
  init?(wire: UInt8) {
    switch wire {
    case 0: self = .disarmed
    case 1: self = .armed
    case 2: self = .fault
    default: return nil
    }
  }

  var wire: UInt8 {
    @_noLocks @_noAllocation get {
      switch self {
      case .disarmed: 0
      case .armed: 1
      case .fault: 2
      }
    }
  }
}

extension LegErrorCode {
  @_noLocks @_noAllocation
  init(wire: UInt8) {
    switch wire {
    case 0: self = .none
    case 1: self = .deadmanTimeout
    case 2: self = .lowBattery
    case 3: self = .i2cFault
    case 4: self = .invalidCommand
    default: self = .unknown
    }
  }

  var wire: UInt8 {
    @_noLocks @_noAllocation get {
      switch self {
      case .none: 0
      case .deadmanTimeout: 1
      case .lowBattery: 2
      case .i2cFault: 3
      case .invalidCommand: 4
      case .unknown: 0xFF
      }
    }
  }
}

/// A voltage in whole millivolts, 0…65535.
public struct Millivolts: Sendable, Hashable, Comparable, BitwiseCopyable {
  public var count: UInt16

  @_noLocks @_noAllocation
  @inlinable public init(_ count: UInt16) { self.count = count }

  @_noLocks @_noAllocation
  @inlinable public static func < (left: Self, right: Self) -> Bool { left.count < right.count }
}
