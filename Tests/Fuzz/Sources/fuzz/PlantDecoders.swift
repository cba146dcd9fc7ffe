import Plants

extension FuzzedDecoder {
  static let plants = [
    FuzzedDecoder(name: "plant-message", longest: 512) { bytes in
      _ = PlantMessageRemains(of: bytes)
      guard let message = try? PlantMessage.parse(bytes) else { return }
      _ = (PlantRequestTag(operation: message.operation), PlantRequestTag(response: message.operation))
      let others = [message.id, message.sender, message.receiver, message.operation]
      expect(!others.contains { $0.utf8.contains { $0 == 0x3A || $0 == 0x3B } }, "\(message)")
      guard PlantPayload.survives(message.payload) else { return }
      let again = Array(message.encoded.utf8)
      guard again.count <= PlantMessage.maximumLength else { return }
      expect((try? PlantMessage.parse(again)) == message, "\(message) became \(message.encoded)")
      let remains = again.withUnsafeBytes { PlantMessageRemains(of: $0) }
      expect(remains.id == message.id && remains.sender == message.sender, "\(message) leaves \(remains)")
    },
    FuzzedDecoder(name: "plant-payload", longest: 128) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      let read = PlantPayload.unescaped(text)
      expect(!PlantPayload.escaped(text).utf8.contains { $0 == 0x3A || $0 == 0x3B }, "\(text)")
      // What has no escape in it is as it was.
      if !text.utf8.contains(where: { $0 == 0x2D || $0 == 0x7C }) { expect(read == text, "\(text) became \(read)") }
    },
    FuzzedDecoder(name: "soil-advertisement", longest: 64) { bytes in
      let data = Array(bytes)
      for format in SoilAdvertisement.Format.allCases {
        guard let said = SoilAdvertisement(data, as: format) else { continue }
        expect(
          (0...10_000).contains(said.moisture ?? 0) && (-12_800...12_700).contains(said.temperature ?? 0)
            && (0...100).contains(said.battery ?? 0), "\(said)")
      }
    },
    FuzzedDecoder(name: "radio-address", longest: 32) { bytes in
      guard let address = RadioAddress(String(decoding: bytes, as: UTF8.self)) else { return }
      expect(RadioAddress(address.text) == address && address.text.utf8.count == 17, "\(address.text)")
    },
    FuzzedDecoder(name: "plant-sensor-id", longest: 64) { bytes in
      guard let id = PlantSensorID(String(decoding: bytes, as: UTF8.self)) else { return }
      expect((1...32).contains(id.text.utf8.count) && PlantSensorID(id.text) == id, "\(id)")
    },
  ]
}
