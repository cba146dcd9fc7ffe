import TestSupport
import Testing

@testable import TactusDaemon

@Suite("names of the daemon's own certificate", .ownThread)
struct CertificateNamesTests {
  @Test("the machine's names and each of its addresses once; forty at most, of which the first ones are kept")
  func names() {
    let addresses = ["127.0.0.1", "192.0.2.7", "2001:db8::7", "192.0.2.7"]
    #expect(
      ServiceComposition.certificateNames(of: "pi.example.org", at: addresses)
        == ["localhost", "127.0.0.1", "::1", "pi.example.org", "pi.local", "192.0.2.7", "2001:db8::7"])
    #expect(ServiceComposition.certificateNames(of: "", at: ["::1"]) == ["localhost", "127.0.0.1", "::1"])
    let many = ServiceComposition.certificateNames(of: "pi", at: (1...99).map { "192.0.2.\($0)" })
    #expect(many.count == 40 && many.contains("192.0.2.1") && !many.contains("192.0.2.99"))
  }
}
