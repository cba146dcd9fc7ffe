extension LegSerialError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLong: "too-long: expected at most 23 bytes between two zeros"
    case .badStuffing: "bad-stuffing: a code points beyond the end"
    case .tooShort: "too-short: expected a message of 1…20 bytes and 2 of CRC"
    case .wrongChecksum(let expected, let got): "wrong-checksum: expected \(expected), got \(got)"
    }
  }
}
