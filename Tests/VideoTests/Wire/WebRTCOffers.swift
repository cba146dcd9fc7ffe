/// Offers of WebRTC for tests, as browsers make them.
enum WebRTCOffers {
  /// What Chromium offers of a video that it receives: the same codec in several profiles and ways to pack it, and a candidate whose
  /// address it hides behind a name.
  static let chromium = text([
    "v=0", "o=- 5662809416753834892 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0", "a=extmap-allow-mixed",
    "a=msid-semantic: WMS", "m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103 104 107 108 109 39", "c=IN IP4 0.0.0.0",
    "a=rtcp:9 IN IP4 0.0.0.0",
    "a=candidate:1847848782 1 udp 2113937151 2fb76cf7-15ae-43db-a895-b9b0066c5ed4.local 59258 typ host generation 0",
    "a=ice-ufrag:/nbA", "a=ice-pwd:QdotsdsDSLhUVYZ+Fqh8gZM2", "a=ice-options:trickle",
    "a=fingerprint:sha-256 99:5A:67:DC:3F:15:16:87:3D:80:B9:FA:B7:18:4A:FA:92:A1:71:8E:03:0E:8F:97:EC:64:9F:81:E0:3B:0D:C0",
    "a=setup:actpass", "a=mid:0", "a=recvonly", "a=rtcp-mux", "a=rtcp-rsize", "a=rtpmap:96 VP8/90000",
    "a=rtcp-fb:96 nack", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96", "a=rtpmap:102 H264/90000", "a=rtcp-fb:102 nack",
    "a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f", "a=rtpmap:103 rtx/90000",
    "a=fmtp:103 apt=102", "a=rtpmap:104 H264/90000",
    "a=fmtp:104 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f", "a=rtpmap:107 rtx/90000",
    "a=fmtp:107 apt=104", "a=rtpmap:108 H264/90000", "a=rtcp-fb:108 nack", "a=rtcp-fb:108 nack pli",
    "a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f", "a=rtpmap:109 rtx/90000",
    "a=fmtp:109 apt=108", "a=rtpmap:39 H264/90000",
    "a=fmtp:39 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d001f",
  ])

  /// Returns a description with this end of its lines.
  static func text(_ lines: [String], end: String = "\r\n") -> String { lines.map { $0 + end }.joined() }
}
