/// What an app's library reads that any host of the network may send.
extension FuzzedDecoder {
  static let client = [
    FuzzedDecoder(name: "dns-message", longest: 1_024) { bytes in
      guard let message = try? DNSMessage.decode(Array(bytes)) else { return }
      expect(message.records.count <= DNSMessage.mostRecords, "\(message.records.count) records")
      var answers = ServiceAnswers(DNSName(["_tactus", "_tcp", "local"]))
      for round in 1...2 { answers.hear(message, in: round) }
      expect(answers.questions.count <= ServiceAnswers.mostQuestions, "\(answers.questions)")
      for name in message.records.map(\.name) + answers.questions.map(\.name) {
        expect(name.bytes.count <= DNSName.longestBytes, "\(name)")
        expect(name.labels.allSatisfy { (1...63).contains($0.count) }, "\(name)")
      }
      let services = answers.services
      expect(services.count <= ServiceAnswers.mostInstances, "\(services.count) services")
      for service in services {
        expect(service.port > 0 && !service.host.isEmpty && !service.addresses.isEmpty, "\(service)")
        expect(service.addresses.count <= ServiceAnswers.mostAddresses, "\(service)")
        expect(service.addresses.allSatisfy { $0.count == 4 || $0.count == 16 }, "\(service)")
        expect(service.texts.count <= ServiceAnswers.mostTexts, "\(service)")
      }
      answers.forget(before: 3)
      expect(answers.services.isEmpty && answers.questions.count == 1, "\(answers)")
    }
  ]
}
