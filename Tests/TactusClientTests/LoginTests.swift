import Foundation
import Testing

@testable import TactusClient

@Suite("The way to a daemon and its token")
struct LoginTests {
  @Test(
    "a ticket's link has the daemon's address and the ticket",
    arguments: [
      ("http://pi.local:8000/#/ticket/z418qnNqIptAVpH_MMloOw", "http://pi.local:8000/x"),
      (" https://pi.example.org/#/ticket/z418qnNqIptAVpH_MMloOw\n", "https://pi.example.org:443/x"),
      ("http://pi.local/#/ticket/z418qnNqIptAVpH_MMloOw", "http://pi.local:80/x"),
      ("http://[fd00::1]:8001#/ticket/z418qnNqIptAVpH_MMloOw", "http://[fd00::1]:8001/x"),
    ])
  func link(text: String, url: String) throws {
    let link = try TicketLink(text)
    #expect(link.ticket == "z418qnNqIptAVpH_MMloOw" && link.endpoint.url("/x")?.absoluteString == url)
    #expect(!"\(link)".contains("z418qn"))
  }

  @Test(
    "what is no ticket's link is refused without its text, which may be a secret",
    arguments: [
      "", "z418qnNqIptAVpH_MMloOw", "http://pi.local:8000/", "http://pi.local:8000/#/ticket/",
      "ftp://pi.local/#/ticket/z418qnNqIptAVpH_MMloOw", "http://pi.local/tactus/#/ticket/z418qnNqIptAVpH_MMloOw",
    ])
  func noLink(text: String) {
    let error = #expect(throws: ClientError.self) { try TicketLink(text) }
    #expect(error?.field == "ticket" && error?.errorDescription?.contains("z418qn") == false)
  }

  @Test("a ticket is exchanged once, without a token; what comes shows no secret where it is printed")
  func exchange() async throws {
    let daemon = FakeDaemon()
    daemon.answer("/api/ticket", #"{"ok":true,"token":"very-secret","name":"phone","scope":"control"}"#)
    let issued = try await TicketLink("http://pi.local:8000/#/ticket/abc").exchange(by: daemon)
    #expect(issued.token == "very-secret" && issued.name == "phone" && issued.scope == "control")
    #expect("\(issued)" == "the token phone of scope control")
    #expect(daemon.requests.map(\.method) == ["POST"] && daemon.tokens == [nil])
    #expect(daemon.requests.first?.body == Data(#"{"ticket":"abc"}"#.utf8))
  }

  @Test("a ticket that is spent is refused in the daemon's words; one that is not answered is not sent again")
  func spent() async throws {
    let daemon = FakeDaemon()
    let link = try TicketLink("http://pi.local:8000/#/ticket/abc")
    daemon.answer("/api/ticket", 404, #"{"ok":false,"code":"TICKET_INVALID","message":"ask for another"}"#)
    let refusal = Refusal(status: 404, code: "TICKET_INVALID", message: "ask for another")
    await #expect(throws: ClientError.refused(refusal)) { try await link.exchange(by: daemon) }
    daemon.answer("/api/ticket") { _ throws(ClientError) in throw .unreachable("gone") }
    await #expect(throws: ClientError.unreachable("gone")) { try await link.exchange(by: daemon) }
    #expect(daemon.requests.count == 2)
  }

  @Test(
    "a daemon that was found: its address without an interface; one of link-local IPv6 is none",
    arguments: [
      ("192.168.1.20%en0", "https://192.168.1.20:8443/x"), ("fd00::1", "https://[fd00::1]:8443/x"),
      ("fe80::1%en0", nil), ("FEBF::1", nil), ("", nil),
    ] as [(String, String?)])
  func found(address: String, url: String?) {
    let endpoint = Endpoint(found: "Tactus on pi", address: address, port: 8443, isSecure: true)
    #expect(endpoint?.url("/x")?.absoluteString == url)
  }

  @Test(
    "a daemon that was found keeps its token by its name, whatever its address; without HTTPS it gets none that was kept with it"
  )
  func name() throws {
    func endpoint(_ address: String, isSecure: Bool, instance: String = "Tactus on pi") throws -> Endpoint {
      try #require(Endpoint(found: instance, address: address, port: 8000, isSecure: isSecure))
    }
    let tokens = MemoryTokens()
    tokens.keep("one", for: try endpoint("192.168.1.20", isSecure: true))
    #expect(tokens.token(for: try endpoint("192.168.1.99", isSecure: true)) == "one")
    #expect(tokens.token(for: try endpoint("192.168.1.20", isSecure: false)) == nil)
    #expect(tokens.token(for: try endpoint("192.168.1.20", isSecure: true, instance: "Tactus on shed")) == nil)
    #expect(tokens.token(for: Endpoint(host: "192.168.1.20", port: 8000, isSecure: true)) == nil)
  }
}
