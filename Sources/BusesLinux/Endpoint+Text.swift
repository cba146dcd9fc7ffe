import Buses
import CBusesLinux
@_spi(FromOutside) import Conversions

extension Endpoint {
  /// Parses `192.168.1.5:5005`, `[fe80::1%2]:5005` or `[fe80::1%eth0]:5005`. The result is `nil` for any other text, including host names.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
      return nil
    }
    var address = text[..<colon]
    let bracketed = address.first == "[" && address.last == "]"
    if bracketed { address = address.dropFirst().dropLast() }
    var parsed = tactus_endpoint()
    parsed.port = port
    guard tactus_parse_address(String(address), &parsed) == (bracketed ? 6 : 4) else { return nil }
    self.init(parsed)
  }

  @_noLocks @_noAllocation
  init(_ endpoint: tactus_endpoint) {
    self.init(high: endpoint.high, low: endpoint.low, port: endpoint.port, scope: endpoint.scope)
  }
}

extension tactus_endpoint {
  @_noLocks @_noAllocation
  init(_ endpoint: Endpoint) {
    self.init(high: endpoint.high, low: endpoint.low, scope: endpoint.scope, port: endpoint.port)
  }
}
