import Buses
import Devices
import Tactus
import Wire

let carAddress = YBPcbCar.standardAddress
let raspbotAddress = RaspbotV2.standardAddress

func speeds(_ left: Double, _ right: Double) -> WheelSpeeds {
  WheelSpeeds(left: Percent(left), right: Percent(right))
}

func milliseconds(_ count: Double) -> TickInstant { TickInstant(nanoseconds: Int64(count * 1e6)) }

/// The error that a bus operation ends in.
func error(of body: () throws(I2CError) -> Void) -> I2CError? {
  do {
    try body()
    return nil
  } catch {
    return error
  }
}

func serialError(of body: () throws(SerialError) -> Void) -> SerialError? {
  do {
    try body()
    return nil
  } catch {
    return error
  }
}

extension I2CBytes {
  var array: [UInt8] { (0..<count).map { self[$0] } }
}

extension I2CTransaction {
  /// `16 01 01 ff 01 ff → 0`: address, register, bytes, result.
  var text: String {
    let bytes = ([address.value, register] + bytes.array).map(hex).joined(separator: " ")
    return "\(bytes) → \(result)"
  }
}
