@_spi(FromOutside) import Conversions

/// The offer of a viewer who wants to receive the video by WebRTC: a session description (RFC 8866), checked and without its candidates.
///
/// Candidates are left out because this side never contacts an address that an offer names: a viewer's checks come to the candidates of
/// the answer. Whoever may look can therefore not make the program send datagrams to others.
public struct WebRTCOffer: Sendable, Hashable {
  /// The length limit of an offer in bytes, many times that of a browser's.
  public static let limit = 64 << 10
  /// The limit of media sections.
  public static let sectionLimit = 16

  /// The session description, with CRLF at the end of each line.
  public let text: String
  /// The RTP payload type of H.264 that the viewer offers, 96…127.
  public let payloadType: UInt8

  /// Reads an offer.
  public static func decode(_ bytes: [UInt8]) throws(WebRTCOfferError) -> WebRTCOffer { try WebRTCOffer(bytes) }

  private init(_ bytes: [UInt8]) throws(WebRTCOfferError) {
    guard bytes.count <= Self.limit else { throw .tooLong(bytes.count) }
    var kept: [String] = []
    var session = Section(media: [])
    var sections: [Section] = []
    for (index, line) in try Self.lines(bytes).enumerated() {
      let value = line.dropFirst(2)
      if index == 0, line != "v=0" { throw .malformed(line: 1, "v=0") }
      if line.hasPrefix("a=candidate:") || line == "a=end-of-candidates" { continue }
      kept.append(line)
      if line.hasPrefix("m=") {
        guard sections.count < Self.sectionLimit else { throw .malformed(line: index + 1, "at most 16 media") }
        sections.append(Section(media: value.split(separator: " ").map(String.init)))
      } else if line.hasPrefix("a=") {
        if sections.isEmpty { session.add(value) } else { sections[sections.count - 1].add(value) }
      }
    }
    guard !kept.isEmpty else { throw .malformed(line: 1, "v=0") }
    let video = sections.filter { $0.media.first == "video" && ($0.isReceiving ?? session.isReceiving ?? true) }
    guard video.count == 1, let wanted = video.first else { throw .videoSections(video.count) }
    for name in ["ice-ufrag", "ice-pwd", "fingerprint"] {
      guard wanted.has(name) || session.has(name) else { throw .missing(name) }
    }
    guard let payloadType = wanted.payloadType else { throw .noH264 }
    self.payloadType = payloadType
    text = kept.map { $0 + "\r\n" }.joined()
  }

  /// Splits a description into its lines: `x=value` in printable characters, each ended by CRLF or LF.
  private static func lines(_ bytes: [UInt8]) throws(WebRTCOfferError) -> [String] {
    var lines: [String] = []
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      let line = line.last == 0x0D ? line.dropLast() : line
      if line.isEmpty { continue }
      let isText = line.allSatisfy { 0x20 <= $0 && $0 != 0x7F || $0 == 0x09 }
      let start = Array(line.prefix(2))
      guard isText, start.count == 2, (0x61...0x7A).contains(start[0]), start[1] == 0x3D,
        let text = String(validating: line, as: UTF8.self)
      else { throw .malformed(line: lines.count + 1, "a letter, =, and text") }
      lines.append(text)
    }
    return lines
  }

  /// The contents of one media section, or the contents that all sections have in common.
  private struct Section {
    /// The words of the section's line `m=`, which names the media.
    let media: [String]
    var names: Set<String> = []
    /// Whether the viewer receives, or `nil` if the section does not state a direction.
    var isReceiving: Bool?
    /// The payload types that are H.264 at 90 kHz.
    var h264: Set<UInt8> = []
    /// The parameters by payload type.
    var parameters: [UInt8: String] = [:]

    func has(_ name: String) -> Bool { names.contains(name) }

    mutating func add(_ attribute: Substring) {
      let name = attribute.prefix { $0 != ":" }
      let value = attribute.dropFirst(name.count + 1)
      switch name {
      case "recvonly", "sendrecv": isReceiving = true
      case "sendonly", "inactive": isReceiving = false
      case "rtpmap", "fmtp":
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let type = UInt8(words[0]), type <= 127 else { return }
        if name == "fmtp" {
          parameters[type] = words[1].lowercased()
        } else if words[1].lowercased() == "h264/90000" {
          h264.insert(type)
        }
      default: if !value.isEmpty { names.insert(String(name)) }
      }
    }

    /// The first payload type that means H.264 of the baseline profile in packets of which one may be a part of a unit, as the encoder and
    /// the payloader make it; a constrained profile is preferred. `nil` if there is none.
    var payloadType: UInt8? {
      let types = media.dropFirst(3).compactMap { UInt8($0) }.filter { (96...127).contains($0) && h264.contains($0) }
      let fitting = types.filter { value("packetization-mode", of: $0) == "1" && profile(of: $0).hasPrefix("42") }
      return fitting.first { profile(of: $0).hasPrefix("42e0") } ?? fitting.first
    }

    private func profile(of type: UInt8) -> String { value("profile-level-id", of: type) ?? "42000a" }

    private func value(_ name: String, of type: UInt8) -> String? {
      for parameter in (parameters[type] ?? "").split(separator: ";") {
        let parts = parameter.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
        if parts.count == 2, parts[0] == name { return String(parts[1].prefix { $0 != " " }) }
      }
      return nil
    }
  }
}

/// The reason why an offer cannot be answered.
public enum WebRTCOfferError: Error, Sendable, Hashable {
  case tooLong(Int)
  /// This line of the description is not what was expected.
  case malformed(line: Int, String)
  /// The offer has this many sections of video that the viewer receives, where there must be one.
  case videoSections(Int)
  /// The video's section and the session lack this attribute.
  case missing(String)
  case noH264
}

extension WebRTCOfferError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLong(let count): "expected an offer of at most \(WebRTCOffer.limit) bytes, got \(count)"
    case .malformed(let line, let expected): "line \(line) of the offer: expected \(expected)"
    case .videoSections(let count):
      "expected an offer with one m=video that is recvonly or sendrecv, got \(count == 0 ? "none" : "\(count)")"
    case .missing(let name): "expected an offer with a=\(name) for its video, got none"
    case .noH264:
      "expected an offer of H264/90000 with packetization-mode=1, profile-level-id=42… and a payload type of 96…127, "
        + "got none"
    }
  }
}
