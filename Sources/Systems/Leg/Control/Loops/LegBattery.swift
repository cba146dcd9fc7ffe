import Devices

/// The battery's sensor: an input of an ADS1115 on the servo chip's bus, behind a voltage divider.
public struct LegBattery: Sendable, Hashable, BitwiseCopyable {
  public let converter: ADS1115
  /// The input of the converter, 0…3.
  public let channel: Int
  /// The ratio of the battery's voltage to that at the input, in thousandths: 3000 for 20 kΩ over 10 kΩ. 1000…100,000.
  public let dividerPerMille: Int64

  public init(_ converter: ADS1115 = ADS1115(), channel: Int, dividerPerMille: Int64) {
    precondition((0..<ADS1115.channelCount).contains(channel), "inputs are 0…3")
    precondition((1_000...100_000).contains(dividerPerMille), "a divider divides by 1…100")
    self.converter = converter
    self.channel = channel
    self.dividerPerMille = dividerPerMille
  }

  /// Returns the battery's voltage for a voltage at the input, limited to 0…65,535 mV.
  @_noLocks @_noAllocation
  func voltage(_ input: Microvolts) -> Millivolts {
    let millivolts = (input.count * dividerPerMille + 500_000) / 1_000_000
    return Millivolts(millivolts < 0 ? 0 : millivolts > 65_535 ? 65_535 : UInt16(truncatingIfNeeded: millivolts))
  }
}
