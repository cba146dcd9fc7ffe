@_spi(FromOutside) import Conversions
import Wire

/// A line from the pump to its operator, in either dialect.
public enum PumpReply: Sendable, Hashable, BitwiseCopyable {
  /// The pump has accepted a command.
  case ok
  /// The pump's state after ON or OFF.
  case pump(isOn: Bool)
  case speed(PumpSpeed)
  case status(PumpStatus)
  case temperatures(PumpTemperatures)
  /// The button at the pump was pressed.
  case manual(isOn: Bool)
  case error(PumpErrorTag)
  /// A line for people that follows an error.
  case remark(PumpRemark)
}

/// The tag that follows `ERROR:`.
public enum PumpErrorTag: Sendable, Hashable, BitwiseCopyable {
  case safetyShutoff
  case overheat
  /// A sensor's reading is implausible; not part of the original firmware.
  case sensorFault
  case startFailed
  case notRunning
  case invalidSpeed
  case unknownCommand
  case commandTooLong
  /// The first 32 characters of any other tag.
  case other(ShortText)
}

/// One of the firmware's two remarks.
public enum PumpRemark: Sendable, Hashable, BitwiseCopyable {
  /// The remark `Maximum runtime exceeded`.
  case maximumRuntime
  /// The remark `Skin temperature too high: 41.5`, with the temperature.
  case skinTooHot(PumpReading)
}

/// The state that the pump reports.
public enum PumpReportedState: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
  case off
  case on
  case error
}

/// The reply `STATUS:{…}`, whose keys can be in any order and can be missing.
public struct PumpStatus: Sendable, Hashable, BitwiseCopyable {
  public var state: PumpReportedState?
  /// The speed, 0…100 %.
  public var percent: UInt8?
  /// The whole minutes since the pump was started.
  public var runtimeMinutes: UInt16?
  /// The whole minutes until the pump stops by itself.
  public var remainingMinutes: UInt16?
  public var temperatures: PumpTemperatures

  @_noLocks @_noAllocation
  public init(
    state: PumpReportedState? = nil, percent: UInt8? = nil, runtimeMinutes: UInt16? = nil,
    remainingMinutes: UInt16? = nil, temperatures: PumpTemperatures = PumpTemperatures()
  ) {
    self.state = state
    self.percent = percent
    self.runtimeMinutes = runtimeMinutes
    self.remainingMinutes = remainingMinutes
    self.temperatures = temperatures
  }
}

extension PumpReply {
  /// The number of bytes of the longest encoded reply including its line end.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 160 }
  }

  /// Writes the line with its `\r
  /// ` and returns its length. `buffer` must hold at least `maximumEncodedLength` bytes.
  ///
  /// The dialect follows from the value: a status with `single` is a line of the legacy dialect, one with `water` or `skin` a line of the firmware's.
  @_noLocks @_noAllocation
  public func encode(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    precondition(buffer.count >= Self.maximumEncodedLength, "the buffer is too small for a reply")
    var writer = ByteWriter(buffer)
    switch self {
    case .ok: writer.append("OK")
    case .pump(let isOn):
      writer.append("PUMP:")
      writer.append(isOn: isOn)
    case .speed(let speed):
      writer.append("SPEED:")
      writer.append(decimal: UInt64(speed.duty))
    case .status(let status): status.encode(into: &writer)
    case .temperatures(let temperatures): temperatures.encode(into: &writer)
    case .manual(let isOn):
      writer.append("MANUAL:")
      writer.append(isOn: isOn)
    case .error(let tag):
      writer.append("ERROR:")
      tag.encode(into: &writer)
    case .remark(.maximumRuntime): writer.append("Maximum runtime exceeded")
    case .remark(.skinTooHot(let reading)):
      writer.append("Skin temperature too high: ")
      writer.append(reading)
    }
    writer.append(0x0D)
    writer.append(0x0A)
    return writer.count
  }
}

extension PumpStatus {
  @_noLocks @_noAllocation
  fileprivate func encode(into writer: inout ByteWriter) {
    writer.append("STATUS:{")
    var items = PumpItemsWriter()
    if let state {
      items.begin("State:", &writer)
      switch state {
      case .off: writer.append("OFF")
      case .on: writer.append("ON")
      case .error: writer.append("ERROR")
      }
    }
    if let percent {
      items.begin("Speed:", &writer)
      writer.append(decimal: UInt64(percent))
      writer.append("%")
    }
    if let runtimeMinutes {
      items.begin("Runtime:", &writer)
      writer.append(decimal: UInt64(runtimeMinutes))
      writer.append("m")
    }
    if let remainingMinutes {
      items.begin("Remaining:", &writer)
      writer.append(decimal: UInt64(remainingMinutes))
      writer.append("m")
    }
    items.write("WaterTemp:", temperatures.water, &writer)
    items.write("SkinTemp:", temperatures.skin, &writer)
    items.write("Temp:", temperatures.single, &writer)
    writer.append("}")
  }
}

extension PumpTemperatures {
  @_noLocks @_noAllocation
  fileprivate func encode(into writer: inout ByteWriter) {
    writer.append("TEMP:")
    if !single.isAbsent, water.isAbsent, skin.isAbsent { return writer.append(single) }
    writer.append("{")
    var items = PumpItemsWriter()
    items.write("Water:", water, &writer)
    items.write("Skin:", skin, &writer)
    items.write("Temp:", single, &writer)
    writer.append("}")
  }
}

extension PumpErrorTag {
  @_noLocks @_noAllocation
  fileprivate func encode(into writer: inout ByteWriter) {
    switch self {
    case .safetyShutoff: writer.append("SAFETY_SHUTOFF")
    case .overheat: writer.append("OVERHEAT")
    case .sensorFault: writer.append("SENSOR_FAULT")
    case .startFailed: writer.append("PUMP_START_FAILED")
    case .notRunning: writer.append("PUMP_NOT_RUNNING")
    case .invalidSpeed: writer.append("INVALID_SPEED_VALUE")
    case .unknownCommand: writer.append("UNKNOWN_COMMAND")
    case .commandTooLong: writer.append("CMD_TOO_LONG")
    case .other(let text): writer.append(text)
    }
  }
}

private struct PumpItemsWriter: BitwiseCopyable {
  private var isFirst = true

  @_noLocks @_noAllocation
  init() {}

  @_noLocks @_noAllocation
  mutating func begin(_ key: StaticString, _ writer: inout ByteWriter) {
    if !isFirst { writer.append(",") }
    isFirst = false
    writer.append(key)
  }

  /// Writes an item with its unit `C`, or nothing if there is no such sensor.
  @_noLocks @_noAllocation
  mutating func write(_ key: StaticString, _ reading: PumpReading, _ writer: inout ByteWriter) {
    if reading.isAbsent { return }
    begin(key, &writer)
    writer.append(reading)
    writer.append("C")
  }
}

extension ByteWriter {
  @_noLocks @_noAllocation
  fileprivate mutating func append(isOn: Bool) { append(isOn ? "ON" : "OFF" as StaticString) }

  /// Appends a temperature like `dtostrf(value, 4, 1)`: at least four characters, padded with leading spaces. An unknown temperature is `?`.
  @_noLocks @_noAllocation
  fileprivate mutating func append(_ reading: PumpReading) {
    guard case .value(let temperature) = reading else { return append("?") }
    let limit: Int32 = 9_999
    let tenths =
      temperature.tenths > limit ? limit : temperature.tenths < -limit ? -limit : temperature.tenths
    let magnitude = UInt64(tenths.magnitude)
    if tenths >= 0, magnitude < 100 { append(0x20) }
    if tenths < 0 { append(0x2D) }
    append(decimal: magnitude / 10)
    append(0x2E)
    append(decimal: magnitude % 10)
  }
}
