import CFuzz

/// The spawner's messages, whose checks are in C.
extension FuzzedDecoder {
  static let spawner = [
    FuzzedDecoder(name: "spawner-requests", longest: 600) { bytes in
      let flaw = fuzz_spawner_requests(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
      expect(flaw == nil, flaw.map { String(cString: $0) } ?? "")
    },
    FuzzedDecoder(name: "spawner-reply", longest: 40) { bytes in
      let flaw = fuzz_spawner_reply(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
      expect(flaw == nil, flaw.map { String(cString: $0) } ?? "")
    },
  ]
}
