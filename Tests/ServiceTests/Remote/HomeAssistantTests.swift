import Foundation
import TestSupport
import Testing
import Wire

@testable import Service

@Suite("Home Assistant's discovery of the systems", .ownThread)
struct HomeAssistantTests {
  private let topics = DeviceTopics(device: "garden")!

  private func object(_ entity: HomeAssistantEntity) throws -> [String: Any] {
    let data = Data(entity.document(of: topics).utf8)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test("buttons of the device: only where commands are taken")
  func device() throws {
    #expect(HomeAssistantEntity.ofDevice(on: topics, takesCommands: false).isEmpty)
    let stop = try object(HomeAssistantEntity.ofDevice(on: topics, takesCommands: true)[0])
    #expect(stop["command_topic"] as? String == "tactus/garden/command" && stop["payload_press"] as? String == "e-stop")
  }
}
