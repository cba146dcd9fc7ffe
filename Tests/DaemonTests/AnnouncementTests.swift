import Logging
import TestSupport
import Testing

@testable import AvahiSystemd
@testable import TactusDaemon

/// Names and records; what Avahi makes of them is in Tests/Service/bonjour.sh.
@Suite("announcement", .ownThread)
struct AnnouncementTests {
  @Test("a name that is taken: #2, then #3; a number that is part of the name stays")
  func renaming() {
    var service = AnnouncedService(name: "Tactus on kitchen", type: "_tactus._tcp", port: 8000)
    var names: [String] = []
    for _ in 0..<3 {
      service = service.renamed()
      names.append(service.name)
    }
    #expect(names == ["Tactus on kitchen #2", "Tactus on kitchen #3", "Tactus on kitchen #4"])
    #expect(AnnouncedService(name: "Robot#7", type: "_x._tcp", port: 1).renamed().name == "Robot#7 #2")
    #expect(AnnouncedService(name: "#2", type: "_x._tcp", port: 1).renamed().name == "#2 #2")
  }

  @Test("a long name: cut to 63 bytes between characters, with its number too")
  func long() {
    let service = AnnouncedService(name: String(repeating: "ü", count: 40), type: "_x._tcp", port: 1)
    #expect(service.name == String(repeating: "ü", count: 31))
    #expect(service.renamed().name == String(repeating: "ü", count: 30) + " #2")
  }

  @Test("the record: version, api, tls, systems")
  func record() {
    let service = Announcement.service(port: 8000, hasTLS: true, systems: ["robot", "leg"])
    #expect(service.type == "_tactus._tcp" && service.port == 8000 && service.name.hasPrefix("Tactus on "))
    #expect(service.text == ["version=\(TactusCommand.version)", "api=/api", "tls=1", "systems=leg,robot"])
  }

  @Test("with a sprinkler: its own type besides, for its apps")
  func sprinkler() {
    let services = Announcement.services(port: 8000, hasTLS: false, systems: ["leg", "sprinkler"])
    #expect(services.map(\.type) == ["_tactus._tcp", "_sprinkler._tcp"])
    #expect(services[1].text.first == "path=/api/status" && services[1].port == 8000)
    #expect(Announcement.services(port: 1, hasTLS: false, systems: ["leg"]).count == 1)
  }

  @Test(
    "what listens to this machine only is not announced",
    arguments: [
      ("127.0.0.1", true), ("127.1.2.3", true), ("::1", true), ("::ffff:127.0.0.1", true), ("0.0.0.0", false),
      ("::", false), ("192.0.2.7", false), ("fe80::1%eth0", false),
    ])
  func loopback(address: String, isLoopback: Bool) {
    #expect(Configuration.isLoopback(address) == isLoopback)
  }
}
