import TestSupport
import Testing
import Video

@Suite("offers of WebRTC", .ownThread)
struct WebRTCOfferTests {
  private func offer(_ text: String) throws(WebRTCOfferError) -> WebRTCOffer {
    try WebRTCOffer.decode(Array(text.utf8))
  }

  /// The offer of Chromium with some of its lines changed.
  private func changed(_ changes: [(String, String)]) -> String {
    changes.reduce(WebRTCOffers.chromium) { $0.replacing($1.0, with: $1.1) }
  }

  @Test("Chromium's: the constrained baseline that may be packed in parts; no candidate is kept, everything else is")
  func chromium() throws {
    let offer = try offer(WebRTCOffers.chromium)
    #expect(offer.payloadType == 108)
    let lines = WebRTCOffers.chromium.split(separator: "\r\n").filter { !$0.hasPrefix("a=candidate:") }
    #expect(offer.text == WebRTCOffers.text(lines.map(String.init)))
    #expect(try WebRTCOffer.decode(Array(offer.text.utf8)) == offer)
  }

  @Test("lines ended by LF alone, an end of candidates, an empty line: the same offer")
  func lineEnds() throws {
    let text = WebRTCOffers.chromium.replacing("\r\n", with: "\n") + "a=end-of-candidates\n\n"
    #expect(try offer(text) == offer(WebRTCOffers.chromium))
  }

  @Test("no constrained baseline: the baseline; no profile at all: that is the baseline, too")
  func profiles() throws {
    #expect(try offer(changed([("42e01f", "640c1f")])).payloadType == 102)
    #expect(try offer(changed([(";profile-level-id=42001f", ""), ("42e01f", "640c1f")])).payloadType == 102)
    #expect(try offer(changed([("profile-level-id=42e01f", "profile-level-id=42E01F")])).payloadType == 108)
  }

  @Test(
    "H.264 of another profile, in whole units only, below 96, or none: refused as no H.264",
    arguments: [
      [("=42", "=64")], [("packetization-mode=1", "packetization-mode=0")], [("102", "50"), ("108", "51")],
      [("H264", "H265")], [("H264/90000", "H264/48000")], [("SAVPF 96 97 102 103 104 107 108", "SAVPF 96 97")],
      [("a=fmtp:102", "a=fmtp:x"), ("a=fmtp:108", "a=fmtp:300")],
    ])
  func noH264(changes: [(String, String)]) {
    #expect(throws: WebRTCOfferError.noH264) { try offer(changed(changes)) }
  }

  @Test("who does not receive, or receives two videos: refused with how many there are")
  func directions() throws {
    for word in ["sendonly", "inactive"] {
      #expect(throws: WebRTCOfferError.videoSections(0)) { try offer(changed([("a=recvonly", "a=\(word)")])) }
    }
    #expect(throws: WebRTCOfferError.videoSections(0)) { try offer(changed([("m=video", "m=audio")])) }
    let second = WebRTCOffers.chromium[WebRTCOffers.chromium.firstRange(of: "m=video")!.lowerBound...]
    #expect(throws: WebRTCOfferError.videoSections(2)) { try offer(WebRTCOffers.chromium + second) }
    #expect(try offer(changed([("a=recvonly\r\n", "")])).payloadType == 108)
    let ofAll = changed([("a=recvonly\r\n", ""), ("t=0 0\r\n", "t=0 0\r\na=inactive\r\n")])
    #expect(throws: WebRTCOfferError.videoSections(0)) { try offer(ofAll) }
  }

  @Test(
    "what ICE and DTLS need is missing: named; in the session's part it is there",
    arguments: [
      "ice-ufrag", "ice-pwd", "fingerprint",
    ])
  func credentials(name: String) throws {
    let line = try #require(WebRTCOffers.chromium.split(separator: "\r\n").first { $0.hasPrefix("a=\(name):") })
    let without = changed([("\(line)\r\n", "")])
    #expect(throws: WebRTCOfferError.missing(name)) { try offer(without) }
    #expect(throws: WebRTCOfferError.missing(name)) { try offer(changed([("\(line)", "a=\(name):")])) }
    #expect(try offer(without.replacing("t=0 0", with: "t=0 0\r\n\(line)")).payloadType == 108)
  }

  @Test("no description, control characters, another version: which line, and what was expected")
  func malformed() throws {
    for (text, line) in [
      ("", 1), ("hello", 1), ("o=-\r\n", 1), ("v=1\r\n", 1), ("v=0\r\nm\r\n", 2), ("v=0\r\nA=b\r\n", 2),
      ("v=0\r\ns=\u{0}\r\n", 2), ("v=0\r\ns=a\rb\r\n", 2), ("v=0\r\na=\u{7F}\r\n", 2),
    ] {
      let error = #expect(throws: WebRTCOfferError.self) { try offer(text) }
      guard case .malformed(line, _) = error else {
        Issue.record("\(text.debugDescription): \(String(describing: error))")
        continue
      }
    }
    #expect(throws: WebRTCOfferError.malformed(line: 2, "a letter, =, and text")) {
      try WebRTCOffer.decode(Array("v=0\ns=".utf8) + [0xFF, 0x0A])
    }
    let error = WebRTCOfferError.malformed(line: 2, "a letter, =, and text")
    #expect("\(error)" == "line 2 of the offer: expected a letter, =, and text")
  }

  @Test("the longest offer, and the most media: taken; one more: an error")
  func limits() throws {
    let rest = WebRTCOffer.limit - WebRTCOffers.chromium.utf8.count
    let long = WebRTCOffers.chromium + "a=x:" + String(repeating: "y", count: rest - 6) + "\r\n"
    #expect(try offer(long).payloadType == 108)
    #expect(throws: WebRTCOfferError.tooLong(WebRTCOffer.limit + 1)) { try offer(long + "\n") }
    let audio = String(repeating: "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n", count: WebRTCOffer.sectionLimit - 1)
    #expect(try offer(WebRTCOffers.chromium + audio).payloadType == 108)
    #expect(throws: WebRTCOfferError.self) { try offer(WebRTCOffers.chromium + audio + "m=audio 9 X 1\r\n") }
  }
}
