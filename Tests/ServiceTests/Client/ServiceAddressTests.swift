import Testing

@testable import Service

@Suite("Addresses of a daemon")
struct ServiceAddressTests {
  @Test(
    "names, addresses, URLs: host, port, TLS",
    arguments: [
      ("pi.local", "pi.local:8000", false), ("pi.local:9000", "pi.local:9000", false),
      ("http://192.168.1.7:81/", "192.168.1.7:81", false), ("https://pi.local", "pi.local:8000", true),
      ("::1", "[::1]:8000", false), ("[::1]", "[::1]:8000", false), ("https://[fe80::1]:1", "[fe80::1]:1", true),
    ])
  func good(text: String, shown: String, isSecure: Bool) throws {
    let address = try #require(ServiceAddress(text))
    #expect("\(address)" == shown && address.isSecure == isSecure)
  }

  @Test(
    "none of them: nil",
    arguments: [
      "", "http://", "pi:", "pi:0", "pi:65536", "pi:x", "pi:+80", "pi/path", "user@pi", "ftp://pi", "[::1", "[::1]8000",
      "a b",
      "pi\r\nX: y", "pi?query",
    ])
  func bad(text: String) {
    #expect(ServiceAddress(text) == nil)
  }
}
